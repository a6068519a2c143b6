"""Benchmarks of new processes: memory of a long call, and the time to the first move."""

import tempfile

from benchmarks.fresh import fresh
from benchmarks.table import Row

READY = """
import sys
from games import game
of = game(sys.argv[1])
position = of.start()
of.play(position, of.legal(position)[0])
"""

PEAKS = """
import resource, sys
from games import game
from games.perft import play_random_games
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
of = game("kalah(6,4)")
play_random_games(of, 10, 1)
before = peak()
play_random_games(of, int(sys.argv[1]), 1)
print(before, peak(), 1 if sys.platform == "darwin" else 1024)
"""

# A process inherits the peak of its parent, so a small process starts the measured one.
SMALL = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]], check=True)"

# One game for every family of states.
FAMILIES = ("kalah(6,4)", "kalah-manchester", "kalah(8,8)", "othello", "othello(10)")
MANY, FEW = 1_000_000, 1_000
COLD_SECONDS, WARM_SECONDS = 15, 1


def memory(rounds: int) -> Row:
    """Compare the peak memory of a call of a million games with that of a thousand."""
    many, few = (min(peaks(games) for _ in range(rounds)) for games in (MANY, FEW))
    ours, against = (
        f"{peak / 1e6:.0f} MB, grown {(peak - was) / 1e6:.1f}" for peak, was in (many, few)
    )
    return Row(
        f"peak memory, {MANY:,} random games: {FEW:,}", ours, against, few[0] / many[0], 0.98
    )


def peaks(games: int) -> tuple[int, int]:
    """Return the peak bytes of a process after a call of `games` games, and before it."""
    before, after, unit = map(int, fresh(["-c", SMALL, PEAKS, str(games)]).printed.split())
    return after * unit, before * unit


def start_warm(rounds: int) -> Row:
    """Measure the seconds to the first move with cached kernels; the slowest family counts."""
    for name in FAMILIES:
        fresh(["-c", READY, name])
    taken = {
        name: min(fresh(["-c", READY, name]).seconds for _ in range(rounds)) for name in FAMILIES
    }
    return start_row("warm", taken, WARM_SECONDS)


def start_cold(rounds: int) -> Row:
    """Measure the same with an empty cache, once because compiling takes seconds."""
    return start_row("cold", {name: cold_seconds(name) for name in FAMILIES}, COLD_SECONDS)


def cold_seconds(name: str) -> float:
    """Return the seconds of a process that compiles everything it needs to play a move."""
    with tempfile.TemporaryDirectory() as cache:
        return fresh(["-c", READY, name], cache).seconds


def start_row(cache: str, taken: dict[str, float], allowed: float) -> Row:
    """Compare the slowest start with the `allowed` seconds."""
    slowest = max(taken, key=lambda name: taken[name])
    what = f"first move, {cache} cache, slowest family ({slowest}): allowed"
    return Row(what, f"{taken[slowest]:.2f} s", f"{allowed} s", allowed / taken[slowest], 1)
