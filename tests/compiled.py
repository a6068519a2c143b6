"""Compiles what most tests need, each family of states in one process: python -m tests.compiled.

Tests run side by side, and two files that need the same kernels would both compile them. With a
warm cache this ends at once.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor

from agents import build
from agents.kernels import whole_games
from games import game
from games.core import kernels
from games.kernels.compile_cache import cache_directory
from games.kernels.context import PASS
from games.kernels.jit import INTERPRETED
from games.kernels.kernel_sources import room_of
from games.perft import perft
from games.playouts import random_games
from tests.agents.given import OF_EVERY_FAMILY, ROOT, is_wide, spec_of
from tests.agents.whole_games import play_games

OWN_GAME = f"{ROOT}/experiments/games/connect4.py:connect4(5,4)"
SEARCHES = ("alphabeta", "minimax")


def compile_family(name: str) -> None:
    """The rules of the game's family and its features, the searches and games of a narrow one."""
    of = game(name)
    start = of.start()
    perft(of, start, 1)
    random_games(of, 1, 1)
    kernels(of.family_name).step(of.context, start.state, PASS)
    agents = [build(spec_of(kind), of) for kind in SEARCHES]
    if not is_wide(name):
        for agent in agents:
            agent.choose(start)
        play_games(of, *agents, [[]], [(1, 2)])


def main() -> None:
    """The families that take longest come first; a file in the cache says that all are there."""
    directory = cache_directory(room_of(whole_games.__name__))
    if INTERPRETED or directory is None:
        return
    done = directory / "compiled_for_tests"
    if not done.exists():
        names = sorted((*OF_EVERY_FAMILY, OWN_GAME), key=is_wide)
        with ProcessPoolExecutor(min(len(names), os.cpu_count() or 1)) as pool:
            list(pool.map(compile_family, names))
        done.touch()


if __name__ == "__main__":
    sys.exit(main())
