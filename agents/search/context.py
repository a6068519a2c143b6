"""Layout and setters of the array that one agent searches with."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from games import Game
from games.kernels.context import COUNTERS, Context

(
    KIND,  # the policy or search: an index of KINDS
    DEPTH,  # plies, or UNLIMITED
    BUDGET,  # nodes per move, or UNLIMITED
    NANOSECONDS,  # time per move, or UNLIMITED
    ENDGAME,  # the units left at which the game is solved to the end
    RANDOM_TIES,  # 1: ties at the root are broken at random
    EPSILON,  # share of random moves, in parts of 2**32
    EVALUATOR,  # address of the compiled evaluation
    TABLE_AT,  # where the transposition table begins
    TABLE_MASK,  # its number of entries minus one
    ORDER_AT,  # where the move lists begin, ORDER_WIDTH words per ply
    PHASES,  # number of game phases with separate weights
    TIES_BY_SIDE,  # 1: ties follow the numbers on the board, which run backwards for side 1
    NODES,  # positions visited in this move
    CHECK_AT,  # node count at which limits are checked again
    STOPPED,  # 1 once a limit was reached
    DEADLINE,  # monotonic nanoseconds, or UNLIMITED
    GUESSES,  # evaluations, and table hits that depend on one
    RANDOM,  # state of the agent's random stream in this game
    SALT,  # invalidates table entries of earlier moves
    BEST,  # the move found
    VALUE,  # its value
    REACHED,  # the last finished depth
    EXACT,  # 1 if the value depends on no evaluation
    SWAP_SLOT,  # the slot of the swap, or NO_SLOT
    CLOCK,  # two words for the clock
    _,
    INDICES,  # where a fit lists the table entries of a position
    PROBING,  # 1 inside a shallow search that may cut a node
    DEEPER_DECIDE,  # 1: entries of deeper searches answer shallower ones
    VALUED,  # urgency per point of a child's value; 0: children are not evaluated
) = range(COUNTERS, COUNTERS + 31)
# ProbCut: one row per depth, see alphabeta.py.
CUTS, CUT_WORDS = 64, 3
SHALLOWEST_CUT, DEEPEST_CUT = 3, 12
NO_SLOT = -2
NOT_SEARCHED = -1
WEIGHTS = 96
MOST_FEATURES = 16
MOST_PHASES = 8
ORDER_WIDTH = 256
ORDER_PLIES = 192
UNLIMITED = 1 << 62
SOLVE = 200  # a depth that never runs out
DEEPEST = 120
# Scores are integer thousandths of an evaluation; finished games are beyond all evaluations.
UNIT = 1000
WIN = 1_000_000_000
HIGHEST = 2_000_000_000
KINDS = (
    "random",
    "first",
    "last",
    "nearest_pot",
    "fewest",
    "greedy",
    "minimax",
    "collapsed",
    "alphabeta",
)
(
    RANDOM_KIND,
    FIRST_KIND,
    LAST_KIND,
    NEAREST_KIND,
    FEWEST_KIND,
    GREEDY_KIND,
    MINIMAX_KIND,
    COLLAPSED_KIND,
    ALPHABETA_KIND,
) = range(len(KINDS))
NO_ENDGAME = -1
WHOLE = 1 << 32


def new_agent_context(game: Game, kind: str, ties_by_side: int, table_bits: int) -> Context:
    """Return a context without limits or weights; its table has 2 ** `table_bits` entries."""
    rules = game.context
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
    ctx[SWAP_SLOT] = NO_SLOT if game.swap_move is None else game.slots_of(game.swap_move)
    return ctx


def set_limits(ctx: Context, depth: int | None, nodes: int | None, seconds: float | None) -> None:
    """Set the limits of one move."""
    ctx[DEPTH] = UNLIMITED if depth is None else depth
    ctx[DEEPER_DECIDE] = depth is None  # a search to a depth must not use deeper results
    ctx[BUDGET] = UNLIMITED if nodes is None else nodes
    ctx[NANOSECONDS] = UNLIMITED if seconds is None else int(seconds * 1e9)


def set_cuts(ctx: Context, searches: Iterable[tuple[int, int, float, float]]) -> None:
    """Set the depths, shallow depths and margins of ProbCut."""
    ctx[CUTS : CUTS + CUT_WORDS * (DEEPEST_CUT - SHALLOWEST_CUT + 1)] = 0
    for depth, shallow, above, below in searches:
        place = CUTS + CUT_WORDS * (depth - SHALLOWEST_CUT)
        ctx[place : place + CUT_WORDS] = shallow, round(above * UNIT), round(below * UNIT)


def set_noise(ctx: Context, epsilon: float, random_ties: bool) -> None:
    """Set the share of random moves and whether ties are broken at random."""
    ctx[EPSILON] = round(epsilon * WHOLE)
    ctx[RANDOM_TIES] = random_ties


def add_user_weights(ctx: Context, count: int) -> Context:
    """Return a copy with `count` more words for the weights of a user's evaluation."""
    return np.concatenate([ctx, np.zeros(count, np.int64)])


def set_user_weights(ctx: Context, values: Sequence[float]) -> None:
    """Write the weights of a user's evaluation, in thousandths, at the end of the context."""
    ctx[len(ctx) - len(values) :] = [round(value * UNIT) for value in values]


def set_weights(ctx: Context, names: Sequence[str], weights: Mapping[str, Sequence[float]]) -> None:
    """Write the weights in thousandths; several values of a weight split the game into phases."""
    phases = max((len(values) for values in weights.values()), default=1)
    ctx[PHASES] = phases
    ctx[WEIGHTS : WEIGHTS + MOST_FEATURES * MOST_PHASES] = 0
    for name, values in weights.items():
        place = WEIGHTS + list(names).index(name)
        for phase in range(phases):
            value = values[phase * len(values) // phases]
            ctx[place + phase * MOST_FEATURES] = round(value * UNIT)
