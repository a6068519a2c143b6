"""The search of a root: its moves depth by depth, until a limit comes."""

import numpy as np

from agents.search.alphabeta import begin, search, standing
from agents.search.context import (
    ALPHABETA_KIND,
    BEST,
    COLLAPSED_KIND,
    DEEPEST,
    DEPTH,
    ENDGAME,
    EXACT,
    GUESSES,
    HIGHEST,
    KIND,
    MINIMAX_KIND,
    ORDER_AT,
    ORDER_PLIES,
    ORDER_WIDTH,
    RANDOM_TIES,
    REACHED,
    SOLVE,
    STOPPED,
    VALUE,
)
from agents.search.knowledge_names import remaining
from agents.search.minimax import collapsed, minimax, side_after, turn_end
from agents.search.policies import board_order, draw
from games.kernels.bits import Truth, U
from games.kernels.context import Context
from games.kernels.family import State, moves, play

FIRST_LOOK = 4  # plies searched before an endgame is solved, to have a move and an order


def child_value(
    ctx: Context,
    child: State,
    same: Truth,
    side: int,
    slot: np.int64,
    depth: np.int64,
    alpha: np.int64,
    beta: np.int64,
) -> np.int64:
    """The value of a root move for the root's mover, by the agent's own search."""
    if ctx[KIND] == COLLAPSED_KIND:
        if same:
            child = turn_end(ctx, child, side)[0]
        return -collapsed(ctx, child, side_after(ctx, side, slot), depth)
    if ctx[KIND] == MINIMAX_KIND:
        value = minimax(ctx, child, depth)
        return value if same else -value
    if same:
        return search(ctx, child, depth, np.int64(1), alpha, beta)
    return -search(ctx, child, depth, np.int64(1), -beta, -alpha)


def root(ctx: Context, s: State, side: int, length: int, depth: np.int64) -> Truth:
    """Search the listed moves to `depth`; False if a limit came first. Sets BEST and VALUE.

    The best move so far is searched first, so a better one counts even if a limit comes later.

    The first move on the board wins ties in whatever order moves are searched:
    a move that stands before the best one also counts if it equals it.
    """
    at = ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES
    hint = np.int64(0)
    for i in range(length):
        if ctx[at + i] == ctx[BEST]:
            hint = np.int64(i)
    best, best_place, ties = np.int64(-HIGHEST), np.int64(-1), 1
    deeper = depth if depth == SOLVE else depth - 1
    for i in range(length):
        place = hint if i == 0 else np.int64(i - 1 if i <= hint else i)
        slot = ctx[at + place]
        child, same = play(ctx, s, U(slot))
        by_lot = ctx[RANDOM_TIES] != 0
        alpha = best - 1 if i > 0 and (by_lot or place < best_place) else best
        beta = np.int64(HIGHEST) if i == 0 else alpha + 1
        value = child_value(ctx, child, same, side, slot, deeper, alpha, beta)
        if i > 0 and value > alpha and ctx[KIND] == ALPHABETA_KIND and ctx[STOPPED] == 0:
            value = child_value(ctx, child, same, side, slot, deeper, alpha, np.int64(HIGHEST))
        if ctx[STOPPED] != 0:
            return False
        ties = ties + 1 if value == best else (1 if value > best else ties)
        equal = value == best and (draw(ctx, ties) == 0 if by_lot else alpha < best)
        if value > best or equal:
            best, best_place = value, place
            if i > 0 or ctx[REACHED] == 0:
                ctx[BEST], ctx[VALUE] = slot, best
    ctx[BEST], ctx[VALUE] = ctx[at + best_place], best
    return True


def deepen(ctx: Context, s: State, side: int) -> np.int64:
    """The move of a search: depth by depth up to a limit."""
    begin(ctx)
    length = board_order(ctx, moves(ctx, s), side)
    ctx[BEST] = ctx[ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES]
    ctx[VALUE] = standing(ctx, s)
    ctx[REACHED] = 0
    ctx[EXACT] = 0
    deepest = min(ctx[DEPTH], np.int64(DEEPEST))
    stepwise = ctx[KIND] == ALPHABETA_KIND or ctx[DEPTH] > DEEPEST
    depth = np.int64(1) if stepwise else deepest
    solving = remaining(ctx, s) <= ctx[ENDGAME]
    while depth <= deepest or depth == SOLVE:
        if solving and depth > min(FIRST_LOOK, deepest):
            depth = np.int64(SOLVE)
        guesses = ctx[GUESSES]
        if not root(ctx, s, side, length, depth):
            break
        ctx[REACHED] = depth
        if ctx[GUESSES] == guesses:
            ctx[EXACT] = 1
            break
        forced = length == 1 and ctx[DEPTH] > DEEPEST and not solving
        if depth == SOLVE or forced:
            break
        depth += 1
        if solving and depth > deepest:
            depth = np.int64(SOLVE)
    return ctx[BEST]


COMPILED = (child_value, root, deepen)
PASSAGES = COMPILED  # Python asks for `child_value` only to explain a move
