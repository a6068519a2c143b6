"""Compiles what many tests need, each family of states in one process: python -m tests.compiled.

Without this, parallel workers that need the same kernels would each compile them. With a warm cache
this ends at once.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from arena.planning.openings.random import draw_lines
from arena.playing.referee_loop import replay_games
from games import Game, game
from games.board import Board
from games.core import family_drivers
from games.kernels.compile_cache import cache_directory
from games.kernels.context import PASS
from games.kernels.jit import INTERPRETED
from games.perft import perft, play_random_games
from games.solving.generic import generic_search
from games.transcripts import index_move_texts
from tests.agents.helpers import OF_EVERY_FAMILY, ROOT, is_wide, playing, spec_of
from tests.agents.test_whole_games import play_games

OWN_GAME = f"{ROOT}/experiments/games/connect4.py:connect4(5,4)"
SEARCHES = ("alphabeta", "minimax")
# Solvers, and learned tables, which other sizes may have as well.
OTHERS = ("perfect", "smart")
MORE_SIZES = {"othello(6)": ("othello(8)",)}


def compile_family(name: str) -> None:
    """The rules of the game's family and its features, the searches and games of a narrow one."""
    of = game(name)
    compile_rules(of)
    agents = [build(spec_of(kind), of) for kind in SEARCHES]
    if not is_wide(name):
        compile_searches(of, agents)
        for each in (name, *MORE_SIZES.get(name, ())):
            compile_others(each)


def compile_rules(of: Game) -> None:
    """All that drives a game."""
    start, move = of.start(), of.legal(of.start())[0]
    perft(of, start, 1)
    play_random_games(of, 1, 1)
    family_drivers(of.family_name).step(of.context, start.state, PASS)
    family_drivers(of.family_name).margin(of.context, start.state)
    one = np.array([move], np.int16), np.ones(1, np.int32)
    index_move_texts(of, *one)
    Board(of)
    if not is_wide(of.name):
        replay_games(of, *one)
        draw_lines(of, 1, 0, 0, 1)


def compile_searches(of: Game, agents: list[CompiledAgent]) -> None:
    """Moves, whole games, a single move explained, exact play."""
    start = of.start()
    for agent in agents:
        choice = agent.choose(start)
    play_games(of, *agents, [[]], [(1, 2)])
    agent.search_move(start, choice.move, 1)
    generic_search(of, 4).bound_margin(start, 0, 1)


def compile_others(name: str) -> None:
    """The kinds that look positions up."""
    for kind in OTHERS:
        if kind in playing(name):
            build(spec_of(kind), game(name)).choose(game(name).start())


def main() -> None:
    """The families that take longest come first; a file in the cache says that all are there."""
    directory = cache_directory()
    if INTERPRETED or directory is None:
        return
    done = directory / "compiled_for_tests"
    if not done.exists():
        names = sorted((*OF_EVERY_FAMILY, OWN_GAME), key=lambda name: "othello" not in name)
        names.sort(key=is_wide)
        with ProcessPoolExecutor(min(len(names), os.cpu_count() or 1)) as pool:
            list(pool.map(compile_family, names))
        done.touch()


if __name__ == "__main__":
    sys.exit(main())
