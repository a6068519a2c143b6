"""The commands to disturb: tiny experiments, one for each way of producing games."""

import sys
from collections.abc import Mapping
from typing import NamedTuple

from tools.torture.processes import Command

TABLES = tuple(f"*/*/{name}.parquet" for name in ("games", "elo", "win_rates", "tournament"))
STUDY = ("*/*/recommendation.json", "*/*/validation.parquet")
WORDS = ("--results", "results", "--workers", "2", "--quiet")
RESULTS = "results"
PREPARED = "made"  # directory where a prepared run is made


class Subject(NamedTuple):
    """A command, the files that must not change, and its relative frequency."""

    command: Command
    files: Mapping[str, str]  # the experiment first
    products: tuple[str, ...] = TABLES
    prepared: Command | None = None  # makes the run that the command reads, as results/run
    deciding: tuple[str, ...] = ()  # files of users that affect the games
    has_fresh: bool = True  # whether the command has --fresh
    weight: int = 10


def head(pairs: int, plies: int = 8, more: str = "") -> str:
    """Return the first lines of an experiment on a small board."""
    return (
        f'game = "kalah(4,3)"\npairs = {pairs}\nseed = 5\n{more}\n'
        f"openings = {{ random_plies = {plies} }}\n"
    )


SEARCHING = 'agents.searching = { kind = "alphabeta", depth = 5, epsilon = 0.1 }\n'
GREEDY = 'agents.greedy = { kind = "greedy" }\n'
RANDOM = 'agents.random = { kind = "random" }\n'
FAST = head(120) + SEARCHING + GREEDY + RANDOM
FEWER = head(60) + SEARCHING + GREEDY
RACE = head(400, more="schedule = { best = 1 }") + SEARCHING + GREEDY + RANDOM
SLOW = head(12, 5, "move_seconds = 60") + 'agents.mine = { kind = "python", file = "bot.py" }\n'
BOT = "def choose(view, legal, rng):\n    return rng.choice(legal)\n"
PROGRAM = """\
import sys
for line in sys.stdin:
    _, legal, _, chance, _ = line.split(';')
    print(legal.split()[int(chance) % len(legal.split())], flush=True)
"""
SANDBOXED = SLOW + (
    f'agents.program = {{ kind = "lines", command = ["{sys.executable}", "-IS", "program.py"] }}\n'
)
STUDY_FILE = """\
game = "kalah(4,3)"
seed = 3
openings = { random_plies = 5 }
agents.mine = { kind = "alphabeta", depth = 1, weights = { pot = 1.0 } }
[tune]
agent = "mine"
games = 20
trials = 10
method = "METHOD"
validation = { elo1 = 100, pairs = 60 }
[tune.weights]
pot = [-1.0, 1.5]
in_play = [-1.0, 1.0]
"""
LEARN_FILE = """\
game = "kalah(4,3)"
seed = 3
openings = { random_plies = [3, 5] }
agents.teacher = { kind = "smart_classic", nodes = 20 }
[learn]
teacher = "teacher"
games = 200
solve_from = 6
tables = "features"
[learn.match]
nodes = 20
pairs = 30
"""
PREPARE_WORDS = ("--results", PREPARED, "--workers", "2", "--quiet", "--no-page")


def run_command(*words: str, typed: bool = False) -> Command:
    """Return the command that plays the experiment."""
    return Command("run", ("torture.toml", *WORDS, *words), typed)


PREPARE = Command("run", ("torture.toml", *PREPARE_WORDS))
JUDGE = Command("judge", ("results/run", "--quiet", "--workers", "2", "--last-beans", "9"))

SUBJECTS: Mapping[str, Subject] = {
    "fast path": Subject(run_command("--no-page"), {"torture.toml": FAST}, weight=20),
    "slow path": Subject(
        run_command("--no-page"), {"torture.toml": SLOW + GREEDY, "bot.py": BOT},
        deciding=("bot.py",),
    ),
    "bots": Subject(
        run_command("--no-page"),
        {"torture.toml": SANDBOXED, "bot.py": BOT, "program.py": PROGRAM},
        deciding=("bot.py",),
    ),
    "race": Subject(run_command("--no-page"), {"torture.toml": RACE}),
    "game cache": Subject(
        run_command("--no-page", "--cache", "results/cache"), {"torture.toml": FAST},
        prepared=PREPARE._replace(
            words=(*PREPARE.words, "--pairs", "70", "--cache", "results/cache")
        ),
    ),
    "tune": Subject(
        Command("tune", ("torture.toml", *WORDS)),
        {"torture.toml": STUDY_FILE.replace("METHOD", "spsa")}, STUDY,
    ),
    "learn": Subject(
        Command("learn", ("torture.toml", *WORDS)), {"torture.toml": LEARN_FILE},
        ("*/*/round-*.npz",),
    ),
    "judge": Subject(
        JUDGE, {"torture.toml": FEWER}, ("*/moves.parquet",), prepared=PREPARE, has_fresh=False
    ),
    "Dask": Subject(
        run_command("--no-page", "--cluster", "local:2", typed=True), {"torture.toml": FAST},
        weight=2,
    ),
}  # fmt: skip
