"""The command `pitflip runs`."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import RESULTS_DIRECTORY, whole_number
from games.base.cli import CommandParser
from games.base.errors import (
    CHECK_FAILED,
    OK,
    UNFINISHED,
    UserError,
    print_lines,
    print_safely,
    printable,
)
from games.base.text import join_names

if TYPE_CHECKING:
    from arena.storage.results import RunInfo

PARENTS = (RESULTS_DIRECTORY,)
PRUNE_WARNING = "later checks can no longer take into account that these runs tested the same games"
MAX_NOTE = 100  # characters
KEEP = 3
FOLLOW_SECONDS = 0.5  # between two looks
EPILOG = """\
RUN is the directory of a run or study, or the first characters of its name.
exit status: 0 done (diff: nothing differs); 1 diff: the runs differ; 2 there is
no such run; 3 show --follow: the run stopped before its end

examples:
  pitflip runs list
  pitflip runs show 6917adfa1c --follow
  pitflip runs diff 6917adfa1c f4f28690c6
  pitflip runs prune --keep 3"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(
        dest="command", metavar="list|show|diff|prune", parser_class=CommandParser
    )

    def add(name: str, summary: str) -> CommandParser:
        command = commands.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        # A default here would replace a --results in front of the subcommand.
        command.add_argument(
            "--results", type=Path, default=argparse.SUPPRESS, metavar="DIR",
            help="directory of the runs (default: results)",
        )  # fmt: skip
        return command

    add("list", "list all runs and studies (default)")
    show = add("show", "print the state of a run, or follow it to its end")
    show.add_argument("run", metavar="RUN", help="a run or study")
    show.add_argument("--follow", action="store_true", help="wait until the run ends")
    diff = add("diff", "list the differences between two runs: files, keys, versions")
    diff.add_argument("run", metavar="RUN", help="a run")
    diff.add_argument("other", metavar="OTHER", help="the run to compare it with")
    prune = add("prune", "list old runs and delete them if you agree")
    prune.add_argument(
        "run", nargs="*", metavar="RUN", help="delete these runs instead of old ones"
    )
    prune.add_argument(
        "--keep",
        type=whole_number(0, 1_000_000),
        default=KEEP,
        metavar="N",
        help=f"keep the latest N runs of each experiment (default: {KEEP})",
    )
    prune.add_argument("--yes", action="store_true", help="delete without asking")


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand."""
    actions = {"show": show_run, "diff": compare_runs, "prune": prune_runs}
    return actions.get(arguments.command, list_runs)(arguments)


def list_runs(arguments: argparse.Namespace) -> int:
    """Print all runs."""
    from arena.storage.results import iter_runs

    runs = list(iter_runs(arguments.results))
    if not runs:
        place = printable(str(arguments.results))
        raise UserError(f"there are no runs in {place}: name another directory with --results DIR")
    lines = list(run_lines(runs))
    print_safely(lambda: print_lines(*lines))
    return OK


def run_lines(runs: "Sequence[RunInfo]") -> Iterator[str]:
    """Yield a line for each run, and the total."""
    from arena.storage.results import progress_lines

    names = [printable(each.name) for each in runs]
    width = max(map(len, names))
    for name, each in zip(names, runs, strict=True):
        games = "" if each.games is None else f"{each.games:,} games"
        day = printable(each.begun)[:16].replace("T", " ")
        notes = each.reason.splitlines()
        if each.state == "running":
            notes = progress_lines(each.directory)
        note = f"  {printable(notes[0], MAX_NOTE)}" if notes else ""
        sizes = f"{games:>16}  {size_text(each.size):>8}"
        yield f"{name:<{width}}  {day:<16}  {each.state:<8}  {sizes}{note}"
    yield f"{len(runs):,} runs, {size_text(sum(each.size for each in runs))}"


def size_text(size: int) -> str:
    """Return a number of bytes with its unit."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def show_run(arguments: argparse.Namespace) -> int:
    """Print the state of a run; with --follow, wait for its end first."""
    from arena.storage.results import is_running
    from arena.storage.run_file import is_complete
    from arena.terminal.progress import StoredProgress, TerminalProgress

    directory = find_run(arguments.run, arguments.results)
    if not (directory / "run.json").exists() and not is_running(directory):
        raise UserError(f"{printable(str(directory))} is not a run's directory: it has no run.json")
    if arguments.follow:
        with TerminalProgress(quiet=False) as line:
            line.due = 0.0  # show the first lines at once
            while is_running(directory):
                line.show(StoredProgress(directory))
                time.sleep(FOLLOW_SECONDS)
    lines = state_lines(directory)
    print_safely(lambda: print_lines(*lines))
    return UNFINISHED if arguments.follow and not is_complete(directory) else OK


