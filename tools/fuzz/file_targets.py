"""Fuzz targets for files and arguments that users write."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hypothesis import strategies as st

from agents.registry import AGENTS
from arena.config.experiment import load_experiment
from arena.config.sweep import load_experiment_or_sweep
from arena.learning.config import load_learn_config
from arena.tuning.study_config import load_study
from games import NAMES
from games.base.errors import OK, run_command
from tests.commands import perft, rate, replay
from tools.fuzz.grammars import ROOT, byte_mutations, pairs_of, text_mutations, words_of
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
    """Return a function that stores an input in a file and reads it."""

    def answer(content: bytes, directory: Path) -> int:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return run_command("fuzz", lambda: read(path), "", str(path))

    return answer


def read_experiment(path: Path) -> int:
    """Read an experiment file or a sweep."""
    load_experiment_or_sweep(path)
    return OK


def read_named_file(*lines: str) -> Callable[[Path], int]:
    """Return a reader of an experiment with these lines, whose second agent uses the file."""

    def read(path: Path) -> int:
        file = path.with_name("x.toml")
        agents = f'[agents.a]\nkind = "random"\n[agents.b]\n{lines[-1]}\n'
        file.write_text("\n".join(['game = "kalah(4,4)"', *lines[:-1], agents]))
        load_experiment(file)
        return OK

    return read


def ok_after(read: Callable[[Path], object]) -> Callable[[Path], int]:
    """Return a function that reads a file and returns the status OK."""

    def status(path: Path) -> int:
        read(path)
        return OK

    return status


def rate_answer(name: str) -> Callable[[bytes, Path], int]:
    """Return a function that rates an input as a file of this name."""
    return file_answer(name, lambda path: rate([str(path), "--bootstrap", "0"]))


def command_answer(
    main: Callable[[list[str]], int], words: Callable[[str], Sequence[str]]
) -> Callable[[bytes, Path], int]:
    """Return a function that calls a command with the input as an argument, never an option."""

    def answer(content: bytes, _: Path) -> int:
        text = content.decode(errors="replace").replace("\0", "").lstrip("-")
        return main([*words(text)])

    return answer


def set_answer(content: bytes, directory: Path) -> int:
    """Load an experiment with the input as a value of --set."""
    path = directory / "demo.toml"
    path.write_text(EXPERIMENTS[0])
    text = content.decode(errors="replace")
    return run_command(
        "fuzz", lambda: ok_after(lambda each: load_experiment(each, [text]))(path), "", str(path)
    )


def replay_answer(of: str, *more: str) -> Callable[[bytes, Path], int]:
    """Return a function that replays the input as moves, or with `more` as a start position."""
    return command_answer(replay, lambda text: [of, "", f"--start={text}"] if more else [of, text])


FILES = {
    "experiment": Target(
        text_mutations(EXPERIMENTS, KINDS), file_answer("x.toml", read_experiment)
    ),
    "study": Target(text_mutations(STUDIES), file_answer("x.toml", ok_after(load_study))),
    "lesson": Target(text_mutations(LESSONS), file_answer("x.toml", ok_after(load_learn_config))),
    "set": Target(
        st.one_of(
            pairs_of(words_of(EXPERIMENTS)), text_mutations(["agents.smart.depth=6", "pairs=10"])
        ),
        set_answer,
    ),
    "game": Target(text_mutations(GAME_NAMES), command_answer(perft, lambda text: [text, "1"])),
    "moves": Target(text_mutations(MOVES, ["kalah"]), replay_answer("kalah(6,4)")),
    "position": Target(text_mutations(POSITIONS), replay_answer("kalah(6,4)", "start")),
    "csv": Target(text_mutations(CSV), rate_answer("games.csv")),
    "pgn": Target(text_mutations(PGN), rate_answer("games.pgn")),
    "ggf": Target(text_mutations(GGF), rate_answer("games.ggf")),
    "learned": Target(
        byte_mutations(LEARNED.read_bytes()),
        file_answer("w.npz", read_named_file('kind = "smart"\nweights = "w.npz"')),
    ),
    "evaluation": Target(
        text_mutations(SOURCES),
        file_answer(
            "e.py", read_named_file('kind = "alphabeta"\nevaluate = "e.py"\nweights = { a = 1.0 }')
        ),
    ),
    "bot": Target(
        text_mutations(SOURCES),
        file_answer("b.py", read_named_file('kind = "python"\nfile = "b.py"')),
    ),
}
