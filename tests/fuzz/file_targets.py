"""Files and words that people write: each with the reader of ours that is given it."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

from hypothesis import strategies as st

import arena.commands.explain
import arena.commands.ladder
import arena.commands.rate
import arena.commands.weights
import games.perft
import games.replay
from agents.registry import AGENTS
from arena.config.experiment import load
from arena.config.sweep import load_any
from arena.config.user_settings import cluster_settings
from arena.learning.config import load_learning
from arena.tuning.study_config import load_tuning
from games import NAMES
from games.base.errors import DONE, status_of
from tests.fuzz.grammars import ROOT, changed, damaged, pairs_of, words_of
from tests.fuzz.law import Target

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
SETTINGS = [
    '[cluster]\naddress = "tcp://host:8786"\nwait_seconds = 3\n',
    '[cluster]\naddress = "none"\n',
]
LINES = [f"{POSITIONS[1]}\n# a comment\n3 6 1 2\n\n4 1 2\n"]
WEIGHTS = ["pot = 1.0\nin_play = [0.5, 2]\n", "[weights]\npot = 1.5\n"]
SOURCES = [path.read_text() for path in sorted(ROOT.glob("experiments/bots/*.py"))]
LEARNED = ROOT / "games" / "sowing" / "weights" / "kalah_4_4.npz"
VERSIONS = [
    "bot.py@HEAD~1",
    "bot.py@run:1a2b3c",
    "@run:1a2b3c",
    "bot.py@{upstream}:mine",
    "a@b@c.py",
]
LADDER = {
    "format": 1, "placed": {"a": "by hand"}, "anchors": {"a": 0.0}, "files": {},
    "plan": {"game": "kalah(6,4)", "agents": {"a": {"kind": "random"}}, "matches": []},
}  # fmt: skip


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
    load_any(path)
    return DONE


def beside(*lines: str) -> Callable[[Path], int]:
    """A file is read that an experiment beside it names: these lines are of an agent of its own."""

    def read(path: Path) -> int:
        file = path.with_name("x.toml")
        agents = f'[agents.a]\nkind = "random"\n[agents.b]\n{lines[-1]}\n'
        file.write_text("\n".join(['game = "kalah(4,4)"', *lines[:-1], agents]))
        load(file)
        return DONE

    return read


def versioned(content: bytes, directory: Path) -> int:
    """A version of a bot's file is looked for."""
    text = json.dumps(content.decode(errors="replace"))
    read = beside(f'kind = "python"\nfile = {text}')
    return status_of("fuzz", lambda: read(directory / "bot.py"), "", "x.toml")


def settings_of(content: bytes, directory: Path) -> int:
    """The user's settings are read."""
    path = directory / "pitflip" / "settings.toml"
    path.parent.mkdir()
    path.write_bytes(content)

    def read() -> int:
        cluster_settings(None)
        return DONE

    with patch.dict(os.environ, {"XDG_CONFIG_HOME": str(directory)}):
        return status_of("fuzz", read, "", str(path))


def done(read: Callable[[Path], object]) -> Callable[[Path], int]:
    """The status of reading that ends well."""

    def status(path: Path) -> int:
        read(path)
        return DONE

    return status


def rated(name: str) -> Callable[[bytes, Path], int]:
    """How arena.commands.rate answers a file of this name."""
    return file_answer(name, lambda path: arena.commands.rate.main([str(path), "--draws", "0"]))


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
    """How games.replay answers written moves, or with `more` the start that it is given."""
    return command(
        games.replay.main, lambda text: [of, "", f"--start={text}"] if more else [of, text]
    )


FILES = {
    "experiment": Target(changed(EXPERIMENTS, KINDS), file_answer("x.toml", plan_of)),
    "study": Target(changed(STUDIES), file_answer("x.toml", done(load_tuning))),
    "lesson": Target(changed(LESSONS), file_answer("x.toml", done(load_learning))),
    "set": Target(
        st.one_of(pairs_of(words_of(EXPERIMENTS)), changed(["agents.smart.depth=6", "pairs=10"])),
        overridden,
    ),
    "game": Target(changed(GAME_NAMES), command(games.perft.main, lambda text: [text, "1"])),
    "moves": Target(changed(MOVES, ["kalah"]), replayed("kalah(6,4)")),
    "othello moves": Target(changed(MOVES), replayed("othello")),
    "position": Target(changed(POSITIONS), replayed("kalah(6,4)", "start")),
    "othello position": Target(changed(POSITIONS), replayed("othello", "start")),
    "explained": Target(
        changed([*POSITIONS, *MOVES]),
        command(
            arena.commands.explain.main,
            lambda text: ["kalah(3,2)", text, "--agent", "greedy", "--perfect", "0"],
        ),
    ),
    "csv": Target(changed(CSV), rated("games.csv")),
    "pgn": Target(changed(PGN), rated("games.pgn")),
    "ggf": Target(changed(GGF), rated("games.ggf")),
    "settings": Target(changed(SETTINGS), settings_of),
    "roster": Target(
        changed([*KINDS, 'kind = "lines"\ncommand = ["./x"]\n']),
        file_answer("bots/b/bot.toml", lambda path: roster_of(path.parents[2])),
    ),
    "survivors": Target(
        changed(LINES),
        file_answer("p.txt", lambda path: roster_of(path.parent, '\npositions = "p.txt"')),
    ),
    "lines": Target(
        changed(LINES),
        file_answer("p.txt", beside('openings = { list = "p.txt" }', 'kind = "first"')),
    ),
    "weights": Target(
        changed(WEIGHTS), file_answer("w.toml", beside('kind = "smart"\nweights = "w.toml"'))
    ),
    "learned": Target(
        damaged(LEARNED.read_bytes()),
        file_answer("w.npz", beside('kind = "smart"\nweights = "w.npz"')),
    ),
    "learned shown": Target(
        damaged(LEARNED.read_bytes()),
        file_answer("w.npz", lambda path: arena.commands.weights.main(["show", str(path)])),
    ),
    "evaluation": Target(
        changed(SOURCES),
        file_answer("e.py", beside('kind = "alphabeta"\nevaluate = "e.py"\nweights = { a = 1.0 }')),
    ),
    "bot": Target(changed(SOURCES), file_answer("b.py", beside('kind = "python"\nfile = "b.py"'))),
    "version": Target(changed(VERSIONS), versioned),
    "ladder": Target(
        changed([json.dumps(LADDER, indent=1)]),
        file_answer(
            "ladder.json",
            lambda path: arena.commands.ladder.main(["show", "--ladder", str(path.parent)]),
        ),
    ),
}


def roster_of(base: Path, more: str = "") -> int:
    """An experiment with a class of bots is read."""
    (base / "bots").mkdir(exist_ok=True)
    (base / "bots" / "c.py").write_text("def choose(view):\n    return view.legal[0]\n")
    file = base / "x.toml"
    file.write_text(f'game = "kalah(6,4)"\n[roster]\ndirectory = "bots"{more}\n')
    load(file)
    return DONE
