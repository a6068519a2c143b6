"""Follow a run from a second terminal: pitflip status [RUN]."""

import argparse
import time
from pathlib import Path

from arena.config.command_line import RESULTS
from games.base.cli import CommandParser, shell_command
from games.base.errors import OK, UserError, print_lines, print_safely, printable, run, status_of

UNFINISHED = 3
EVERY_SECONDS = 0.5
MOST_ENDED = 5


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog=shell_command("pitflip status"),
        description="Follow a run or a study until it ends; without RUN, list what runs now "
        "and what ran last. It only reads.",
        epilog="exit status: 0 the run is finished, 2 it is not a run, 3 it was stopped",
    )
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a run's directory")
    parser.add_argument("--once", action="store_true", help="print where it stands, do not wait")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="not results/, but DIR"
    )
    return parser


def main(words: list[str] | None = None) -> int:
    """Run the command; its exit status says how the run ended."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip status", lambda: show_run(chosen))


def show_run(chosen: argparse.Namespace) -> int:
    """Follow the run, or list the runs; the exit status."""
    # Only now, so that help is answered before anything large is loaded.
    from arena.storage.results import is_running  # noqa: PLC0415

    if chosen.run is None:
        return listing(chosen.results)
    if not (chosen.run / "run.json").exists() and not is_running(chosen.run):
        raise UserError(
            f"{printable(str(chosen.run))} is not a run's directory: it has no run.json"
        )
    return follow_run(chosen.run, chosen.once)


def follow_run(directory: Path, once: bool) -> int:
    """Show how the run comes along until it ends; the exit status."""
    from arena.storage.results import is_running  # noqa: PLC0415  # as above
    from arena.storage.run_file import is_finished  # noqa: PLC0415
    from arena.terminal.progress import StoredProgress, TerminalProgress  # noqa: PLC0415

    with TerminalProgress(quiet=False) as line:
        line.due = 0.0  # the first lines at once
        while not once and is_running(directory):
            line.show(StoredProgress(directory))
            time.sleep(EVERY_SECONDS)
    ended = state_lines(directory)
    print_safely(lambda: print_lines(*ended))
    return OK if once or is_finished(directory) else UNFINISHED


def state_lines(directory: Path) -> list[str]:
    """Where a run stands that is not followed: its checks, its page, or how it goes on."""
    from arena.storage.provenance import read_run  # noqa: PLC0415
    from arena.storage.results import is_running, read_progress  # noqa: PLC0415  # as above
    from arena.storage.run_file import is_finished  # noqa: PLC0415

    if is_running(directory):
        return [f"{directory}: running", *read_progress(directory)]
    if not is_finished(directory):
        stored = read_run(directory)
        path = printable(str(stored.get("path", "FILE")))
        if reason := stored.get("failed"):
            first, *more = map(printable, str(reason).splitlines())
            lines = [f"{directory}: failed: {first}", *(f"  {each}" for each in more)]
            return [*lines, f"the experiment: {path}"]
        again = f"its command continues it (the experiment: {path})"
        return [f"{directory}: stopped; {again}", *read_progress(directory)[:1]]
    at = printable(str(read_run(directory).get("finished") or ""))
    lines = [f"{directory}: finished {at}".rstrip(), *check_lines(directory)]
    page = directory / "report.html"
    return [*lines, f"page: {printable(str(page))}"] if page.exists() else lines


def check_lines(directory: Path) -> list[str]:
    """The verdicts of a finished run."""
    from arena.analysis.summary_file import load_checks  # noqa: PLC0415  # as above

    return [
        printable(f"{check['status'].upper()} {check['that']}: {check['detail']}")
        for check in load_checks(directory)
    ]


def listing(results: Path) -> int:
    """Print what runs now and what ran last."""
    from arena.storage.results import is_running, list_run_directories, read_progress  # noqa: PLC0415

    lines, ended = [], 0
    for directory in list_run_directories(results):
        if is_running(directory):
            lines.append(f"{directory}: running  {''.join(read_progress(directory)[:1])}".rstrip())
        elif ended < MOST_ENDED:
            ended += 1
            lines.append(state_lines(directory)[0])
    if not lines:
        raise UserError(f"{printable(str(results))} holds no runs (--results DIR names another)")
    print_safely(lambda: print_lines(*lines))
    return OK


if __name__ == "__main__":
    run(main)
