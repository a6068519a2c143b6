"""Files and words that people write: each with the reader of ours that is given it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import strategies as st

from agents.registry import AGENTS
from arena.config.experiment import load
from arena.config.sweep import load_experiment_or_sweep
from arena.learning.config import load_learn_config
from arena.tuning.study_config import load_study
from games import NAMES
from games.base.errors import OK, status_of
from tests.commands import perft, rate, replay
from tools.fuzz.grammars import ROOT, changed, damaged, pairs_of, words_of
from tools.fuzz.law import Target

SHIPPED = [path.read_text() for path in sorted(ROOT.glob("experiments/*.toml"))]
STUDIES = [text for text in SHIPPED if "[tune" in text]
LESSONS = [text for text in SHIPPED if "[learn" in text]
EXPERIMENTS = [text for text in SHIPPED if "[tune" not in text and "[learn" not in text]
KINDS = [f'kind = "{kind}"' for kind in AGENTS]
GAME_NAMES = [*NAMES, "kalah(6,4)", "kalah(3,2,capture=none)", "othello(6)", "owari(4,3)"]
MOVES = ["3 6 1 2", "f5 d6 c3", "1 1 1", "pass", "6 6 6 6 6 6"]
POSITIONS = [
    "4 4 4 4 4 4 0 4 4 4 4 4 4 0 1",
    "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move",
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
SOURCES = [path.read_text() for path in sorted(ROOT.glob("experiments/bots/*.py"))]
LEARNED = ROOT / "games" / "sowing" / "weights" / "kalah_4_4.npz"


def file_answer(name: str, read: Callable[[Path], int]) -> Callable[[bytes, Path], int]:
    """How a file of this name is answered by what reads it."""

    def answer(content: bytes, directory: Path) -> int:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return status_of("fuzz", lambda: read(path), "", str(path))

    return answer


def plan_of(path: Path) -> int:
    """An experiment file is read, and the sweep in it if there is one."""
    load_experiment_or_sweep(path)
    return OK


def beside(*lines: str) -> Callable[[Path], int]:
    """A file is read that an experiment beside it names: these lines are of an agent of its own."""

    def read(path: Path) -> int:
        file = path.with_name("x.toml")
        agents = f'[agents.a]\nkind = "random"\n[agents.b]\n{lines[-1]}\n'
        file.write_text("\n".join(['game = "kalah(4,4)"', *lines[:-1], agents]))
        load(file)
        return OK

    return read


def done(read: Callable[[Path], object]) -> Callable[[Path], int]:
    """The status of reading that ends well."""

    def status(path: Path) -> int:
        read(path)
        return OK

    return status


def rated(name: str) -> Callable[[bytes, Path], int]:
    """How pitflip rate answers a file of this name."""
    return file_answer(name, lambda path: rate([str(path), "--bootstrap", "0"]))


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
    return status_of("fuzz", lambda: done(lambda each: load(each, [text]))(path), "", str(path))


def replayed(of: str, *more: str) -> Callable[[bytes, Path], int]:
    """How pitflip game replay answers written moves, or with `more` the start that it is given."""
    return command(replay, lambda text: [of, "", f"--start={text}"] if more else [of, text])


FILES = {
    "experiment": Target(changed(EXPERIMENTS, KINDS), file_answer("x.toml", plan_of)),
    "study": Target(changed(STUDIES), file_answer("x.toml", done(load_study))),
    "lesson": Target(changed(LESSONS), file_answer("x.toml", done(load_learn_config))),
    "set": Target(
        st.one_of(pairs_of(words_of(EXPERIMENTS)), changed(["agents.smart.depth=6", "pairs=10"])),
        overridden,
    ),
    "game": Target(changed(GAME_NAMES), command(perft, lambda text: [text, "1"])),
    "moves": Target(changed(MOVES, ["kalah"]), replayed("kalah(6,4)")),
    "position": Target(changed(POSITIONS), replayed("kalah(6,4)", "start")),
    "csv": Target(changed(CSV), rated("games.csv")),
    "pgn": Target(changed(PGN), rated("games.pgn")),
    "ggf": Target(changed(GGF), rated("games.ggf")),
    "learned": Target(
        damaged(LEARNED.read_bytes()),
        file_answer("w.npz", beside('kind = "smart"\nweights = "w.npz"')),
    ),
    "evaluation": Target(
        changed(SOURCES),
        file_answer("e.py", beside('kind = "alphabeta"\nevaluate = "e.py"\nweights = { a = 1.0 }')),
    ),
    "bot": Target(changed(SOURCES), file_answer("b.py", beside('kind = "python"\nfile = "b.py"'))),
}
