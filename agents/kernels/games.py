"""Whole games between two compiled agents in one call: the loop every fast match runs in."""

import numpy as np
from numpy.typing import NDArray

from agents.kernels.choose import choose
from agents.kernels.layout import NODES, RANDOM, SALT, SWAP_SLOT
from games.bits import U
from games.context import Context
from games.drivers import PASS
from games.family import State, final, moves, none, over, play, turned
from games.seeds import STRIDE, mixed

END_OF_OPENING = -3
TOO_LONG = -1


def new_game(ctx: Context, seed: np.uint64) -> None:
    """Start the agent's random stream and forget its table by salting it anew."""
    ctx[RANDOM] = np.int64(seed)
    ctx[SALT] = np.int64(mixed(U(ctx[SALT]) + STRIDE))


def play_game(
    agents: tuple[Context, Context],
    start: State,
    opening: NDArray[np.int64],
    slots: NDArray[np.int16],
    nodes: NDArray[np.int64],
) -> tuple[np.int64, np.int64]:
    """Play one game; its length, or TOO_LONG, and the first player's margin.

    `slots` gets the moves, `nodes` the positions each player looked at.
    """
    s, player, side, length = start, 0, 0, 0
    while True:
        mask = moves(agents[0], s)
        finished = none(mask) and over(agents[0], s)
        if finished or length == slots.size:
            break
        ctx = agents[0] if player == 0 else agents[1]
        if length < opening.size and opening[length] != END_OF_OPENING:
            slot = opening[length]
        elif none(mask):
            slot = np.int64(PASS)
        else:
            slot = choose(ctx, s, side)
            nodes[player] += ctx[NODES]
        slots[length] = slot
        length += 1
        if slot == PASS:
            s, same = turned(s), U(0) == U(1)
        else:
            s, same = play(ctx, s, U(slot))
        player = player if same else 1 - player
        # After a swap the other player moves for the same side of the board.
        side = side if same or slot == ctx[SWAP_SLOT] else 1 - side
    margin = final(agents[0], s)
    return np.int64(length if finished else TOO_LONG), margin if player == 0 else -margin


def play_games(
    first: Context,
    second: Context,
    start: State,
    openings: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    slots: NDArray[np.int16],
    results: NDArray[np.int64],
    nodes: NDArray[np.int64],
) -> int:
    """Play game after game; `results` gets length, margin and both node counts of each.

    `nodes` is room for two counts, given because kernels allocate nothing.

    How many games were played: fewer than asked when one did not fit into `slots`.
    """
    for game in range(openings.shape[0]):
        new_game(first, seeds[game, 0])
        new_game(second, seeds[game, 1])
        nodes[:] = 0
        length, margin = play_game((first, second), start, openings[game], slots[game], nodes)
        if length == TOO_LONG:
            return game
        results[game, 0] = length
        results[game, 1] = margin
        results[game, 2] = nodes[0]
        results[game, 3] = nodes[1]
    return openings.shape[0]


COMPILED = (new_game, play_game, play_games)
