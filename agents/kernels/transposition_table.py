"""The transposition table: an entry is two words, the salted key before what is known."""

import numpy as np

from agents.kernels.layout import GUESSES, SALT, TABLE_AT, TABLE_MASK
from games.kernels.bits import ONE, Truth, U
from games.kernels.context import Context
from games.kernels.jit import inlined

AT_MOST, AT_LEAST, EXACTLY = 1, 2, 3

# score << 32 | depth << 16 | solved << 15 | bound << 12 | slot
_SLOT, _BOUND, _SOLVED, _DEPTH, _SCORE = 0xFFF, 12, 15, 16, 32


@inlined
def entry(ctx: Context, key: np.uint64) -> np.uint64:
    """Where the entry of `key` stands; unsalted, so that games do not depend on their salt."""
    return U(ctx[TABLE_AT]) + (((key >> U(8)) & U(ctx[TABLE_MASK])) << ONE)


@inlined
def known(ctx: Context, key: np.uint64, at: np.uint64) -> np.int64:
    """What the table knows of this key, 0 for nothing."""
    return ctx[at + ONE] if ctx[at] == np.int64(key) ^ ctx[SALT] else np.int64(0)


@inlined
def remember(
    ctx: Context,
    key: np.uint64,
    at: np.uint64,
    score: np.int64,
    depth: np.int64,
    bound: int,
    solved: Truth,
    slot: np.int64,
) -> None:
    """Overwrite the entry, whatever it holds: games must not depend on earlier ones."""
    facts = (depth << _DEPTH) | (bound << _BOUND) | slot
    if solved:
        facts |= 1 << _SOLVED
    ctx[at] = np.int64(key) ^ ctx[SALT]
    ctx[at + ONE] = (score << _SCORE) | facts


@inlined
def score_of(fact: np.int64) -> np.int64:
    """The score or bound."""
    return fact >> _SCORE


@inlined
def depth_of(fact: np.int64) -> np.int64:
    """The depth it was searched to."""
    return (fact >> _DEPTH) & 0xFFFF


@inlined
def is_solved(fact: np.int64) -> Truth:
    """Whether it is exact: no evaluation enters it."""
    return (fact >> _SOLVED) & 1 == 1


@inlined
def bound_of(fact: np.int64) -> np.int64:
    """AT_MOST, AT_LEAST or EXACTLY."""
    return (fact >> _BOUND) & 3


@inlined
def slot_of(fact: np.int64) -> np.int64:
    """The best move found."""
    return fact & _SLOT


@inlined
def remembered(ctx: Context, fact: np.int64) -> np.int64:
    """The score of an entry that decides; one that is not solved rests on a guess."""
    if not is_solved(fact):
        ctx[GUESSES] += 1
    return score_of(fact)


@inlined
def decides(fact: np.int64, depth: np.int64, alpha: np.int64, beta: np.int64) -> Truth:
    """Whether the entry answers a search to `depth` in this window, exactly as it would.

    A deeper entry that rests on evaluations would answer another question; a
    solved one also holds at every greater depth.
    """
    if depth_of(fact) != depth and not (is_solved(fact) and depth_of(fact) < depth):
        return False
    bound, score = bound_of(fact), score_of(fact)
    if bound == EXACTLY:
        return True
    return score >= beta if bound == AT_LEAST else score <= alpha
