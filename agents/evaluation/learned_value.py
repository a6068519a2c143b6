"""The compiled evaluation by learned tables."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from agents.evaluation.features import evaluation_address
from agents.evaluation.weights import load_learned_weights
from agents.search.bind import bind_features
from agents.search.context import EVALUATOR, UNIT, WIN
from agents.search.move_ordering import remaining
from games import Game
from games.base.text import GameError, join_names, quote
from games.kernels.bits import U
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import Scope, inline, inline_copies, specialise
from games.learned_block import (
    LEARNED,
    MOST_REMAINING,
    append_tables,
    phase_of,
    ternary,
    unfold_weights,
    weight_at,
)
from games.learned_tables import TableKind, TableLayout

SCALE_BITS = 8  # a weight of 256 is worth one disc or bean
SCALE = 1 << SCALE_BITS
ROUNDING = SCALE // 2  # unlike HALF, not a name that families define
LAST = np.int64(MOST_REMAINING - 1)


def table_kinds(game: Game) -> Mapping[str, str]:
    """Return the kinds of tables of the game's package: names and modules."""
    kinds: Mapping[str, str] = game.load_part("tables").TABLES if game.has_part("tables") else {}
    return kinds


def find_tables(game: Game, kind: str) -> TableKind:
    """Return the tables of this kind; the GameError for an unknown kind lists the known ones."""
    known = table_kinds(game)
    if kind not in known:
        names = join_names(known) or "none"
        raise GameError(f"{game.name} has no tables {quote(kind)} (there are {names})")
    return _load_tables(known[kind])


@cache
def _load_tables(module: str) -> TableKind:
    return TableKind(import_module(module))


def base_value(rules: Context, position: State) -> np.int64:
    """Return the part of the value that needs no table; bound for each kind of tables."""
    raise NotImplementedError


def lookups(rules: Context, position: State, base: np.int64) -> np.int64:
    """Return the sum of all table entries of a position; bound for each layout."""
    raise NotImplementedError


def table_value(ctx: Context, s: State) -> np.int64:
    """Return the score of a position for its mover, in thousandths."""
    base = ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))]
    total = lookups(ctx, s, base)
    value = base_value(ctx, s) * UNIT + ((total * UNIT + ROUNDING) >> SCALE_BITS)
    return max(min(value, np.int64(WIN - 1)), np.int64(1 - WIN))


def bind_lookups(family: str, tables: TableKind, layout: TableLayout, look: object) -> Scope:
    """Return the names that kernels of a layout need, with `look` bound in `lookups`."""
    names = bind_features(family) | {"look": look, "ternary": inline(ternary)}
    names |= inline_copies([tables.known_score], names)
    (bound,) = inline_copies([tables.lookups(layout)], names).values()
    return names | {"lookups": bound, "base_value": names["known_score"]}


@cache
def table_kernels(family: str, tables: TableKind, layout: TableLayout) -> SimpleNamespace:
    """Return the compiled evaluation of a layout."""
    names = bind_lookups(family, tables, layout, inline(weight_at))
    suffix = f"{import_module(family).FAMILY}_{layout.digest}"
    return specialise(suffix, (table_value,), **names)


def add_learned_weights(ctx: Context, path: Path, game: Game) -> Context:
    """Return the context with the weights of a file; each layout is compiled once."""
    learned, tables, layout = load_learned_weights(path, game)
    left = np.arange(MOST_REMAINING)
    phases = phase_of(left, learned.phases, learned.least, learned.most)
    weights = unfold_weights(learned.weights, tables.shared_entries(layout))
    longer = append_tables(ctx, layout.entries, phases, weights)
    evaluate = table_kernels(game.family_name, tables, layout).table_value
    longer[EVALUATOR] = evaluation_address(evaluate, longer, game.start().state)
    return longer
