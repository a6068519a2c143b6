"""Replay a run and compare."""

import argparse
import contextlib
import shlex
import sys
from pathlib import Path

from arena.config.command_line import available_cores, open_game_cache, with_cluster
from arena.config.user_settings import is_address
from arena.playing.options import Interrupts
from games.base.cli import CommandParser, shell_command
from games.base.errors import CHECK_FAILED, OK, print_error, status_of
from games.base.progress import ProgressLine


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip verify"),
        description="Replay stored games from their seeds; moves and results must be the same.",
        epilog="exit status: 0 all the same, 1 a difference, 2 nothing to verify, 3 not finished",
    )
    parser.add_argument("run", type=Path, help="a run's directory")
    parser.add_argument(
        "--replay", action="store_true", help="only replay all games by the rules; starts no bot"
    )
    parser.add_argument("--all", action="store_true", help="all games, not only 200 pairings")
    parser.add_argument(
        "--experiment", type=Path, metavar="FILE", help="its file, to find bots that were moved"
    )
    parser.add_argument(
        "--on", type=is_address, metavar="ADDRESS", help="play on a Dask cluster, as arena.run"
    )
    parser.add_argument(
        "--known", metavar="DIR", help="the games known from earlier runs, compared too; off: not"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status is the verdict."""
    chosen, interrupts = arguments().parse_args(words), Interrupts()
    with interrupts.installed():
        return status_of("pitflip verify", lambda: verified(chosen, interrupts))


def verified(chosen: argparse.Namespace, interrupts: Interrupts) -> int:
    """Replay, compare and print; the exit status."""
    # After --help, which needs none of it.
    from arena.analysis.verification import replay_run, verify_run  # noqa: PLC0415
    from arena.playing.options import PlayOptions  # noqa: PLC0415

    with contextlib.ExitStack() as stack:
        line = stack.enter_context(ProgressLine())
        if chosen.replay:
            result = replay_run(chosen.run, chosen.experiment, line.show)
        else:
            if known := open_game_cache(chosen.known):
                stack.callback(known.close)
            playing = PlayOptions(available_cores(), interrupts, known=known)
            options = stack.enter_context(with_cluster(playing, chosen.on))
            result = verify_run(chosen.run, chosen.all, chosen.experiment, options, line.show)
    interrupts.finish()
    for note in result.notes:
        print_error(note)
    if result.again is not None and result.again.answer != "yes":
        print_error(f"can be repeated: {result.again.words}")
    if result.difference:
        print(f"differs: {result.difference.words}")
        if found := result.difference.games:
            print(f"{found:,} game{' differs' if found == 1 else 's differ'}")
        if result.difference.row is not None and result.keeps_moves:
            place = shlex.quote(f"{chosen.run}#{result.difference.row}")
            print(f"to see it: {shell_command(f'pitflip explain {place}')}")
        return CHECK_FAILED
    again = "replayed by the rules: all legal, all scored right"
    print(f"{result.games:,} games {again if chosen.replay else 'played again: all the same'}")
    return OK


if __name__ == "__main__":
    sys.exit(main())
