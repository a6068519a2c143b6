"""Whole games between two compiled agents in one call."""

import numpy as np
from numpy.typing import NDArray

from agents.search.alphabeta import monotonic_ns
from agents.search.choose import choose
from agents.search.context import KIND, MINIMAX_KIND, NODES, RANDOM, RANDOM_KIND, SWAP_SLOT
from games.kernels.bits import ONE, ZERO, U
from games.kernels.context import PASS, Context
from games.kernels.family import State, count, final, moves, none, nth, over, play, turned
from games.kernels.splitmix import STRIDE
from games.kernels.streams import below, mixed

NO_MOVE = -3  # fills the rows of shorter openings
TOO_LONG = -1

# Columns of `results`; pairs of columns are for the first and the second player.
LENGTH, MARGIN, GAME_ID, NODES_SPENT, NANOSECONDS_SPENT, MOVES_CHOSEN = 0, 1, 2, 3, 5, 7
RESULTS = 9


def new_game(ctx: Context, seed: np.uint64) -> None:
    """Start the agent's random stream."""
    ctx[RANDOM] = np.int64(seed)


def choose_and_time(
    ctx: Context, s: State, side: int, player: int, results: NDArray[np.int64]
) -> np.int64:
    """Return the agent's move and add its cost to the results; only searches are timed."""
    searches = ctx[KIND] >= MINIMAX_KIND
    start_time = monotonic_ns(ctx) if searches else np.int64(0)
    slot = choose(ctx, s, side)
    if searches:
        results[NANOSECONDS_SPENT + player] += monotonic_ns(ctx) - start_time
    results[NODES_SPENT + player] += ctx[NODES]
    return slot


def play_game(
    agents: tuple[Context, Context],
    start: State,
    opening: NDArray[np.int16],
    slots: NDArray[np.int16],
    results: NDArray[np.int64],
) -> None:
    """Play one game and write its moves to `slots`, its other results to `results`.

    The length is TOO_LONG if `slots` is too short.
    """
    s, player, side, length = start, 0, 0, 0
    game_id, swap, chosen, by_second = STRIDE, agents[0][SWAP_SLOT], 0, 0
    results[:] = 0
    # Variables of the mover are swapped, which is faster than indexing by player.
    ctx, other = agents
    word, other_word = U(ctx[RANDOM]), U(other[RANDOM])
    while True:
        mask = moves(agents[0], s)
        passes = none(mask)
        finished = passes and over(agents[0], s)
        if finished or length == slots.size:
            break
        if passes:
            slot = np.int64(PASS)
            s, same = turned(s), ZERO == ONE
        else:
            if length < opening.size and opening[length] != NO_MOVE:
                slot = np.int64(opening[length])
            else:
                chosen += 1
                by_second += player
                if ctx[KIND] == RANDOM_KIND:
                    word += STRIDE
                    slot = np.int64(nth(mask, below(word, U(count(mask)))))
                else:
                    slot = choose_and_time(ctx, s, side, player, results)
            s, same = play(ctx, s, U(slot))
        slots[U(length)] = slot
        game_id = (game_id ^ U(slot + 2)) * STRIDE
        length += 1
        if not same:
            player = 1 - player
            ctx, other, word, other_word = other, ctx, other_word, word
            # After a swap the other player moves for the same side of the board.
            side = side if slot == swap else 1 - side
    margin = final(agents[0], s)
    results[LENGTH] = length if finished else TOO_LONG
    results[MARGIN] = margin if player == 0 else -margin
    results[MOVES_CHOSEN] = chosen - by_second
    results[MOVES_CHOSEN + 1] = by_second
    results[GAME_ID] = np.int64(mixed(game_id))


def play_games(
    first: Context,
    second: Context,
    start: State,
    openings: NDArray[np.int16],
    seeds: NDArray[np.uint64],
    slots: NDArray[np.int16],
    results: NDArray[np.int64],
) -> int:
    """Play a game for each row and return the number of games that fit into `slots`.

    The loop stops at a game that is too long.
    """
    for game in range(openings.shape[0]):
        new_game(first, seeds[game, 0])
        new_game(second, seeds[game, 1])
        play_game((first, second), start, openings[game], slots[game], results[game])
        if results[game, LENGTH] == TOO_LONG:
            return game
    return openings.shape[0]


COMPILED = (new_game, choose_and_time, play_game, play_games)
INTERNAL = (choose_and_time, play_game)
