"""Alpha-beta with a transposition table, limits and ProbCut."""

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
from agents.search.knowledge_names import (
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
    decides,
    entry,
    known,
    remember,
    remembered,
    slot_of,
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
from games.kernels.jit import INTERPRETED, inlined

MONOTONIC = int(getattr(time, "CLOCK_MONOTONIC", 1))
SECOND = 1_000_000_000
_clock_gettime: Any = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.CPointer(types.int64))
)
NODES_BETWEEN_LOOKS = 512
SLOT_BITS = 12
VALUED_FROM = 5  # the depth from which moves are sorted by the value of the child, too
SLOT_MASK = (1 << SLOT_BITS) - 1


def _plain_now(ctx: Context) -> np.int64:
    return np.int64(time.monotonic_ns())


@inlined
def _compiled_now(ctx: Context) -> np.int64:
    _clock_gettime(np.int32(MONOTONIC), ctx[CLOCK:].ctypes)
    return ctx[CLOCK] * SECOND + ctx[CLOCK + 1]


now = _plain_now if INTERPRETED else _compiled_now


@inlined
def begin(ctx: Context) -> None:
    """Start counting one move."""
    ctx[NODES] = 0
    ctx[STOPPED] = 0
    ctx[GUESSES] = 0
    ctx[PROBING] = 0
    ctx[CHECK_AT] = ctx[BUDGET]
    ctx[DEADLINE] = UNLIMITED
    if ctx[NANOSECONDS] != UNLIMITED:
        ctx[DEADLINE] = now(ctx) + ctx[NANOSECONDS]
        ctx[CHECK_AT] = min(ctx[BUDGET], NODES_BETWEEN_LOOKS)


@inlined
def out_of_limits(ctx: Context) -> Truth:
    """Whether a limit is reached; called once the node count passes CHECK_AT."""
    if ctx[STOPPED] == 0:
        late = ctx[DEADLINE] != UNLIMITED and now(ctx) >= ctx[DEADLINE]
        if late or ctx[NODES] > ctx[BUDGET]:
            ctx[STOPPED] = 1
            ctx[CHECK_AT] = 0  # from here on every check stops at once
        else:
            ctx[CHECK_AT] = min(ctx[BUDGET], ctx[NODES] + NODES_BETWEEN_LOOKS)
    return ctx[STOPPED] != 0


# Of a depth three words stand at CUTS: the depth of the shallow search, 0 for none; how far it
# must be above the window, and how far below it, in thousandths and never less than 0. So a
# shallow search without a guess that cuts is a proof.


@inlined
def _row(depth: np.int64) -> np.uint64:
    return U(CUTS) + U(CUT_WORDS) * U(depth - SHALLOWEST_CUT)


@inlined
def may_cut(ctx: Context, depth: np.int64, alpha: np.int64, beta: np.int64) -> Truth:
    """Whether a node may be cut: one of a yes-or-no question, not inside a shallow search.

    Searches to the end of the game are deeper than any that is cut.
    """
    if depth < SHALLOWEST_CUT or depth > DEEPEST_CUT or beta - alpha != 1:
        return False
    return ctx[_row(depth)] != 0 and ctx[PROBING] == 0 and alpha > -WIN and beta < WIN


@inlined
def probe(
    ctx: Context, depth: np.int64, alpha: np.int64, beta: np.int64
) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Begin it: the guesses so far, how deep to look, what to fall below or else to reach.

    What cuts nothing has guessed nothing: the guesses so far are put back.
    """
    ctx[PROBING] = 1
    row = _row(depth)
    return ctx[GUESSES], ctx[row], alpha - ctx[row + ONE + ONE], beta + ctx[row + ONE]


def exact(margin: np.int64) -> np.int64:
    """The score of a finished game: beyond every evaluation, a larger margin farther."""
    if margin == 0:
        return np.int64(0)
    return WIN + UNIT * margin if margin > 0 else UNIT * margin - WIN


def leaf(ctx: Context, s: State) -> np.int64:
    """The value of a position at the end of the depth: exact if the game is over.

    Evaluations are called by address, built-in and user's own alike: a call costs less
    than the registers that an inlined evaluation takes from the loop around it.
    """
    if none(moves(ctx, s)) and over(ctx, s):
        return exact(final(ctx, s))
    ctx[GUESSES] += 1
    return call_evaluator(ctx[EVALUATOR], ctx, s)


def standing(ctx: Context, s: State) -> np.int64:
    """`leaf` as a function of its own, for where a call does not matter."""
    return leaf(ctx, s)


def weighted_features(ctx: Context, s: State) -> np.int64:
    """The built-in evaluation: the features of the game by the weights in the context."""
    return evaluate(ctx, s)


def last_ply(ctx: Context, s: State, mask: Mask, beta: np.int64) -> np.int64:
    """The value of a search to depth 1, its leaves valued here to save a call each."""
    best, looked = np.int64(-HIGHEST), 0
    while not none(mask):
        child, same = play(ctx, s, highest(mask))
        mask = except_highest(mask)
        value = leaf(ctx, child)
        looked += 1
        best = max(best, value if same else -value)
        if best >= beta:
            break
    ctx[NODES] += looked
    return best


def listed(ctx: Context, at: np.uint64, mask: Mask) -> np.uint64:
    """List the moves of the mask at `at`, last first; returns how many."""
    length = ZERO
    while not none(mask):
        ctx[at + length] = np.int64(highest(mask))
        mask = except_highest(mask)
        length += ONE
    return length


def move_first(ctx: Context, at: np.uint64, length: np.uint64, slot: np.int64) -> None:
    """Bring `slot` to the front of the list, if it is there."""
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
    """Sort the list so that urgent moves come first; insertion sort, lists are short.

    Far from the leaves the value of the child counts too; each value is a position looked at.
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
    """List the moves at `at`, those likely to be best first; returns how many.

    `fact` is what the table knows here, 0 for nothing.
    """
    length = listed(ctx, at, mask)
    if depth >= SORTED_FROM:
        sort_by_urgency(ctx, s, at, length, depth)
    if fact != 0:
        move_first(ctx, at, length, slot_of(fact))
    return length


