"""The command `pitflip verify`."""

import argparse
import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import CACHE, CLUSTER, MOVED_EXPERIMENT, RUN
from arena.config.run_options import available_cores, open_game_cache, with_cluster
from arena.playing.options import PlayOptions
from games.base.cli import shell_command
from games.base.errors import CHECK_FAILED, OK, UserError, print_error, printable
from games.base.progress import ProgressLine

if TYPE_CHECKING:
    from arena.analysis.verification import VerifyResult

PARENTS = (RUN, MOVED_EXPERIMENT, CLUSTER, CACHE)
MOST_NAMED = 10  # changed files
EPILOG = """\
The files of the run are compared with its SHA256SUMS.
Games are played again from their seeds; moves and results must be the same.
Games in the game cache are played again, too, and compared.
exit status: 0 all the same; 1 a difference; 2 nothing to verify; 3 not
finished

examples:
  pitflip verify results/smart_vs_bad/1a2b3c --all
  pitflip verify results/class/2f3de8a327 --rules-only"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "--rules-only",
        action="store_true",
        help="only check stored moves and results by the rules, without any bot",
    )
    parser.add_argument(
        "--except",
        action="append",
        default=[],
        metavar="BOT",
        dest="without",
        help="leave out the games of this bot; may be repeated",
    )
    parser.add_argument("--all", action="store_true", help="verify all games instead of 200 pairs")


def run(arguments: argparse.Namespace) -> int:
    """Replay, compare and print; the status says whether all games are the same."""
    from arena.analysis.verification import compare_files, replay_run, verify_run

    directory, beside = arguments.run, arguments.experiment
    with contextlib.ExitStack() as stack:
        line = stack.enter_context(ProgressLine())
        if arguments.rules_only and arguments.without:
            raise UserError("--rules-only starts no bot: leave out --except")
        if arguments.rules_only:
            result = compare_files(directory, lambda: replay_run(directory, beside, line.show))
        else:
            if known := open_game_cache(arguments.cache):
                stack.callback(known.close)
            playing = PlayOptions(available_cores(), arguments.interrupts, cache=known)
            options = stack.enter_context(with_cluster(playing, arguments.cluster))
            result = compare_files(
                directory,
                lambda: verify_run(
                    directory, arguments.all, beside, options, line.show, arguments.without
                ),
            )
    if result.page_is_stale:
        rewrite_page(directory, not result.changed)
    arguments.interrupts.finish()
    for note in result.notes:
        print_error(note)
    if result.repeatability is not None and result.repeatability.answer != "yes":
        print_error(f"can be repeated: {result.repeatability.text}")
    for bot in result.bot_lines():
        print_error(printable(bot))
    print_differences(result, directory)
    if result.difference or result.changed:
        return CHECK_FAILED
    again = "replayed by the rules: all legal, all scored right"
    print(
        f"{result.games:,} games {again if arguments.rules_only else 'played again: all the same'}"
    )
    return OK


def print_differences(result: "VerifyResult", directory: Path) -> None:
    """Print which games and files differ."""
    if result.difference:
        print(f"differs: {result.difference.text}")
        if found := result.difference.games:
            print(f"{found:,} game{' differs' if found == 1 else 's differ'}")
        if result.difference.row is not None and result.keeps_moves:
            place = shlex.quote(f"{directory}#{result.difference.row}")
            print(f"to see it: {shell_command(f'pitflip game {place} explain')}")
    for name in result.changed[:MOST_NAMED]:
        what = "has changed" if (directory / name).exists() else "is missing"
        print(f"differs: {printable(name)} {what} since the run (SHA256SUMS)")
    if len(result.changed) > MOST_NAMED:
        print(f"... and {len(result.changed) - MOST_NAMED:,} more files")


def rewrite_page(directory: Path, were_unchanged: bool) -> None:
    """Write the page of a run again, if it has one, because run.json has changed.

    Their checksums are renewed if all files `were_unchanged` before.
    """
    from arena.report.data import load_report
    from arena.report.page import PAGE, write_page
    from arena.storage.provenance import RUN
    from arena.storage.run_file import renew_checksums

    if (directory / PAGE).exists():
        write_page(load_report(directory), directory / PAGE)
    if were_unchanged:
        renew_checksums(directory, {RUN, PAGE})
