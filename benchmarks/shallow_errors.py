"""How far shallow searches are from deep ones: python -m benchmarks.shallow_errors othello.

Prints the `searches` of a game's `[probcut]` in its pack's defaults.toml.
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

# The shallow search of each depth: of the same parity, for a leaf is kinder to who moves next.
SHALLOW = {3: 1, 4: 2, 5: 1, 6: 2, **{depth: depth - 4 for depth in range(7, DEEPEST_CUT + 1)}}
OPENING, OF_A_GAME = (6, 14), 4  # random plies that a game begins with; positions taken from it


def own_positions(of: Game, count: int, seed: int) -> list[Position]:
    """Positions of games of `smart` against itself, a few of each game."""
    lot, found = random.Random(seed), list[Position]()
    player = build(AgentSpec("smart", nodes=300), of)
    assert isinstance(player, CompiledAgent)
    while len(found) < count:
        position, line, plies = of.start(), list[Position](), lot.randint(*OPENING)
        player.start(lot.getrandbits(32))
        for ply in range(1 << 20):
            if of.over(position):
                break
            if ply >= plies:
                line.append(position)
            random_move = ply < plies
            move = lot.choice(of.legal(position)) if random_move else player.decide(position).move
            position = of.play(position, move)
        found += lot.sample(line, min(OF_A_GAME, len(line)))
    return found[:count]


def score(agent: CompiledAgent, position: Position, depth: int) -> int:
    """The score of a position after so many plies, without cuts."""
    ctx = agent.context
    ctx[NODES] = ctx[STOPPED] = 0
    ctx[CHECK_AT] = ctx[DEADLINE] = UNLIMITED
    whole = np.int64(-HIGHEST), np.int64(HIGHEST)
    return int(agent.kernels.search(ctx, position.state, np.int64(depth), np.int64(0), *whole))


def measured(of: Game, count: int, deepest: int, seed: int) -> Iterator[ShallowError]:
    """The errors of every pair of depths, over positions that neither search decides."""
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
    """Print a line a depth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shallow_errors")
    parser.add_argument("game")
    parser.add_argument("--positions", type=int, default=600)
    parser.add_argument("--deepest", type=int, default=8, choices=range(3, DEEPEST_CUT + 1))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(words)
    for each in measured(game(asked.game), asked.positions, asked.deepest, asked.seed):
        print(f"  [{each.depth}, {each.shallow}, {each.shift:g}, {each.error:g}],", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
