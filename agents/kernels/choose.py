"""Choosing one move: by a simple policy, or at the root of a search."""

import numpy as np

from agents.kernels.alphabeta_search import search, standing
from agents.kernels.knowledge_names import gain, hole_beans, remaining
from agents.kernels.layout import (
    ALPHABETA_KIND,
    BEST,
    COLLAPSED_KIND,
    DEEPEST,
    DEPTH,
    ENDGAME,
    EPSILON,
    EXACT,
    FEWEST_KIND,
    GREEDY_KIND,
    GUESSES,
    HIGHEST,
    KIND,
    LAST_KIND,
    MINIMAX_KIND,
    NEAREST_KIND,
    NODES,
    NOT_SEARCHED,
    ORDER_AT,
    ORDER_PLIES,
    ORDER_WIDTH,
    RANDOM,
    RANDOM_KIND,
    RANDOM_TIES,
    REACHED,
    SALT,
    SOLVE,
    STOPPED,
    TIES_BY_SIDE,
    VALUE,
)
from agents.kernels.limits import begin
from agents.kernels.minimax_search import collapsed, minimax, side_after, turn_end
from games.kernels.bits import Truth, U
from games.kernels.context import PASS, Context
from games.kernels.family import (
    Mask,
    State,
    count,
    lowest,
    moves,
    none,
    nth,
    play,
    plies,
    rest,
    turned,
)
from games.kernels.splitmix import STRIDE
from games.kernels.streams import below, mixed

FIRST_LOOK = 4  # plies searched before an endgame is solved, to have a move and an order


def draw(ctx: Context, bound: np.int64 | int) -> np.int64:
    """A number below `bound` from the agent's own stream."""
    ctx[RANDOM] = np.int64(U(ctx[RANDOM]) + STRIDE)
    return np.int64(below(U(ctx[RANDOM]), U(bound)))


def drawn(ctx: Context, mask: Mask) -> np.int64:
    """A random legal move."""
    return np.int64(nth(mask, U(draw(ctx, count(mask)))))


def board_order(ctx: Context, mask: Mask, side: int) -> int:
    """List the moves at the root in the order of the board, left to right; returns how many.

    A swap is not on the board and comes last.
    """
    at, length = ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES, 0
    sowings = count(plies(mask))
    while not none(mask):
        ctx[at + length] = np.int64(lowest(mask))
        mask = rest(mask)
        length += 1
    if ctx[TIES_BY_SIDE] != 0 and side == 1:
        last = at + sowings - 1
        for i in range(sowings // 2):
            mirrored = ctx[last - i]
            ctx[last - i] = ctx[at + i]
            ctx[at + i] = mirrored
    return length


def simple_value(ctx: Context, s: State, slot: np.int64, place: int) -> np.int64:
    """The value of a move to the agent's simple policy, which plays the highest."""
    kind = ctx[KIND]
    if kind == LAST_KIND:
        return np.int64(place)
    if kind == NEAREST_KIND:
        return slot
    if kind == FEWEST_KIND:
        return -hole_beans(ctx, s, U(slot))
    if kind == GREEDY_KIND:
        child, same = play(ctx, s, U(slot))
        return np.int64(gain(ctx, s, child, same))
    return np.int64(-place)


def by_policy(ctx: Context, s: State, side: int) -> np.int64:
    """The move of a simple policy; ties go to the first on the board, or to a random one."""
    mask = moves(ctx, s)
    greedy = ctx[KIND] == GREEDY_KIND
    length = board_order(ctx, mask if greedy else plies(mask), side)
    at = ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES
    best, chosen, ties = np.int64(-HIGHEST), ctx[at], 1
    for place in range(length):
        value = simple_value(ctx, s, ctx[at + place], place)
        if value > best:
            best, chosen, ties = value, ctx[at + place], 1
        elif value == best:
            ties += 1
            if ctx[RANDOM_TIES] != 0 and draw(ctx, ties) == 0:
                chosen = ctx[at + place]
    ctx[VALUE] = best
    return chosen


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
            if ctx[REACHED] == 0:
                ctx[BEST] = slot
                ctx[VALUE] = best
    ctx[BEST] = ctx[at + best_place]
    ctx[VALUE] = best
    return True


def deepen(ctx: Context, s: State, side: int) -> np.int64:
    """The move of a search: depth by depth up to a limit; the last finished depth decides."""
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


def choose_behind_pass(ctx: Context, s: State, side: int) -> None:
    """Value a forced pass by the reply to it; a pass costs no depth."""
    if ctx[KIND] >= MINIMAX_KIND:
        deepen(ctx, turned(s), 1 - side)
        ctx[BEST], ctx[VALUE] = PASS, -ctx[VALUE]


def choose(ctx: Context, s: State, side: int) -> np.int64:
    """The slot of the agent's move for `side` of the board; the game must not be over."""
    ctx[NODES] = 0
    ctx[REACHED] = NOT_SEARCHED
    # The table forgets: a move is a function of the position and the stream, not of the game.
    ctx[SALT] = np.int64(mixed(U(ctx[SALT]) + STRIDE))
    kind = ctx[KIND]
    mask = moves(ctx, s)
    if none(mask):
        choose_behind_pass(ctx, s, side)
        return np.int64(PASS)
    strays = ctx[EPSILON] > 0 and draw(ctx, np.int64(1 << 32)) < ctx[EPSILON]
    if kind == RANDOM_KIND or strays:
        return drawn(ctx, mask)
    if kind >= MINIMAX_KIND:
        return deepen(ctx, s, side)
    return by_policy(ctx, s, side)


INLINED = (draw, drawn, simple_value)
COMPILED = (board_order, child_value, by_policy, root, deepen, choose_behind_pass, choose)
PASSAGES = COMPILED[:-1]  # Python asks for `choose`; for `child_value`, to explain a move
