"""The transposition table and its keys."""

from types import ModuleType

import numpy as np

from agents.search.context import GUESSES, SALT, TABLE_AT, TABLE_MASK
from games.kernels.bits import ONE, Truth, U
from games.kernels.boards import words_of
from games.kernels.context import Context
from games.kernels.jit import Kernel, Scope, inlined
from games.kernels.quad import Quad

# Above the bits that name a place in the table.
HIGH = U(0xFFFF_FF00_0000_0000)
FACTORS = (0xC2B2_AE3D_27D4_EB4F, 0x94D0_49BB_1331_11EB, 0xFF51_AFD7_ED55_8CCD)
BEGUN = U(0x1656_67B1_9E37_79F9)
AT_MOST, AT_LEAST, EXACTLY = 1, 2, 3
# score << 32 | depth << 16 | solved << 15 | bound << 12 | slot
_SLOT, _BOUND, _SOLVED, _DEPTH, _SCORE = 0xFFF, 12, 15, 16, 32


def table_key(family: ModuleType) -> Kernel:
    """The function from a state to its key, never 0; a line of code for each of its words.

    The first sum of `pair_key` is linear in two words, so all states with one certain difference
    share a key, and for packed rows there is one of few beans: seven more in the mover's pot, six
    fewer in a hole of the other side, one fewer in its pot. A search took the value of one for
    the other. Openings keep their keys, and positions their places.
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
    made: Kernel = inlined(scope["key"])
    return made


def _words(family: ModuleType) -> list[str]:
    """The words of a state, as code."""
    found = []
    for name, words in words_of(family.State):
        found += [f"s.{name}.{each}" for each in Quad._fields] if words > 1 else [f"s.{name}"]
    return found


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
def decides(
    fact: np.int64, depth: np.int64, alpha: np.int64, beta: np.int64, deeper: Truth
) -> Truth:
    """Whether the entry answers a search to `depth` in this window.

    A deeper entry that rests on evaluations answers only where `deeper` ones do: it is no worse,
    but not what a search to `depth` finds. A solved one also holds at every greater depth.
    """
    if depth_of(fact) < depth and not is_solved(fact):
        return False
    if depth_of(fact) > depth and not deeper:
        return False
    bound, score = bound_of(fact), score_of(fact)
    if bound == EXACTLY:
        return True
    return score >= beta if bound == AT_LEAST else score <= alpha
