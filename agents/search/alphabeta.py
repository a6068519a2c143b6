"""Alpha-beta search with a transposition table, limits and ProbCut."""

import time
from typing import Any

import numpy as np
from numba import types

from agents.evaluation.features import call_evaluator
from agents.search.context import (
    BUDGET,
    CHECK_AT,
    CLOCK,
    CUT_WORDS,
    CUTS,
    DEADLINE,
    DEEPER_DECIDE,
    DEEPEST_CUT,
    EVALUATOR,
    GUESSES,
    HIGHEST,
    NANOSECONDS,
    NODES,
    ORDER_AT,
    ORDER_PLIES,
    ORDER_WIDTH,
    PROBING,
    SHALLOWEST_CUT,
    SOLVE,
    STOPPED,
    UNIT,
    UNLIMITED,
    VALUED,
    WIN,
)
from agents.search.move_ordering import (
    FINISH_FROM,
    SORTED_FROM,
    evaluate,
    others,
    promising,
    remaining,
    urgency,
)
from agents.search.table import (
    AT_LEAST,
    AT_MOST,
    EXACTLY,
    answers_search,
    entry,
    entry_score,
    find_entry,
    slot_of,
    store_entry,
)
from games.kernels.bits import ONE, ZERO, Truth, U
from games.kernels.context import Context
from games.kernels.family import (
    Mask,
    State,
    except_highest,
    final,
    highest,
    key,
    moves,
    none,
    over,
    play,
    turned,
)
from games.kernels.jit import INTERPRETED, inline

MONOTONIC = int(getattr(time, "CLOCK_MONOTONIC", 1))
SECOND = 1_000_000_000
_clock_gettime: Any = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.CPointer(types.int64))
)
NODES_BETWEEN_LOOKS = 512
SLOT_BITS = 12
VALUED_FROM = 5  # from this depth the value of the child affects move ordering
SLOT_MASK = (1 << SLOT_BITS) - 1


def _python_clock(ctx: Context) -> np.int64:
    return np.int64(time.monotonic_ns())


@inline
def _kernel_clock(ctx: Context) -> np.int64:
    _clock_gettime(np.int32(MONOTONIC), ctx[CLOCK:].ctypes)
    return ctx[CLOCK] * SECOND + ctx[CLOCK + 1]


monotonic_ns = _python_clock if INTERPRETED else _kernel_clock


@inline
def start_counting(ctx: Context) -> None:
    """Reset the counters and limits of one move."""
    ctx[NODES] = 0
    ctx[STOPPED] = 0
    ctx[GUESSES] = 0
    ctx[PROBING] = 0
    ctx[CHECK_AT] = ctx[BUDGET]
    ctx[DEADLINE] = UNLIMITED
    if ctx[NANOSECONDS] != UNLIMITED:
        ctx[DEADLINE] = monotonic_ns(ctx) + ctx[NANOSECONDS]
        ctx[CHECK_AT] = min(ctx[BUDGET], NODES_BETWEEN_LOOKS)


@inline
def is_limit_reached(ctx: Context) -> Truth:
    """Return whether a limit is reached; called when the node count passes CHECK_AT."""
    if ctx[STOPPED] == 0:
        late = ctx[DEADLINE] != UNLIMITED and monotonic_ns(ctx) >= ctx[DEADLINE]
        if late or ctx[NODES] > ctx[BUDGET]:
            ctx[STOPPED] = 1
            ctx[CHECK_AT] = 0  # every later check stops immediately
        else:
            ctx[CHECK_AT] = min(ctx[BUDGET], ctx[NODES] + NODES_BETWEEN_LOOKS)
    return ctx[STOPPED] != 0


# ProbCut has three words per depth at CUTS: the shallow depth, or 0 for none, and the margins above
# and below the window, in thousandths. Margins are never negative, so a shallow search that cuts
# without a guess is a proof.


@inline
def _row(depth: np.int64) -> np.uint64:
    return U(CUTS) + U(CUT_WORDS) * U(depth - SHALLOWEST_CUT)


@inline
def can_probcut(ctx: Context, depth: np.int64, alpha: np.int64, beta: np.int64) -> Truth:
    """Return whether ProbCut may cut a node: a null-window node outside a shallow search.

    Searches to the end of the game are deeper than DEEPEST_CUT.
    """
    if depth < SHALLOWEST_CUT or depth > DEEPEST_CUT or beta - alpha != 1:
        return False
    return ctx[_row(depth)] != 0 and ctx[PROBING] == 0 and alpha > -WIN and beta < WIN


