"""Making the context of one agent: the array that holds all that its kernels need."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from agents.kernels.layout import (
    BUDGET,
    CUT_WORDS,
    CUTS,
    DEEPEST_CUT,
    DEPTH,
    ENDGAME,
    EPSILON,
    KIND,
    KINDS,
    MOST_FEATURES,
    MOST_PHASES,
    NANOSECONDS,
    NO_SLOT,
    ORDER_AT,
    ORDER_PLIES,
    ORDER_WIDTH,
    PHASES,
    RANDOM_TIES,
    SHALLOWEST_CUT,
    SWAP_SLOT,
    TABLE_AT,
    TABLE_MASK,
    TIES_BY_SIDE,
    UNIT,
    UNLIMITED,
    WEIGHTS,
)
from games import Game
from games.kernels.context import Context

NO_ENDGAME = -1
ANY = 1 << 32


def agent_context(of: Game, kind: str, ties_by_side: int, table_bits: int) -> Context:
    """A context without limits or weights; its table has 2 ** `table_bits` entries."""
    rules = of.context
    order_at = len(rules)
    table_at = order_at + ORDER_WIDTH * (ORDER_PLIES + 1)
    ctx = np.zeros(table_at + (2 << table_bits), np.int64)
    ctx[: len(rules)] = rules
    ctx[KIND] = KINDS.index(kind)
    ctx[DEPTH] = ctx[BUDGET] = ctx[NANOSECONDS] = UNLIMITED
    ctx[ENDGAME] = NO_ENDGAME
    ctx[ORDER_AT] = order_at
    ctx[TABLE_AT] = table_at
    ctx[TABLE_MASK] = (1 << table_bits) - 1
    ctx[TIES_BY_SIDE] = ties_by_side
    ctx[PHASES] = 1
    ctx[SWAP_SLOT] = NO_SLOT if of.swap_move is None else of.slots_of(of.swap_move)
    return ctx


def set_limits(ctx: Context, depth: int | None, nodes: int | None, seconds: float | None) -> None:
    """How long the agent may think about one move."""
    ctx[DEPTH] = UNLIMITED if depth is None else depth
    ctx[BUDGET] = UNLIMITED if nodes is None else nodes
    ctx[NANOSECONDS] = UNLIMITED if seconds is None else int(seconds * 1e9)


def set_cuts(ctx: Context, searches: Iterable[tuple[int, int, float, float]]) -> None:
    """Which searches may answer for which, with the points they must be above and below."""
    ctx[CUTS : CUTS + CUT_WORDS * (DEEPEST_CUT - SHALLOWEST_CUT + 1)] = 0
    for depth, shallow, above, below in searches:
        place = CUTS + CUT_WORDS * (depth - SHALLOWEST_CUT)
        ctx[place : place + CUT_WORDS] = shallow, round(above * UNIT), round(below * UNIT)


def set_noise(ctx: Context, epsilon: float, random_ties: bool) -> None:
    """The share of moves played at random, and whether one of several equal moves is too."""
    ctx[EPSILON] = round(epsilon * ANY)
    ctx[RANDOM_TIES] = random_ties


def with_own_weights(ctx: Context, count: int) -> Context:
    """A copy of the context with room for the weights of a user's evaluation at its end."""
    return np.concatenate([ctx, np.zeros(count, np.int64)])


def set_own_weights(ctx: Context, values: Sequence[float]) -> None:
    """Write the weights of a user's evaluation, in thousandths, at the end of the context."""
    ctx[len(ctx) - len(values) :] = [round(value * UNIT) for value in values]


def set_weights(ctx: Context, names: Sequence[str], weights: Mapping[str, Sequence[float]]) -> None:
    """Write the weights, in thousandths; several values are for equal shares of the game."""
    phases = max((len(values) for values in weights.values()), default=1)
    ctx[PHASES] = phases
    ctx[WEIGHTS : WEIGHTS + MOST_FEATURES * MOST_PHASES] = 0
    for name, values in weights.items():
        place = WEIGHTS + list(names).index(name)
        for phase in range(phases):
            value = values[phase * len(values) // phases]
            ctx[place + phase * MOST_FEATURES] = round(value * UNIT)
