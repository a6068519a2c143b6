"""The table of fuzz targets, and the targets that read a finished run."""

import contextlib
import functools
import io
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

from arena.config.experiment import load_experiment
from arena.planning.schedule import Schedule, make_schedule
from arena.storage.journal import RunDirectory
from games.base.errors import OK, run_command
from tests.arena.running import run_experiment_file, small
from tests.commands import export, rate, report, runs, verify
from tools.fuzz.bot_targets import BOTS
from tools.fuzz.file_targets import FILES
from tools.fuzz.grammars import byte_mutations, text_mutations
from tools.fuzz.law import Target

Command = Callable[[list[str]], int]


@functools.cache
def finished_run() -> Path:
    """Return the directory of a small finished run, whose copies are damaged."""
    home = Path(tempfile.mkdtemp(prefix="pitflip-fuzzed-run-"))
    path = home / "demo.toml"
    path.write_text(small(4) + '[agents.greedy]\nkind = "greedy"\n')
    with contextlib.redirect_stdout(io.StringIO()):
        run_experiment_file(path, home / "results", 1)
    (journal,) = home.glob("results/*/*/journal.sqlite")
    with sqlite3.connect(journal) as base:
        base.execute("pragma wal_checkpoint(truncate)")
    return journal.parent


@functools.cache
def finished_run_schedule() -> Schedule:
    """Return the schedule of the finished run."""
    return make_schedule(load_experiment(finished_run().parents[2] / "demo.toml").plan)


def run_answer(name: str, *commands: Callable[[Path], int]) -> Callable[[bytes, Path], int]:
    """Return a function that replaces a file of the run and calls commands on it."""

    def answer(content: bytes, directory: Path) -> int:
        run = directory / "results" / "demo" / finished_run().name
        shutil.copytree(finished_run(), run)
        (run / name).write_bytes(content)
        return max(command(run) for command in commands)

    return answer


def command_on_run(main: Command, *words: str) -> Callable[[Path], int]:
    """Return a function that calls a command on a run, with more arguments."""
    return lambda run: main([str(run), *words])


def list_runs(run: Path) -> int:
    """List the runs of a directory that contains this run."""
    return runs(["--results", str(run.parents[1]), "list"])


def continue_run(run: Path) -> int:
    """Read the games of a journal as a continued run does."""

    def read() -> int:
        with RunDirectory(run, finished_run().name) as directory:
            section = directory.section()
            list(section.games(finished_run_schedule().pairs.columns))
            section.read_fact("fixed"), section.read_fact("unloadable")
        return OK

    return run_command("fuzz", read, "again")


def file_of_run(name: str) -> st.SearchStrategy[bytes]:
    """Return a strategy for damaged bytes of a file; the first example plays the run."""
    return st.deferred(lambda: byte_mutations((finished_run() / name).read_bytes()))


def text_of_run(name: str) -> st.SearchStrategy[bytes]:
    """Return a strategy for a text file of the run with misplaced words."""
    return st.deferred(lambda: text_mutations([(finished_run() / name).read_text()]))


VERIFY, REPORT = command_on_run(verify, "--rules-only"), command_on_run(report)
RATE = command_on_run(rate, "--bootstrap", "0")
EXPORT = command_on_run(export, "--games", "json", "--tables", "csv")
RUNS = {
    "table": Target(file_of_run("games.parquet"), run_answer("games.parquet", VERIFY, REPORT)),
    "table exported": Target(file_of_run("games.parquet"), run_answer("games.parquet", EXPORT)),
    "run": Target(text_of_run("run.json"), run_answer("run.json", VERIFY, REPORT)),
    "run exported": Target(text_of_run("run.json"), run_answer("run.json", EXPORT, RATE)),
    "summary": Target(text_of_run("summary.json"), run_answer("summary.json", REPORT, list_runs)),
    "journal": Target(file_of_run("journal.sqlite"), run_answer("journal.sqlite", continue_run)),
}
TARGETS = {**FILES, **RUNS, **BOTS}
