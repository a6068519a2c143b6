"""Choose a root move: policies, iterative deepening, ties."""

import numpy as np

from agents.search.alphabeta import position_value, search, start_counting
from agents.search.context import (
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
    NANOSECONDS,
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
    UNLIMITED,
    VALUE,
)
from agents.search.minimax import best_turn_end, minimax, minimax_by_turns, side_after
from agents.search.move_ordering import gain, hole_beans, remaining
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


def draw_below(ctx: Context, bound: np.int64 | int) -> np.int64:
    """Return a number below `bound` from the agent's random stream."""
    ctx[RANDOM] = np.int64(U(ctx[RANDOM]) + STRIDE)
    return np.int64(below(U(ctx[RANDOM]), U(bound)))


def draw_move(ctx: Context, mask: Mask) -> np.int64:
    """Return a random legal move."""
    return np.int64(nth(mask, U(draw_below(ctx, count(mask)))))


def list_in_board_order(ctx: Context, mask: Mask, side: int) -> int:
    """Write the root moves in board order, left to right, and return the number of moves.

    A swap comes last, because it is not on the board.
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


def policy_value(ctx: Context, s: State, slot: np.int64, place: int) -> np.int64:
    """Return the value of a move for a simple policy, which plays the highest value."""
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


def choose_by_policy(ctx: Context, s: State, side: int) -> np.int64:
    """Return the move of a simple policy; ties go to the first move or to a random one."""
    mask = moves(ctx, s)
    greedy = ctx[KIND] == GREEDY_KIND
    length = list_in_board_order(ctx, mask if greedy else plies(mask), side)
    at = ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES
    best, chosen, ties = np.int64(-HIGHEST), ctx[at], 1
    for place in range(length):
        value = policy_value(ctx, s, ctx[at + place], place)
        if value > best:
            best, chosen, ties = value, ctx[at + place], 1
        elif value == best:
            ties += 1
            if ctx[RANDOM_TIES] != 0 and draw_below(ctx, ties) == 0:
                chosen = ctx[at + place]
    ctx[VALUE] = best
    return chosen


FIRST_LOOK = 4  # plies searched before solving, for a first move and a move order


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
    """Return the value of a root move for the root's mover."""
    if ctx[KIND] == COLLAPSED_KIND:
        if same:
            child = best_turn_end(ctx, child, side)[0]
        return -minimax_by_turns(ctx, child, side_after(ctx, side, slot), depth)
    if ctx[KIND] == MINIMAX_KIND:
        value = minimax(ctx, child, depth)
        return value if same else -value
    if same:
        return search(ctx, child, depth, np.int64(1), alpha, beta)
    return -search(ctx, child, depth, np.int64(1), -beta, -alpha)


def search_root(ctx: Context, s: State, side: int, length: int, depth: np.int64) -> Truth:
    """Search the listed moves to `depth`; return False if a limit came first.

    Sets BEST and VALUE. The best move of the previous depth is searched first, so a better move
    counts even if a limit comes later. Ties go to the first move on the board, independently of the
    search order: a move that comes earlier on the board replaces a best move of the same value.
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
        random_ties = ctx[RANDOM_TIES] != 0
        alpha = best - 1 if i > 0 and (random_ties or place < best_place) else best
        beta = np.int64(HIGHEST) if i == 0 else alpha + 1
        value = child_value(ctx, child, same, side, slot, deeper, alpha, beta)
        if i > 0 and value > alpha and ctx[KIND] == ALPHABETA_KIND and ctx[STOPPED] == 0:
            value = child_value(ctx, child, same, side, slot, deeper, alpha, np.int64(HIGHEST))
        if ctx[STOPPED] != 0:
            return False
        ties = ties + 1 if value == best else (1 if value > best else ties)
        equal = value == best and (draw_below(ctx, ties) == 0 if random_ties else alpha < best)
        if value > best or equal:
            best, best_place = value, place
            if i > 0 or ctx[REACHED] == 0:
                ctx[BEST], ctx[VALUE] = slot, best
    ctx[BEST], ctx[VALUE] = ctx[at + best_place], best
    return True


def search_iteratively(ctx: Context, s: State, side: int) -> np.int64:
    """Return the move found by iterative deepening."""
    start_counting(ctx)
    length = list_in_board_order(ctx, moves(ctx, s), side)
    ctx[BEST] = ctx[ctx[ORDER_AT] + ORDER_WIDTH * ORDER_PLIES]
    ctx[VALUE] = position_value(ctx, s)
    ctx[REACHED] = 0
    ctx[EXACT] = 0
    deepest = min(ctx[DEPTH], np.int64(DEEPEST))
    # A search that the clock may stop has the move of its last finished depth.
    clocked = ctx[DEPTH] > DEEPEST or ctx[NANOSECONDS] != UNLIMITED
    stepwise = ctx[KIND] == ALPHABETA_KIND or clocked
    depth = np.int64(1) if stepwise else deepest
    solving = remaining(ctx, s) <= ctx[ENDGAME]
    while depth <= deepest or depth == SOLVE:
        if solving and depth > min(FIRST_LOOK, deepest):
            depth = np.int64(SOLVE)
        guesses = ctx[GUESSES]
        if not search_root(ctx, s, side, length, depth):
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


def choose_after_pass(ctx: Context, s: State, side: int) -> None:
    """Set the value of a forced pass to that of the reply; a pass costs no depth."""
    if ctx[KIND] >= MINIMAX_KIND:
        search_iteratively(ctx, turned(s), 1 - side)
        ctx[BEST], ctx[VALUE] = PASS, -ctx[VALUE]


def choose(ctx: Context, s: State, side: int) -> np.int64:
    """Return the slot of the agent's move for `side`; the game must not be over."""
    ctx[NODES] = 0
    ctx[REACHED] = NOT_SEARCHED
    # A new salt empties the table: a move must depend on the position and the random stream alone.
    ctx[SALT] = np.int64(mixed(U(ctx[SALT]) + STRIDE))
    kind = ctx[KIND]
    mask = moves(ctx, s)
    if none(mask):
        choose_after_pass(ctx, s, side)
        return np.int64(PASS)
    at_random = ctx[EPSILON] > 0 and draw_below(ctx, np.int64(1 << 32)) < ctx[EPSILON]
    if kind == RANDOM_KIND or at_random:
        return draw_move(ctx, mask)
    if kind >= MINIMAX_KIND:
        return search_iteratively(ctx, s, side)
    return choose_by_policy(ctx, s, side)


INLINED = (draw_below, draw_move, policy_value)
INTERNAL = (
    list_in_board_order,
    choose_by_policy,
    child_value,  # Python calls it only to explain a move
    search_root,
    search_iteratively,
    choose_after_pass,
)
COMPILED = (*INTERNAL, choose)
