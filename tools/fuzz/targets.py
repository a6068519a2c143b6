"""What is fuzzed: each reader of ours with its inputs, answered as its command answers them."""

import contextlib
import functools
import io
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

import arena.commands.export
import arena.commands.rate
import arena.commands.report
import arena.commands.runs
import arena.commands.verify
from arena.config.experiment import load
from arena.planning.schedule import DrawnPlan, make_schedule
from arena.storage.journal import RunDirectory
from games.base.errors import OK, status_of
from tests.arena.running import played, small
from tools.fuzz.bot_targets import BOTS
from tools.fuzz.file_targets import FILES
from tools.fuzz.grammars import changed, damaged
from tools.fuzz.law import Target

Command = Callable[[list[str]], int]


@functools.cache
def finished_run() -> Path:
    """A small run that is finished; a copy of it is damaged."""
    home = Path(tempfile.mkdtemp(prefix="pitflip-fuzzed-run-"))
    path = home / "demo.toml"
    path.write_text(small(4) + '[agents.greedy]\nkind = "greedy"\n')
    with contextlib.redirect_stdout(io.StringIO()):
        played(path, home / "results", 1)
    (journal,) = home.glob("results/*/*/journal.sqlite")
    with sqlite3.connect(journal) as base:
        base.execute("pragma wal_checkpoint(truncate)")
    return journal.parent


@functools.cache
def drawn_run() -> DrawnPlan:
    """What is played in the finished run."""
    return make_schedule(load(finished_run().parents[2] / "demo.toml").plan)


def of_run(name: str, *ends: Callable[[Path], int]) -> Callable[[bytes, Path], int]:
    """How commands answer a run one file of which is replaced; the worst status."""

    def answer(content: bytes, directory: Path) -> int:
        run = directory / "results" / "demo" / finished_run().name
        shutil.copytree(finished_run(), run)
        (run / name).write_bytes(content)
        return max(end(run) for end in ends)

    return answer


def by(main: Command, *words: str) -> Callable[[Path], int]:
    """A command about a run, with these words after it."""
    return lambda run: main([str(run), *words])


def listed(run: Path) -> int:
    """The list of runs, with this one."""
    return arena.commands.runs.main(["--results", str(run.parents[1]), "list"])


def continued(run: Path) -> int:
    """The games of a journal, as a run that goes on reads them."""

    def read() -> int:
        with RunDirectory(run, finished_run().name) as directory:
            section = directory.section()
            list(section.games(drawn_run().pairings.columns))
            section.read_fact("fixed"), section.read_fact("unloadable")
        return OK

    return status_of("fuzz", read, "again")


def file_of_run(name: str) -> st.SearchStrategy[bytes]:
    """A file of the finished run, damaged; it is played when the first example is drawn."""
    return st.deferred(lambda: damaged((finished_run() / name).read_bytes()))


def text_of_run(name: str) -> st.SearchStrategy[bytes]:
    """A text of the finished run with words in the wrong places."""
    return st.deferred(lambda: changed([(finished_run() / name).read_text()]))


VERIFIED, REPORTED = by(arena.commands.verify.main, "--replay"), by(arena.commands.report.main)
RATED = by(arena.commands.rate.main, "--draws", "0")
EXPORTED = by(arena.commands.export.main, "--games", "json", "--tables", "csv")
RUNS = {
    "table": Target(file_of_run("games.parquet"), of_run("games.parquet", VERIFIED, REPORTED)),
    "table exported": Target(file_of_run("games.parquet"), of_run("games.parquet", EXPORTED)),
    "run": Target(text_of_run("run.json"), of_run("run.json", VERIFIED, REPORTED)),
    "run exported": Target(text_of_run("run.json"), of_run("run.json", EXPORTED, RATED)),
    "summary": Target(text_of_run("summary.json"), of_run("summary.json", REPORTED, listed)),
    "journal": Target(file_of_run("journal.sqlite"), of_run("journal.sqlite", continued)),
}
TARGETS = {**FILES, **RUNS, **BOTS}
