"""Is an extra turn always best? Counted: pitflip extra_turns "kalah(3,2)"."""

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path

from games import Game, Position, game
from games.base.cli import CommandParser, here
from games.base.errors import DONE, Mistake, status_of
from games.base.progress_line import ProgressLine
from games.base.text import whole

MOST_POSITIONS, LAST, GAMES = 2_000_000, range(1, 256), range(1, 1_000_000)
SPARSE = 16  # at least so many ways to lay the beans for each position that is reached
EXAMPLE = """\
examples:
  pitflip extra_turns "kalah(3,2)"
  pitflip extra_turns results/smart_vs_bad/1a2b3c --last-beans 24 --games 200"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=here("pitflip extra_turns"),
        description="How often the best extra turn is worth less than the best other move, under "
        "perfect play: over all positions of a small board, or those of a run's games.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", metavar="GAME|RUN", help="a sowing game, or a run's directory")
    parser.add_argument(
        "--last-beans", default="24", metavar="N", help="of a run: beans in play at most (24)"
    )
    parser.add_argument("--games", default="200", metavar="N", help="of a run: so many (200)")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip extra_turns", lambda: counted(chosen))


def counted(chosen: argparse.Namespace) -> int:
    """Count and print; the exit status."""
    # After --help, which needs none of it.
    from games.solving import solver_of  # noqa: PLC0415
    from games.solving.extra_turns import TooMany, extra_turns, reachable  # noqa: PLC0415

    if Path(chosen.what).is_dir():
        last = whole("pitflip extra_turns", "--last-beans", chosen.last_beans, LAST)
        games = whole("pitflip extra_turns", "--games", chosen.games, GAMES)
        of, positions, whose = of_run(Path(chosen.what), last, games)
    else:
        of = game(chosen.what)
        positions, whose = reachable(of, MOST_POSITIONS), "all positions"
    if of.pack != "sowing":
        raise Mistake(f"{of.name} has no extra turns")
    try:
        if whose == "all positions" and states(of) > SPARSE * MOST_POSITIONS:
            raise TooMany(f"{of.name} has more than {MOST_POSITIONS:,} positions")
        with ProgressLine() as line, line.watch(counting):
            found = extra_turns(solver_of(of, progress=line.say), positions)
    except TooMany as error:
        raise Mistake(f"{error}; name a run to look at the positions of its games") from None
    print(f"{of.name}, {whose}: {found.choices:,} with an extra turn and another move")
    for number, words in ((found.worse, "is worse"), (found.result_worse, "changes the result")):
        share = 100 * number / found.choices if found.choices else 0.0
        print(f"the best extra turn {words} in {number:,} of them, {share:.1f} %")
    return DONE


def counting(seconds: float) -> list[str]:
    """What the progress line shows."""
    return [f"looking at positions with an extra turn, {seconds:.0f} s"]


def states(of: Game) -> int:
    """How many ways there are to lay the beans into holes and pots."""
    places = 2 * of.rules.holes + 2
    return math.comb(2 * of.rules.holes * of.rules.beans + places - 1, places - 1)


def of_run(directory: Path, last: int, games: int) -> tuple[Game, Iterator[Position], str]:
    """The positions of the run's first games with few beans in play, each once."""
    from arena.analysis.move_losses.run_lines import judged_run  # noqa: PLC0415  # it loads pyarrow
    from games.solving.solution import still_open  # noqa: PLC0415

    run = judged_run(directory)
    of = run.of

    def positions() -> Iterator[Position]:
        seen: set[Position] = set()
        for line in run.lines[:games]:
            for position in of.replay(line):
                if (still_open(of, position) or 0) <= last and position not in seen:
                    seen.add(position)
                    yield position

    count = min(games, len(run.lines))
    return of, positions(), f"positions of {count:,} games with {last} beans in play at most"


if __name__ == "__main__":
    sys.exit(main())
