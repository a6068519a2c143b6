"""The compiled evaluation by learned tables."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from agents.evaluation.features import address_of
from agents.evaluation.learned_weights import learned_for
from agents.search.bind import bound_features
from agents.search.context import EVALUATOR, UNIT, WIN
from agents.search.knowledge_names import remaining
from games import Game
from games.base.text import GameError, listed, quote
from games.kernels.bits import U
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import Scope, inline_copies, inlined, specialise
from games.learned_block import (
    LEARNED,
    MOST_REMAINING,
    phase_of,
    ternary,
    unfolded,
    weight_at,
    with_block,
)
from games.learned_tables import LookedUp, TableLayout

SCALE_BITS = 8  # a weight of 256 is worth one disc or bean
SCALE = 1 << SCALE_BITS
ROUNDING = SCALE // 2  # no family has this name: those of the family come first
LAST = np.int64(MOST_REMAINING - 1)


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
