"""Show and compare files of learned weights: pitflip weights show weights.npz."""

import argparse
import sys
from pathlib import Path

from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, print_safely, status_of

EXAMPLE = """\
example:
  pitflip weights show results/learn_kalah/<run>/weights.npz
exit status: 0 done, 2 a file cannot be used"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip weights"),
        description="What weights learned from games say, and how two files differ.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    several = parser.add_subparsers(dest="what", required=True, metavar="show|compare")
    show = several.add_parser("show", help="draw the tables: holes as rows, patterns as boards")
    show.add_argument("file", type=Path)
    compare = several.add_parser("compare", help="where two files differ most")
    compare.add_argument("file", type=Path)
    compare.add_argument("other", type=Path)
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip weights", lambda: answer(chosen))


def answer(chosen: argparse.Namespace) -> int:
    """Show or compare; the exit status."""
    # After --help, which needs none of it.
    from arena.learning.weights_text import comparison_lines, weights_lines  # noqa: PLC0415

    showing = chosen.what == "show"
    lines = weights_lines(chosen.file) if showing else comparison_lines(chosen.file, chosen.other)
    text = "\n".join(lines)
    print_safely(lambda: print(text))
    return OK


if __name__ == "__main__":
    sys.exit(main())