@inline
def begin_probcut(
    ctx: Context, depth: np.int64, alpha: np.int64, beta: np.int64
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Begin a ProbCut test and return the guesses, the shallow depth and both of its bounds.

    The caller restores the guesses if nothing is cut.
    """
    ctx[PROBING] = 1
    row = _row(depth)
    return ctx[GUESSES], ctx[row], alpha - ctx[row + ONE + ONE], beta + ctx[row + ONE]


def final_score(margin: np.int64) -> np.int64:
    """Return the score of a finished game, beyond every evaluation and monotonic in the margin."""
    if margin == 0:
        return np.int64(0)
    return WIN + UNIT * margin if margin > 0 else UNIT * margin - WIN


def leaf_value(ctx: Context, s: State) -> np.int64:
    """Return the value of a leaf; the value is exact if the game is over.

    All evaluations are called by address: a call costs less than the registers that an inlined
    evaluation takes from the surrounding loop.
    """
    if none(moves(ctx, s)) and over(ctx, s):
        return final_score(final(ctx, s))
    ctx[GUESSES] += 1
    return call_evaluator(ctx[EVALUATOR], ctx, s)


def position_value(ctx: Context, s: State) -> np.int64:
    """Return `leaf_value`, compiled separately for callers outside the inner loop."""
    return leaf_value(ctx, s)


def feature_sum(ctx: Context, s: State) -> np.int64:
    """Return the weighted sum of the features of a game."""
    return evaluate(ctx, s)


def last_ply(ctx: Context, s: State, mask: Mask, beta: np.int64) -> np.int64:
    """Return the value of a search to depth 1; its leaves are evaluated here to save calls."""
    best, evaluated = np.int64(-HIGHEST), 0
    while not none(mask):
        child, same = play(ctx, s, highest(mask))
        mask = except_highest(mask)
        value = leaf_value(ctx, child)
        evaluated += 1
        best = max(best, value if same else -value)
        if best >= beta:
            break
    ctx[NODES] += evaluated
    return best


def list_moves(ctx: Context, at: np.uint64, mask: Mask) -> np.uint64:
    """Write the moves of the mask at `at`, last move first, and return the number of moves."""
    length = ZERO
    while not none(mask):
        ctx[at + length] = np.int64(highest(mask))
        mask = except_highest(mask)
        length += ONE
    return length


def move_first(ctx: Context, at: np.uint64, length: np.uint64, slot: np.int64) -> None:
    """Move `slot` to the front of the list if it is there."""
    place = at
    while place < at + length:
        if ctx[place] & SLOT_MASK == slot:
            while place > at:
                ctx[place] = ctx[place - ONE]
                place -= ONE
            ctx[at] = slot
            break
        place += ONE


def sort_by_urgency(
    ctx: Context, s: State, at: np.uint64, length: np.uint64, depth: np.int64
) -> None:
    """Sort the list by urgency with an insertion sort, because lists are short.

    Far from the leaves the value of the child counts too, and each value counts as a node.
    """
    place, valued = at, ctx[VALUED] if VALUED_FROM <= depth < SOLVE else np.int64(0)
    if valued != 0:
        ctx[NODES] += np.int64(length)
    while place < at + length:
        slot = ctx[place]
        child, same = play(ctx, s, U(slot))
        worth = urgency(ctx, s, child, same)
        if valued != 0:
            value = call_evaluator(ctx[EVALUATOR], ctx, child)
            worth += valued * (value if same else -value) // UNIT
        item = (worth << SLOT_BITS) | slot
        hole = place
        while hole > at and ctx[hole - ONE] < item:
            ctx[hole] = ctx[hole - ONE]
            hole -= ONE
        ctx[hole] = item
        place += ONE


def order_moves(
    ctx: Context, s: State, mask: Mask, depth: np.int64, at: np.uint64, fact: np.int64
) -> np.uint64:
    """Write the ordered moves at `at` and return the number of moves.

    `fact` is the table entry of this position, or 0.
    """
    length = list_moves(ctx, at, mask)
    if depth >= SORTED_FROM:
        sort_by_urgency(ctx, s, at, length, depth)
    if fact != 0:
        move_first(ctx, at, length, slot_of(fact))
    return length


def solve_endgame(ctx: Context, s: State, alpha: np.int64, beta: np.int64) -> np.int64:
    """Return the exact value of a small endgame, without a table and without sorting."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and is_limit_reached(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    passed = none(mask)
    if passed:
        if over(ctx, s):
            return final_score(final(ctx, s))
        # Pass here, because a call would generate the same moves again.
        s, alpha, beta = turned(s), -beta, -alpha
        mask = moves(ctx, s)
    best = np.int64(-HIGHEST)
    first = promising(ctx, s, mask)
    later = others(mask, first)
    while not (none(first) and none(later)):
        if none(first):
            first, later = later, first
        child, same = play(ctx, s, highest(first))
        first = except_highest(first)
        if remaining(ctx, child) == 0:
            ctx[NODES] += 1
            value = final_score(final(ctx, child)) if same else -final_score(final(ctx, child))
        else:
            value = (
                solve_endgame(ctx, child, alpha, beta)
                if same
                else -solve_endgame(ctx, child, -beta, -alpha)
            )
        best = max(best, value)
        alpha = max(alpha, value)
        if alpha >= beta:
            break
    return -best if passed else best


def value_within(
    ctx: Context, s: State, depth: np.int64, ply: np.int64, alpha: np.int64, beta: np.int64
) -> np.int64:
    """Return the value for the mover after `depth` plies, exact between `alpha` and `beta`."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and is_limit_reached(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    if none(mask) and over(ctx, s):
        return final_score(final(ctx, s))
    # `solve_endgame` needs no move lists, so it can go deeper than they do.
    if depth == SOLVE and (ply >= ORDER_PLIES or remaining(ctx, s) <= FINISH_FROM):
        return solve_endgame(ctx, s, alpha, beta)
    if depth <= 0 or ply >= ORDER_PLIES:
        return position_value(ctx, s)
    if none(mask):
        return -value_within(ctx, turned(s), depth, ply + 1, -beta, -alpha)
    if depth == 1:
        return last_ply(ctx, s, mask, beta)
    word = key(s)
    place = entry(ctx, word)
    fact = find_entry(ctx, word, place)
    if fact != 0 and answers_search(fact, depth, alpha, beta, ctx[DEEPER_DECIDE] != 0):
        return entry_score(ctx, fact)
    if can_probcut(ctx, depth, alpha, beta):
        guesses, shallow, low, high = begin_probcut(ctx, depth, alpha, beta)
        above = value_within(ctx, s, shallow, ply, high - 1, high) >= high
        below = not above and value_within(ctx, s, shallow, ply, low, low + 1) <= low
        ctx[PROBING] = 0
        if above or below or ctx[STOPPED] != 0:
            return beta if above else alpha
        ctx[GUESSES], fact = guesses, find_entry(ctx, word, place)
    at = U(ctx[ORDER_AT]) + U(ORDER_WIDTH * ply)
    length = order_moves(ctx, s, mask, depth, at, fact)
    deeper = depth if depth == SOLVE else depth - 1
    guesses, floor = ctx[GUESSES], alpha
    best, best_slot = np.int64(-HIGHEST), np.int64(0)
    for i in range(length):
        slot = ctx[at + U(i)] & SLOT_MASK
        child, same = play(ctx, s, U(slot))
        # A null window first tests whether a later move beats the best so far.
        high = beta if i == ZERO else alpha + 1
        while True:
            if same:  # same side to move: sign and window stay
                value = value_within(ctx, child, deeper, ply + 1, alpha, high)
            else:
                value = -value_within(ctx, child, deeper, ply + 1, -high, -alpha)
            if high == beta or value <= alpha or value >= beta:
                break
            high = beta
        if ctx[STOPPED] != 0:
            return np.int64(0)
        if value > best:
            best, best_slot = value, slot
            alpha = max(alpha, value)
            if alpha >= beta:
                break
    bound = AT_LEAST if best >= beta else (EXACTLY if best > floor else AT_MOST)
    store_entry(ctx, word, place, best, depth, bound, ctx[GUESSES] == guesses, best_slot)
    return best


def search(
    ctx: Context, s: State, depth: np.int64, ply: np.int64, alpha: np.int64, beta: np.int64
) -> np.int64:
    """Search to `depth`; solve with a series of null-window searches (MTD(f)).

    The first window decides between win and loss. Each proof of one bound visits far fewer nodes
    than an exact search (Plaat, Schaeffer, Pijls, de Bruin 1996).
    """
    if depth != SOLVE:
        return value_within(ctx, s, depth, ply, alpha, beta)
    value, low, high = np.int64(0), alpha, beta
    while low < high and ctx[STOPPED] == 0:
        goal = max(min(value, high), low + 1)
        value = value_within(ctx, s, depth, ply, goal - 1, goal)
        if value >= goal:
            low = value
        else:
            high = value
    return value


def table_move(ctx: Context, s: State) -> np.int64:
    """Return the best move in the table, or -1; the table does not change."""
    word = key(s)
    fact = find_entry(ctx, word, entry(ctx, word))
    return slot_of(fact) if fact != 0 else np.int64(-1)


INLINED = (final_score, leaf_value, last_ply, list_moves, move_first, sort_by_urgency, order_moves)
COMPILED = (feature_sum, table_move, position_value, solve_endgame, value_within, search)
INTERNAL = (solve_endgame, search)
