"""List, follow, compare and delete runs."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.config.command_line import RESULTS
from games.base.cli import CommandParser, shell_command
from games.base.errors import (
    CHECK_FAILED,
    OK,
    UserError,
    print_lines,
    print_safely,
    printable,
    run,
    status_of,
)
from games.base.text import listed, parse_whole_number

if TYPE_CHECKING:
    from arena.storage.results import RunInfo

if TYPE_CHECKING:  # it loads numpy
    from arena.storage.results import RunInfo

PRUNE_WARNING = "verdicts on larger runs will not know that these looked at the same games before"
MOST_REASON = 100  # characters of why a run failed
KEEP_RANGE = range(1_000_001)
EXAMPLE = """\
examples:
  pitflip runs list
  pitflip runs diff 6917adfa1c f4f28690c6
  pitflip runs prune --keep 3
exit status: 0 done (diff: nothing differs), 1 the runs differ, 2 there is no such run"""


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip runs"),
        description="Lists what lies in results/, compares two runs in words, deletes old ones.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="not results/, but DIR"
    )
    commands = parser.add_subparsers(dest="command", metavar="list|diff|prune")
    commands.add_parser("list", help="all runs and studies, the latest of each experiment first")
    diff = commands.add_parser("diff", help="what differs between two runs: files, keys, versions")
    for name in ("one", "other"):
        diff.add_argument(
            name, metavar="RUN", help="its directory, or the first letters of its name"
        )
    prune = commands.add_parser("prune", help="delete old runs, after saying which")
    prune.add_argument("run", nargs="*", metavar="RUN", help="these; none: all but the latest")
    prune.add_argument("--keep", default="3", metavar="N", help="the latest N an experiment (3)")
    prune.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command."""
    chosen = arguments().parse_args(words)
    work = {"diff": compared, "prune": prune_runs}.get(chosen.command, listing)
    return status_of("pitflip runs", lambda: work(chosen))


def listing(chosen: argparse.Namespace) -> int:
    """Print all runs."""
    from arena.storage.results import stored_runs  # noqa: PLC0415  # after --help

    runs = list(stored_runs(chosen.results))
    if not runs:
        raise UserError(
            f"{printable(str(chosen.results))} holds no runs (--results DIR names another)"
        )
    lines = list(run_lines(runs))
    print_safely(lambda: print_lines(*lines))
    return OK


def run_lines(runs: "Sequence[RunInfo]") -> Iterator[str]:
    """A line for each run, and the sum."""
    names = [printable(each.name) for each in runs]
    width = max(map(len, names))
    for name, each in zip(names, runs, strict=True):
        games = "" if each.games is None else f"{each.games:,} games"
        day = printable(each.begun)[:16].replace("T", " ")
        reason = f"  {printable(each.reason.splitlines()[0], MOST_REASON)}" if each.reason else ""
        sizes = f"{games:>16}  {size_text(each.size):>8}"
        yield f"{name:<{width}}  {day:<16}  {each.state:<8}  {sizes}{reason}"
    yield f"{len(runs):,} runs, {size_text(sum(each.size for each in runs))}"


def size_text(size: int) -> str:
    """Bytes in the unit that people use."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def compared(chosen: argparse.Namespace) -> int:
    """Print what differs between two runs; 1 if something does."""
    from arena.storage.run_differences import run_differences  # noqa: PLC0415  # after --help

    one, other = (run_of(each, chosen.results) for each in (chosen.one, chosen.other))
    lines = list(run_differences(one, other))
    text = "\n".join(map(printable, lines)) if lines else "nothing differs"
    print_safely(lambda: print(text))
    return CHECK_FAILED if lines else OK


def run_of(name: str, results: Path) -> Path:
    """The directory of a run by its path or by the first letters of its name."""
    from arena.storage.git import VersionError  # noqa: PLC0415  # after --help
    from arena.storage.versions import run_named  # noqa: PLC0415

    try:
        return run_named(name.rstrip("/"), (results,))
    except VersionError as error:
        raise UserError(str(error)) from None


def prune_runs(chosen: argparse.Namespace) -> int:
    """Say which runs would go, and delete them if that is wanted."""
    from arena.analysis.summary_file import load_checks  # noqa: PLC0415  # after --help
    from arena.storage.results import delete_run, foreign_files, is_run_directory  # noqa: PLC0415  # as above

    doomed: list[RunInfo] = []
    kept: list[str] = []
    for each in selected_runs(chosen):
        if strange := foreign_files(each.directory):
            kept.append(f"{each.name} stays: {listed(strange)} in it is not ours")
        elif each.state == "running":
            kept.append(f"{each.name} stays: it runs")
        else:
            doomed.append(each)
    lines = [*kept, *(run_lines(doomed) if doomed else ["there is nothing to delete"])]
    if any(load_checks(each.directory) for each in doomed):
        lines.append(PRUNE_WARNING)
    print_safely(lambda: print_lines(*lines))
    if not doomed or not (chosen.yes or confirm()):
        return OK
    for each in doomed:
        if is_run_directory(each.directory):
            delete_run(each.directory)
    print_safely(lambda: print("deleted"))
    return OK


def selected_runs(chosen: argparse.Namespace) -> "list[RunInfo]":
    """The runs that were named, else all but the latest of each experiment."""
    from arena.storage.results import is_run_directory, run_info, stored_runs  # noqa: PLC0415  # as above

    if chosen.run:
        directories = [run_of(each, chosen.results) for each in chosen.run]
        for each in directories:
            if not is_run_directory(each):
                raise UserError(
                    f"{printable(str(each))} is not a run's directory, or a link to one"
                )
        return [run_info(each) for each in dict.fromkeys(directories)]
    keep = parse_whole_number("pitflip runs prune", "--keep", chosen.keep, KEEP_RANGE)
    seen, found = dict[Path, int](), []
    for info in stored_runs(chosen.results):
        parent = info.directory.parent
        seen[parent] = seen.get(parent, 0) + 1
        if seen[parent] > keep:
            found.append(info)
    return found


def confirm() -> bool:
    """Whether somebody at the terminal agrees."""
    if not sys.stdin.isatty():
        print("nothing was deleted: --yes deletes them")
        return False
    return input("delete these? [y/N] ").strip().lower() in ("y", "yes")


if __name__ == "__main__":
    run(main)
