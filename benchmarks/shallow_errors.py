"""Measure how far shallow searches are from deep ones: python -m benchmarks.shallow_errors othello.

Prints the `searches` of a game's `[probcut]` for its pack's defaults.toml.
"""

import argparse
import random
import sys
from collections.abc import Iterator

import numpy as np

from agents.core import AgentSpec
from agents.evaluation.weights import ShallowError
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from agents.search.context import (
    CHECK_AT,
    DEADLINE,
    DEEPEST_CUT,
    HIGHEST,
    NODES,
    SHALLOWEST_CUT,
    STOPPED,
    UNIT,
    UNLIMITED,
    WIN,
)
from games import Game, Position, game

# The shallow search of each depth; parities match, because a leaf favours the side to move.
SHALLOW = {3: 1, 4: 2, 5: 1, 6: 2, **{depth: depth - 4 for depth in range(7, DEEPEST_CUT + 1)}}
OPENING, OF_A_GAME = (
    (6, 14),
    4,
)  # random plies at the start of a game; positions sampled from a game


def own_positions(of: Game, count: int, seed: int) -> list[Position]:
    """Return positions from games of `smart` against itself, a few of each game."""
    rng, found = random.Random(seed), list[Position]()
    player = build(AgentSpec("smart", nodes=300), of)
    assert isinstance(player, CompiledAgent)
    while len(found) < count:
        position, line, plies = of.start(), list[Position](), rng.randint(*OPENING)
        player.start(rng.getrandbits(32))
        for ply in range(1 << 20):
            if of.over(position):
                break
            if ply >= plies:
                line.append(position)
            random_move = ply < plies
            move = (
                rng.choice(of.legal(position)) if random_move else player.choose_fast(position).move
            )
            position = of.play(position, move)
        found += rng.sample(line, min(OF_A_GAME, len(line)))
    return found[:count]


def score(agent: CompiledAgent, position: Position, depth: int) -> int:
    """Return the score of a position searched to `depth` plies without ProbCut."""
    ctx = agent.context
    ctx[NODES] = ctx[STOPPED] = 0
    ctx[CHECK_AT] = ctx[DEADLINE] = UNLIMITED
    whole = np.int64(-HIGHEST), np.int64(HIGHEST)
    return int(agent.kernels.search(ctx, position.state, np.int64(depth), np.int64(0), *whole))


def shallow_errors(of: Game, count: int, deepest: int, seed: int) -> Iterator[ShallowError]:
    """Yield the errors for each pair of depths, over positions without a proven result."""
    agent = build(AgentSpec("smart", depth=deepest), of)
    assert isinstance(agent, CompiledAgent)
    positions = own_positions(of, count, seed)
    scores = {
        depth: np.array([score(agent, each, depth) for each in positions])
        for depth in range(1, deepest + 1)
    }
    for depth in range(SHALLOWEST_CUT, deepest + 1):
        shallow, deep = scores[SHALLOW[depth]], scores[depth]
        open_ = (np.abs(shallow) < WIN // 2) & (np.abs(deep) < WIN // 2)
        off = (deep - shallow)[open_] / UNIT
        shift, error = round(float(off.mean()), 2), round(float(off.std()), 2)
        yield ShallowError(depth, SHALLOW[depth], shift, error)


def main(words: list[str] | None = None) -> int:
    """Print one line for each depth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shallow_errors")
    parser.add_argument("game")
    parser.add_argument("--positions", type=int, default=600)
    parser.add_argument("--deepest", type=int, default=8, choices=range(3, DEEPEST_CUT + 1))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    for each in shallow_errors(
        game(options.game), options.positions, options.deepest, options.seed
    ):
        print(f"  [{each.depth}, {each.shallow}, {each.shift:g}, {each.error:g}],", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