def finish(ctx: Context, s: State, alpha: np.int64, beta: np.int64) -> np.int64:
    """The exact value when almost nothing is left: no table, no sorting."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and out_of_limits(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    passed = none(mask)
    if passed:
        if over(ctx, s):
            return exact(final(ctx, s))
        # The pass is made here: a call would generate the same moves again.
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
            value = exact(final(ctx, child)) if same else -exact(final(ctx, child))
        else:
            value = finish(ctx, child, alpha, beta) if same else -finish(ctx, child, -beta, -alpha)
        best = max(best, value)
        alpha = max(alpha, value)
        if alpha >= beta:
            break
    return -best if passed else best


def value_within(
    ctx: Context, s: State, depth: np.int64, ply: np.int64, alpha: np.int64, beta: np.int64
) -> np.int64:
    """The value for the mover after `depth` more plies, exact between `alpha` and `beta`."""
    ctx[NODES] += 1
    if ctx[NODES] > ctx[CHECK_AT] and out_of_limits(ctx):
        return np.int64(0)
    mask = moves(ctx, s)
    if none(mask) and over(ctx, s):
        return exact(final(ctx, s))
    # Where the move lists end, `finish` goes on: it needs none.
    if depth == SOLVE and (ply >= ORDER_PLIES or remaining(ctx, s) <= FINISH_FROM):
        return finish(ctx, s, alpha, beta)
    if depth <= 0 or ply >= ORDER_PLIES:
        return standing(ctx, s)
    if none(mask):
        return -value_within(ctx, turned(s), depth, ply + 1, -beta, -alpha)
    if depth == 1:
        return last_ply(ctx, s, mask, beta)
    word = key(s)
    place = entry(ctx, word)
    fact = known(ctx, word, place)
    if fact != 0 and decides(fact, depth, alpha, beta, ctx[DEEPER_DECIDE] != 0):
        return remembered(ctx, fact)
    if may_cut(ctx, depth, alpha, beta):
        guesses, shallow, low, high = probe(ctx, depth, alpha, beta)
        over_it = value_within(ctx, s, shallow, ply, high - 1, high) >= high
        under_it = not over_it and value_within(ctx, s, shallow, ply, low, low + 1) <= low
        ctx[PROBING] = 0
        if over_it or under_it or ctx[STOPPED] != 0:
            return beta if over_it else alpha
        ctx[GUESSES], fact = guesses, known(ctx, word, place)
    at = U(ctx[ORDER_AT]) + U(ORDER_WIDTH * ply)
    length = order_moves(ctx, s, mask, depth, at, fact)
    deeper = depth if depth == SOLVE else depth - 1
    guesses, floor = ctx[GUESSES], alpha
    best, best_slot = np.int64(-HIGHEST), np.int64(0)
    for i in range(length):
        slot = ctx[at + U(i)] & SLOT_MASK
        child, same = play(ctx, s, U(slot))
        # For later moves the first question is only whether they beat the best so far.
        high = beta if i == ZERO else alpha + 1
        while True:
            if same:  # the same side moves on: neither sign nor window change
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
    remember(ctx, word, place, best, depth, bound, ctx[GUESSES] == guesses, best_slot)
    return best


def search(
    ctx: Context, s: State, depth: np.int64, ply: np.int64, alpha: np.int64, beta: np.int64
) -> np.int64:
    """As `value_within`; to the end of the game by a series of yes-or-no questions.

    First "won or not?", then from the bound that came back. A tree that proves one
    bound is so much smaller that several of them cost less than one exact search
    (MTD(f): Plaat, Schaeffer, Pijls, de Bruin 1996).
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
    """The best move that the table knows here, -1 for none; changes nothing."""
    word = key(s)
    fact = known(ctx, word, entry(ctx, word))
    return slot_of(fact) if fact != 0 else np.int64(-1)


INLINED = (
    exact,
    leaf,
    last_ply,
    listed,
    move_first,
    sort_by_urgency,
    order_moves,
)
COMPILED = (weighted_features, table_move, standing, finish, value_within, search)
PASSAGES = (finish, search)
