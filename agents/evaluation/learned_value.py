"""The compiled evaluation by learned tables."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.features import address_of
from agents.evaluation.learned_weights import learned_for, unfolded
from agents.search.bind import bound_features
from agents.search.context import EVALUATOR, LEARNED, UNIT, WIN
from agents.search.knowledge_names import remaining
from games import Game
from games.base.text import GameError, listed, quote
from games.kernels.bits import U
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import Scope, inline_copies, inlined, specialise
from games.kernels.shorts import A_WORD, short_at
from games.learned_tables import LookedUp, TableLayout

# What begins at ctx[LEARNED]: for so many beans or empties the first entry of their phase, in
# shorts from the start of the context; the base-3 number of ten bits; the weights.
MOST_REMAINING = 1 << 10
TERNARY_SHORTS = 1 << 10
TERNARY_AT = MOST_REMAINING
WEIGHTS_AT = TERNARY_AT + TERNARY_SHORTS // A_WORD
SCALE_BITS = 8  # a weight of 256 is worth one disc or bean
SCALE = 1 << SCALE_BITS
ROUNDING = SCALE // 2  # no family has this name: those of the family come first
LAST = np.int64(MOST_REMAINING - 1)
Shorts = NDArray[np.int16]


def tables_of(of: Game) -> Mapping[str, str]:
    """The kinds of tables that the game's pack has, by name."""
    found: Mapping[str, str] = of.part("tables").TABLES if of.has("tables") else {}
    return found


def looked_up(of: Game, kind: str) -> LookedUp:
    """The tables of this kind; a GameError names those that there are."""
    known = tables_of(of)
    if kind not in known:
        names = listed(known) or "none"
        raise GameError(f"{of.name} has no tables {quote(kind)} (there are {names})")
    return _looked_up(known[kind])


@cache
def _looked_up(module: str) -> LookedUp:
    return LookedUp(import_module(module))


def known_value(rules: Context, position: State) -> np.int64:
    """What counts beside the tables; bound for each kind of them."""
    raise NotImplementedError


def lookups(rules: Context, position: State, base: np.int64) -> np.int64:
    """The sum of all that a position looks up; bound for each layout."""
    raise NotImplementedError


def learned_value(ctx: Context, s: State) -> np.int64:
    """The score of a position for its mover, in thousandths."""
    base = ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))]
    total = lookups(ctx, s, base)
    value = known_value(ctx, s) * UNIT + ((total * UNIT + ROUNDING) >> SCALE_BITS)
    return max(min(value, np.int64(WIN - 1)), np.int64(1 - WIN))


def weight_at(rules: Context, index: np.int64, place: np.int64 | int) -> np.int64:
    """`look` of a search: the weight itself."""
    return short_at(rules, index)


def ternary(rules: Context, squares: np.uint64) -> np.int64:
    """The base-3 number of some squares, from the table in the context."""
    return short_at(rules, A_WORD * (rules[LEARNED] + TERNARY_AT) + np.int64(squares))


def bound_lookups(family: str, tables: LookedUp, layout: TableLayout, look: object) -> Scope:
    """What kernels of a layout need: the names of the family, `lookups` with `look` bound."""
    names = bound_features(family) | {"look": look, "ternary": inlined(ternary)}
    names |= inline_copies([tables.known], names)
    (bound,) = inline_copies([tables.lookups(layout)], names).values()
    return names | {"lookups": bound, "known_value": names["known"]}


@cache
def learned_kernels(family: str, tables: LookedUp, layout: TableLayout) -> SimpleNamespace:
    """The compiled evaluation of a layout."""
    names = bound_lookups(family, tables, layout, inlined(weight_at))
    suffix = f"{import_module(family).FAMILY}_{layout.digest}"
    return specialise(suffix, (learned_value,), **names)


def ternary_numbers() -> Shorts:
    """For ten bits the number that has them as its digits in base 3."""
    bits = np.arange(TERNARY_SHORTS)[:, None] >> np.arange(10) & 1
    numbers: NDArray[np.int64] = bits @ 3 ** np.arange(10)
    return numbers.astype(np.int16)


def phase_of(left: NDArray[np.int64], phases: int, least: int, most: int) -> NDArray[np.int64]:
    """The phase of positions with so much left: equal shares from `least` to `most`."""
    share = (left - least) * phases // max(most - least + 1, 1)
    clipped: NDArray[np.int64] = np.clip(share, 0, phases - 1)
    return clipped


def with_block(
    ctx: Context, entries: int, phases: NDArray[np.int64], weights: Shorts | None
) -> Context:
    """A copy of the context with the words that learned tables need at its end.

    `phases` are the phases by how much is left; without weights there is only their place.
    """
    at = len(ctx)
    count = 0 if weights is None else len(weights)
    longer = np.zeros(at + WEIGHTS_AT + -(-count // A_WORD), np.int64)
    longer[:at] = ctx
    longer[LEARNED] = at
    first = 0 if weights is None else A_WORD * (at + WEIGHTS_AT)
    longer[at : at + MOST_REMAINING] = first + entries * phases
    shorts = longer.view(np.int16)
    shorts[A_WORD * (at + TERNARY_AT) :][:TERNARY_SHORTS] = ternary_numbers()
    if weights is not None:
        shorts[first : first + count] = weights
    return longer


def with_learned(ctx: Context, path: Path, of: Game) -> Context:
    """The context with the weights of a file; one compiled evaluation serves all of a layout."""
    read, tables, layout = learned_for(path, of)
    left = np.arange(MOST_REMAINING)
    phases = phase_of(left, read.phases, read.least, read.most)
    weights = unfolded(read.weights, tables.same(layout))
    longer = with_block(ctx, layout.entries, phases, weights)
    evaluate = learned_kernels(of.family_name, tables, layout).learned_value
    longer[EVALUATOR] = address_of(evaluate, longer, of.start().state)
    return longer