def state_lines(directory: Path) -> list[str]:
    """Return the state of a run: its checks and its page, or how to continue it."""
    from arena.analysis.summary_file import load_checks
    from arena.storage.provenance import load_run_file
    from arena.storage.results import is_running, progress_lines
    from arena.storage.run_file import is_complete

    stored = load_run_file(directory)
    if is_running(directory):
        return [f"{directory}: running", *progress_lines(directory)]
    if is_complete(directory):
        at = printable(str(stored.get("finished") or ""))
        lines = [f"{directory}: finished {at}".rstrip()]
        if stopped := stored.get("stopped"):
            lines.append(printable(f"the run {stopped}"))
        lines += [
            printable(f"{check['status'].upper()} {check['that']}: {check['detail']}")
            for check in load_checks(directory)
        ]
        page = directory / "report.html"
        return [*lines, f"page: {printable(str(page))}"] if page.exists() else lines
    path = printable(str(stored.get("path", "FILE")))
    if reason := stored.get("failed"):
        first, *more = map(printable, str(reason).splitlines())
        lines = [f"{directory}: failed: {first}", *(f"  {each}" for each in more)]
        return [*lines, f"the experiment: {path}"]
    again = f"the same command continues it (the experiment: {path})"
    return [f"{directory}: stopped; {again}", *progress_lines(directory)[:1]]


def compare_runs(arguments: argparse.Namespace) -> int:
    """Print the differences between two runs; the status is 1 if there are any."""
    from arena.storage.run_file import run_differences

    one, other = (find_run(each, arguments.results) for each in (arguments.run, arguments.other))
    lines = list(run_differences(one, other))
    text = "\n".join(map(printable, lines)) if lines else "nothing differs"
    print_safely(lambda: print(text))
    return CHECK_FAILED if lines else OK


def find_run(name: str, results: Path) -> Path:
    """Return the directory of a run by its path or by the first characters of its name."""
    from arena.storage.git import VersionError
    from arena.storage.versions import run_of_name

    try:
        return run_of_name(name.rstrip("/"), (results,))
    except VersionError as error:
        raise UserError(str(error)) from None


def prune_runs(arguments: argparse.Namespace) -> int:
    """Print the runs to delete, and delete them if the user agrees."""
    from arena.analysis.summary_file import load_checks
    from arena.storage.results import delete_run, foreign_files, is_run_directory

    chosen: list[RunInfo] = []
    kept: list[str] = []
    for each in runs_to_delete(arguments):
        if strange := foreign_files(each.directory):
            kept.append(f"{each.name} is kept: it contains other files ({join_names(strange)})")
        elif each.state == "running":
            kept.append(f"{each.name} is kept: it is running")
        else:
            chosen.append(each)
    lines = [*kept, *(run_lines(chosen) if chosen else ["there is nothing to delete"])]
    if any(load_checks(each.directory) for each in chosen):
        lines.append(PRUNE_WARNING)
    print_safely(lambda: print_lines(*lines))
    if not chosen or not (arguments.yes or ask_user()):
        return OK
    for each in chosen:
        if is_run_directory(each.directory):
            delete_run(each.directory)
    print_safely(lambda: print("deleted"))
    return OK


def runs_to_delete(arguments: argparse.Namespace) -> "list[RunInfo]":
    """Return the runs on the command line; without any, all but the latest of each experiment."""
    from arena.storage.results import is_run_directory, iter_runs, run_info

    if arguments.run:
        directories = [find_run(each, arguments.results) for each in arguments.run]
        for each in directories:
            if not is_run_directory(each):
                raise UserError(
                    f"{printable(str(each))} is not a run's directory, or a link to one"
                )
        return [run_info(each) for each in dict.fromkeys(directories)]
    seen, found = dict[Path, int](), []
    for info in iter_runs(arguments.results):
        parent = info.directory.parent
        seen[parent] = seen.get(parent, 0) + 1
        if seen[parent] > arguments.keep:
            found.append(info)
    return found


def ask_user() -> bool:
    """Return whether the user at the terminal agrees."""
    if not sys.stdin.isatty():
        print("nothing was deleted: --yes deletes these runs")
        return False
    return input("delete these runs? [y/N] ").strip().lower() in ("y", "yes")
