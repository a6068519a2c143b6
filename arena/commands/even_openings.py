"""Find openings that are even: pitflip even_openings "kalah(6,4)" even.csv."""

import argparse
import sys
from pathlib import Path

from games import game
from games.base.cli import CommandParser, here
from games.base.errors import DONE, say, status_of
from games.base.text import whole

PLIES, COUNTS, BEANS, WITHIN, LEFT = (
    range(1, 61),
    range(1, 1_000_001),
    range(31),
    range(49),
    range(1025),
)
EXAMPLE = """\
example:
  pitflip even_openings "kalah(4,3)" even.csv --plies 3 --count 20"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=here("pitflip even_openings"),
        description="Draw random openings, solve them, and keep those whose exact margin is near "
        "0: lines of moves and margin, that of side 0.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("game", help='such as "kalah(6,4)"')
    parser.add_argument("file", type=Path, help="the CSV file to write")
    parser.add_argument("--plies", default="6", metavar="N", help="random moves (6)")
    parser.add_argument("--count", default="1000", metavar="N", help="how many to find (1000)")
    parser.add_argument("--within", default="2", metavar="N", help="the largest margin (2)")
    parser.add_argument("--seed", default="1", metavar="N", help="of the random moves (1)")
    parser.add_argument(
        "--most-beans", metavar="N", help="solve none with more beans in play, or empty squares"
    )
    parser.add_argument(
        "--database-beans", metavar="N", help="beans of the endgame database (as many as pay)"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip even_openings", lambda: found(chosen))


def found(chosen: argparse.Namespace) -> int:
    """Draw, solve and write; the exit status."""
    # After --help, which needs none of it.
    from arena.concluding.even_lines import EvenLines, even_lines, written  # noqa: PLC0415

    name = "pitflip even_openings"
    asked = EvenLines(
        game(chosen.game),
        whole(name, "--plies", chosen.plies, PLIES),
        whole(name, "--within", chosen.within, WITHIN),
        whole(name, "--seed", chosen.seed, range(1 << 53)),
        chosen.most_beans and whole(name, "--most-beans", chosen.most_beans, LEFT),
        chosen.database_beans and whole(name, "--database-beans", chosen.database_beans, BEANS),
    )
    lines: list[tuple[str, int]] = []
    count = whole(name, "--count", chosen.count, COUNTS)
    for more in even_lines(asked, say):
        lines = [*lines, *more][:count]
        say(f"{len(lines):,} of {count:,} found")
        written(chosen.file, lines)
        if len(lines) == count:
            break
    return DONE


if __name__ == "__main__":
    sys.exit(main())
