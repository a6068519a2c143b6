"""What is disturbed: tiny experiments, one for each way in which games come about."""

import sys
from collections.abc import Mapping
from typing import NamedTuple

from tests.torture.below import Command

TABLES = tuple(f"*/*/{name}.parquet" for name in ("games", "elo", "win_rates", "tournament"))
STUDY = ("*/*/recommendation.json", "*/*/importance.parquet", "*/*/validation.parquet")
WORDS = ("--results", "results", "--workers", "2", "--quiet")
RESULTS = "results"
PREPARED = "made"  # where a prepared run is played


class Subject(NamedTuple):
    """What is run, which files must be the same in the end, and how often it is chosen."""

    command: Command
    files: Mapping[str, str]  # the experiment first
    products: tuple[str, ...] = TABLES
    prepared: Command | None = None  # a run that is finished before, as results/run
    deciding: tuple[str, ...] = ()  # the files of users that decide games
    afresh: bool = True  # whether the command has --fresh
    live: bool = False  # whether somebody looks at the page while it is played
    weight: int = 10


def head(pairs: int, plies: int = 8, more: str = "") -> str:
    """The head of an experiment on a small board."""
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
STOPPED = head(400, more="stop = { sprt = { elo0 = 0, elo1 = 60 } }") + SEARCHING + GREEDY
SLOW = head(12, 5, "move_seconds = 60") + 'agents.mine = { kind = "python", file = "bot.py" }\n'
BOT = "def choose(view, legal, rng):\n    return rng.choice(legal)\n"
PROGRAM = """\
import sys
for line in sys.stdin:
    _, legal, _, chance, _ = line.split(';')
    print(legal.split()[int(chance) % len(legal.split())], flush=True)
"""
HEURISTIC = """\
from agents.features.sowing import pot, turned

def evaluate(rules, position):
    return 1.0 * pot(rules, position) - pot(rules, turned(position))
"""
WALLED = SLOW + (
    f'agents.program = {{ kind = "lines", command = ["{sys.executable}", "-IS", "program.py"] }}\n'
)
OWN = (
    head(40)
    + GREEDY
    + ('agents.own = { kind = "alphabeta", depth = 1, epsilon = 0.2, evaluate = "own.py" }\n')
)
TUNED = """\
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
LEARNED = """\
game = "kalah(4,3)"
seed = 3
openings = { plies = [3, 5] }
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
PAIRING = ("--results", PREPARED, "--workers", "2", "--quiet", "--no-page")


def run_of(*words: str, typed: bool = False) -> Command:
    """The command that plays the experiment."""
    return Command("arena.run", ("torture.toml", *WORDS, *words), typed)


PLAYED = Command("arena.run", ("torture.toml", *PAIRING))
JUDGED = Command("arena.judge", ("results/run", "--quiet", "--workers", "2", "--last-beans", "9"))

SUBJECTS: Mapping[str, Subject] = {
    "fast path": Subject(run_of("--no-page"), {"torture.toml": FAST}, weight=20),
    "as typed": Subject(run_of(typed=True), {"torture.toml": FAST}, weight=6),
    "one process": Subject(run_of("--no-page", "--workers", "0"), {"torture.toml": STOPPED}),
    "slow path": Subject(
        run_of("--no-page"), {"torture.toml": SLOW + GREEDY, "bot.py": BOT}, deciding=("bot.py",)
    ),
    "bots": Subject(
        run_of("--no-page"),
        {"torture.toml": WALLED, "bot.py": BOT, "program.py": PROGRAM},
        deciding=("bot.py",),
    ),
    "own heuristic": Subject(
        run_of("--no-page"), {"torture.toml": OWN, "own.py": HEURISTIC}, deciding=("own.py",),
        weight=3,
    ),
    "race": Subject(run_of("--no-page"), {"torture.toml": RACE}),
    "known games": Subject(
        run_of("--no-page", "--known", "results/known"), {"torture.toml": FAST},
        prepared=PLAYED._replace(
            words=(*PLAYED.words, "--pairs", "70", "--known", "results/known")
        ),
    ),
    "live page": Subject(run_of("--live"), {"torture.toml": FAST}, live=True),
    "tune": Subject(
        Command("arena.tune", ("torture.toml", *WORDS)),
        {"torture.toml": TUNED.replace("METHOD", "spsa")}, STUDY,
    ),
    "tune, tpe": Subject(
        Command("arena.tune", ("torture.toml", *WORDS)),
        {"torture.toml": TUNED.replace("METHOD", "tpe")}, STUDY, weight=5,
    ),
    "learn": Subject(
        Command("arena.learn", ("torture.toml", *WORDS)), {"torture.toml": LEARNED},
        ("*/*/round-*.npz",),
    ),
    "judge": Subject(
        JUDGED, {"torture.toml": FEWER}, ("*/moves.parquet",), prepared=PLAYED, afresh=False
    ),
    "Dask": Subject(
        run_of("--no-page", "--on", "local:2", typed=True), {"torture.toml": FAST}, weight=2
    ),
}  # fmt: skip
