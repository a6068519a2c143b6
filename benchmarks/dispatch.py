"""Compare the two ways to bind kernels to a game: python -m benchmarks.dispatch."""

import sys
import tempfile
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import numpy as np

from benchmarks import overloads
from benchmarks.fresh import fresh
from benchmarks.table import Row, per_second, table_text
from benchmarks.timing import best_of, timed_job
from games import Game, core, game
from games.kernels.context import ENDED, LEAVES, MARGINS, WINS

NAMES = ("kalah(6,4)", "othello")
DEPTH, GAMES, SEED, REPEATS, ROUNDS = 9, 20_000, np.uint64(1), 5, 9

Kernels = Callable[[Game], SimpleNamespace]
WAYS: Mapping[str, Kernels] = {
    "specialise": lambda of: core.family_drivers(of.family_name),
    "overload": lambda of: overloads.kernels(),
}


def perft(kernels: SimpleNamespace, of: Game, depth: int) -> list[int]:
    """Return the counters after a perft."""
    counters = of.context.copy()
    kernels.count_plies(counters, of.start().state, 0, depth)
    return [int(count) for count in counters[LEAVES : ENDED + depth]]


def playouts(kernels: SimpleNamespace, of: Game, games: int) -> list[int]:
    """Return the counters after random games."""
    counters = of.context.copy()
    kernels.play_random(counters, of.start().state, 0, games, SEED)
    return [int(count) for count in counters[WINS : MARGINS + 1]]


LOOPS: Mapping[str, tuple[Callable[[SimpleNamespace, Game, int], list[int]], int]] = {
    f"perft {DEPTH}": (perft, DEPTH),
    "random games": (playouts, GAMES),
}


def loop_row(name: str, loop: str) -> Row:
    """Compare the calls per second of one loop, after checking that both ways count the same."""
    of, (run, size) = game(name), LOOPS[loop]
    ours, other = (kernels(of) for kernels in WAYS.values())
    if run(ours, of, size) != run(other, of, size):
        raise ValueError(f"{loop} of {name}: the two ways give different counts")
    best = best_of(
        ROUNDS,
        timed_job(lambda: run(ours, of, size), REPEATS),
        timed_job(lambda: run(other, of, size), REPEATS),
    )
    rates = [per_second(1 / seconds) for seconds in best]
    return Row(f"{loop}, {name}, calls", rates[0], rates[1], best[1] / best[0])


def start_rows() -> list[Row]:
    """Compare the start-up of processes that need both loops of both games: cold and warm."""
    seconds: dict[str, list[float]] = {}
    for way in WAYS:
        with tempfile.TemporaryDirectory() as cache:
            seconds[way] = [fresh(["-m", __spec__.name, way], cache).seconds for _ in range(4)]
    ours, other = ((taken[0], min(taken[1:])) for taken in seconds.values())
    return [
        Row(f"process, {cache} cache", f"{a:.2f} s", f"{b:.2f} s", b / a)
        for cache, a, b in zip(("cold", "warm"), ours, other, strict=True)
    ]


def use(way: str) -> None:
    """Compile or load both loops for both games."""
    for name in NAMES:
        of = game(name)
        perft(WAYS[way](of), of, 3)
        playouts(WAYS[way](of), of, 10)


def main(words: list[str]) -> int:
    """Print the comparison; with the name of a way, only run it, in a process that is timed."""
    if words:
        use(words[0])
        return 0
    rows = [loop_row(name, loop) for name in NAMES for loop in LOOPS]
    print("ours: specialise, against: overload")
    print(table_text([*rows, *start_rows()]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
