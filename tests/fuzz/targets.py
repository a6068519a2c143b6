"""What is fuzzed: each reader of ours with its inputs, answered as its command answers them."""

import contextlib
import functools
import io
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import strategies as st

import arena.rate
import arena.report
import arena.verify
import games.perft
import games.replay
from agents import AGENTS
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan, draw
from arena.reading.experiment_file import load
from arena.reading.sweep_table import load_sweep
from arena.tuning.tune_file import load_tuning
from games import NAMES
from games.terminal import DONE, status_of
from tests.arena.running import played, small
from tests.fuzz.grammars import ROOT, changed, damaged, values, words_of
from tests.fuzz.law import Target

SHIPPED = [path.read_text() for path in sorted(ROOT.glob("experiments/*.toml"))]
STUDIES = [text for text in SHIPPED if "[tune" in text]
EXPERIMENTS = [text for text in SHIPPED if "[tune" not in text]
KINDS = [f'kind = "{kind}"' for kind in AGENTS]
GAME_NAMES = [*NAMES, "kalah(6,4)", "kalah(3,2,capture=none)", "othello(6)", "owari(4,3)"]
MOVES = ["3 6 1 2", "f5 d6 c3", "1 1 1", "pass", "6 6 6 6 6 6"]
POSITIONS = [
    "4 4 4 4 4 4 0 4 4 4 4 4 4 0 1",
    "...........................OX......XO........................... X",
]
CSV = [
    "first,second,result\na,b,1-0\nb,a,0.5\n",
    "game,first,second,score\nkalah(6,4),a,b,1\nkalah(6,4),b,a,0\nkalah(6,4),a,b,0.5\n",
    "white,black,winner,opening\na,b,first,x\nb,a,draw,x\n",
]
PGN = [
    '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. e4 {so (it) is} e5 2. Nf3 1-0\n\n'
    '[White "b"]\n[Black "a"]\n[Result "1/2-1/2"]\n\n1. d4 ; no\n1/2-1/2\n',
]
GGF = [
    "(;GM[Othello]PC[x]PB[a]PW[b]RE[4]TY[8]BO[8 ---------------------------O*------*O-----------"
    "---------------- *]B[d3]W[c3];)\n(;GM[Othello]PB[b]PW[a]RE[-2]TY[8]B[f5];)\n",
]


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
    return draw(load(finished_run().parents[2] / "demo.toml").plan)


def file_answer(name: str, read: Callable[[Path], int]) -> Callable[[bytes, Path], int]:
    """How a file of this name is answered by what reads it."""

    def answer(content: bytes, directory: Path) -> int:
        path = directory / name
        path.write_bytes(content)
        return status_of("fuzz", lambda: read(path), "", str(path))

    return answer


def plan_of(path: Path) -> int:
    """An experiment file is read, and the sweep in it if there is one."""
    load(path)
    load_sweep(path)
    return DONE


def study_of(path: Path) -> int:
    """A file for the tuner is read."""
    load_tuning(path)
    return DONE


def rated(name: str) -> Callable[[bytes, Path], int]:
    """How arena.rate answers a file of this name."""
    return file_answer(name, lambda path: arena.rate.main([str(path), "--draws", "0"]))


def command(
    main: Callable[[list[str]], int], words: Callable[[str], Sequence[str]]
) -> Callable[[bytes, Path], int]:
    """How a command answers a text among its words; no word begins an option."""

    def answer(content: bytes, _: Path) -> int:
        text = content.decode(errors="replace").replace("\0", "").lstrip("-")
        return main([*words(text)])

    return answer


def overridden(content: bytes, directory: Path) -> int:
    """How a value of the command line is answered."""
    path = directory / "demo.toml"
    path.write_text(EXPERIMENTS[0])
    text = content.decode(errors="replace")

    def read() -> int:
        load(path, [text])
        return DONE

    return status_of("fuzz", read, "", str(path))


def of_run(name: str, *ends: Callable[[Path], int]) -> Callable[[bytes, Path], int]:
    """How commands answer a run one file of which is replaced; the worst status."""

    def answer(content: bytes, directory: Path) -> int:
        run = directory / "run"
        shutil.copytree(finished_run(), run)
        (run / name).write_bytes(content)
        return max(end(run) for end in ends)

    return answer


def verified(run: Path) -> int:
    """The games of a run, replayed by the rules."""
    return arena.verify.main([str(run), "--replay"])


def reported(run: Path) -> int:
    """The page of a run, written again."""
    return arena.report.main([str(run)])


def continued(run: Path) -> int:
    """The games of a journal, as a run that goes on reads them."""

    def read() -> int:
        with Journal(run, finished_run().name) as journal:
            journal.games(drawn_run().pairings)
            journal.fixed(), journal.tried(), journal.unloadable(), journal.plan()
        return DONE

    return status_of("fuzz", read, "again")


def file_of_run(name: str) -> st.SearchStrategy[bytes]:
    """A file of the finished run, damaged; it is played when the first example is drawn."""
    return st.deferred(lambda: damaged((finished_run() / name).read_bytes()))


def text_of_run(name: str) -> st.SearchStrategy[bytes]:
    """A text of the finished run with words in the wrong places."""
    return st.deferred(lambda: changed([(finished_run() / name).read_text()]))


def pairs_of(keys: Sequence[str]) -> st.SearchStrategy[bytes]:
    """KEY=VALUE, seldom one that the file may have."""
    return st.builds(lambda key, value: f"{key}={value}".encode(), st.sampled_from(keys), values())


TARGETS = {
    "experiment": Target(changed(EXPERIMENTS, KINDS), file_answer("x.toml", plan_of)),
    "study": Target(changed(STUDIES), file_answer("x.toml", study_of)),
    "set": Target(
        st.one_of(pairs_of(words_of(EXPERIMENTS)), changed(["agents.smart.depth=6", "pairs=10"])),
        overridden,
    ),
    "game": Target(changed(GAME_NAMES), command(games.perft.main, lambda text: [text, "1"])),
    "moves": Target(
        changed(MOVES, ["kalah"]), command(games.replay.main, lambda text: ["kalah(6,4)", text])
    ),
    "othello moves": Target(
        changed(MOVES), command(games.replay.main, lambda text: ["othello", text])
    ),
    "position": Target(
        changed(POSITIONS),
        command(games.replay.main, lambda text: ["kalah(6,4)", "", f"--start={text}"]),
    ),
    "othello position": Target(
        changed(POSITIONS),
        command(games.replay.main, lambda text: ["othello", "", f"--start={text}"]),
    ),
    "csv": Target(changed(CSV), rated("games.csv")),
    "pgn": Target(changed(PGN), rated("games.pgn")),
    "ggf": Target(changed(GGF), rated("games.ggf")),
    "table": Target(file_of_run("games.parquet"), of_run("games.parquet", verified, reported)),
    "run": Target(text_of_run("run.json"), of_run("run.json", verified, reported)),
    "summary": Target(text_of_run("summary.json"), of_run("summary.json", reported)),
    "journal": Target(file_of_run("journal.sqlite"), of_run("journal.sqlite", continued)),
}
