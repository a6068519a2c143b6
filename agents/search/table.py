"""The transposition table and its keys."""

from types import ModuleType

import numpy as np

from agents.search.context import GUESSES, SALT, TABLE_AT, TABLE_MASK
from games.kernels.bits import ONE, Truth, U
from games.kernels.context import Context
from games.kernels.drivers import field_words
from games.kernels.jit import Kernel, Scope, inline
from games.kernels.quad import Quad

# The bits above those that select an entry.
HIGH = U(0xFFFF_FF00_0000_0000)
FACTORS = (0xC2B2_AE3D_27D4_EB4F, 0x94D0_49BB_1331_11EB, 0xFF51_AFD7_ED55_8CCD)
BEGUN = U(0x1656_67B1_9E37_79F9)
AT_MOST, AT_LEAST, EXACTLY = 1, 2, 3
# An entry has two words: the key, and a fact about the position, which is
# score << 32 | depth << 16 | solved << 15 | bound << 12 | slot.
_SLOT, _BOUND, _SOLVED, _DEPTH, _SCORE = 0xFFF, 12, 15, 16, 32


def bind_table_key(family: ModuleType) -> Kernel:
    """Return the function that maps a state to its key, which is never 0.

    The first sum of `pair_key` is linear in two words, so all pairs of states with one certain
    difference would share a key. For packed rows one such difference is small: seven beans more in
    the mover's pot, six fewer in an opponent's hole, one fewer in the opponent's pot. A search took
    the value of the wrong position. Mixing every word fixes this without changing the place of an
    entry.
    """
    body = ["more = BEGUN"]
    for place, word in enumerate(_words(family)):
        body.append(f"more = (more ^ {word}) * U({FACTORS[place % len(FACTORS)]})")
        body.append("more = more ^ (more >> U(29))")
    text = "\n    ".join(["def key(s):", *body, "return own_key(s) ^ (more * LAST & HIGH) | ONE"])
    scope: Scope = {
        "U": U, "ONE": ONE, "HIGH": HIGH, "BEGUN": BEGUN, "LAST": U(FACTORS[0]),
        "own_key": family.key,
    }  # fmt: skip
    exec(text, scope)
    made: Kernel = inline(scope["key"])
    return made


def _words(family: ModuleType) -> list[str]:
    expressions = []
    for name, words in field_words(family.State):
        expressions += [f"s.{name}.{word}" for word in Quad._fields] if words > 1 else [f"s.{name}"]
    return expressions


@inline
def entry(ctx: Context, key: np.uint64) -> np.uint64:
    """Return the index of the entry of `key`; it must not depend on the salt."""
    return U(ctx[TABLE_AT]) + (((key >> U(8)) & U(ctx[TABLE_MASK])) << ONE)


@inline
def find_entry(ctx: Context, key: np.uint64, at: np.uint64) -> np.int64:
    """Return the fact stored for this key, or 0."""
    return ctx[at + ONE] if ctx[at] == np.int64(key) ^ ctx[SALT] else np.int64(0)


@inline
def store_entry(
    ctx: Context,
    key: np.uint64,
    at: np.uint64,
    score: np.int64,
    depth: np.int64,
    bound: int,
    solved: Truth,
    slot: np.int64,
) -> None:
    """Overwrite the entry unconditionally: games must not depend on earlier games."""
    fact = (score << _SCORE) | (depth << _DEPTH) | (bound << _BOUND) | slot
    if solved:
        fact |= 1 << _SOLVED
    ctx[at] = np.int64(key) ^ ctx[SALT]
    ctx[at + ONE] = fact


@inline
def score_of(fact: np.int64) -> np.int64:
    """Return the score or bound."""
    return fact >> _SCORE


@inline
def depth_of(fact: np.int64) -> np.int64:
    """Return the search depth."""
    return (fact >> _DEPTH) & 0xFFFF


@inline
def is_exact(fact: np.int64) -> Truth:
    """Return whether the entry is exact: no evaluation contributed to it."""
    return (fact >> _SOLVED) & 1 == 1


@inline
def bound_of(fact: np.int64) -> np.int64:
    """Return AT_MOST, AT_LEAST or EXACTLY."""
    return (fact >> _BOUND) & 3


@inline
def slot_of(fact: np.int64) -> np.int64:
    """Return the best move."""
    return fact & _SLOT


@inline
def entry_score(ctx: Context, fact: np.int64) -> np.int64:
    """Return the score of an entry and count it as a guess unless it is solved."""
    if not is_exact(fact):
        ctx[GUESSES] += 1
    return score_of(fact)


@inline
def answers_search(
    fact: np.int64, depth: np.int64, alpha: np.int64, beta: np.int64, deeper: Truth
) -> Truth:
    """Return whether the entry answers a search to `depth` in this window.

    A deeper entry that depends on evaluations is used only if `deeper` is set: it is at least as
    good, but differs from the result of a search to `depth`. A solved entry is valid at every
    depth.
    """
    if depth_of(fact) < depth and not is_exact(fact):
        return False
    if depth_of(fact) > depth and not deeper:
        return False
    bound, score = bound_of(fact), score_of(fact)
    if bound == EXACTLY:
        return True
    return score >= beta if bound == AT_LEAST else score <= alpha
