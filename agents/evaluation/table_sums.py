"""Integer sums over table entries, for fitting weights."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from itertools import pairwise, starmap
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from agents.evaluation.features import call_evaluator
from agents.evaluation.learned_value import LAST, bound_lookups, known_value, lookups
from agents.evaluation.training_positions import Rows, unpacked
from agents.search.bind import bound_features
from agents.search.context import EVALUATOR, INDICES
from agents.search.knowledge_names import remaining
from games import Game
from games.kernels.bits import U
from games.kernels.boards import packing
from games.kernels.context import Context
from games.kernels.family import State
from games.kernels.jit import inlined, specialise
from games.learned_block import LEARNED, with_block
from games.learned_tables import LookedUp, TableLayout

Numbers = NDArray[np.int64]
LEAST_PART = 4096  # rows, below which a thread is not worth its sums


def listed_at(rules: Context, index: np.int64, place: int) -> np.int64:
    """`look` of a fit: the index goes to its place in the list."""
    rules[U(rules[INDICES] + place)] = index
    return np.int64(0)


def spread(
    ctx: Context, rows: Rows, labels: NDArray[np.int16], unit: int, count: int,
    values: Numbers, sums: Numbers,
) -> int:  # fmt: skip
    """To all that a row looks up, add its label in units less the sum of the values there."""
    at = U(ctx[INDICES])
    for row in range(labels.size):
        s = unpacked(rows[row])
        lookups(ctx, s, ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))])
        rest = np.int64(labels[row]) * unit
        for place in range(count):
            rest -= values[U(ctx[at + U(place)])]
        for place in range(count):
            sums[U(ctx[at + U(place)])] += rest
    return 0


def predict(ctx: Context, rows: Rows, count: int, values: Numbers, totals: Numbers) -> int:
    """For every row the sum of the values that it looks up."""
    at = U(ctx[INDICES])
    for row in range(totals.size):
        s = unpacked(rows[row])
        lookups(ctx, s, ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))])
        total = np.int64(0)
        for place in range(count):
            total += values[U(ctx[at + U(place)])]
        totals[row] = total
    return 0


def known_values(ctx: Context, rows: Rows, totals: Numbers) -> int:
    """For every row what counts beside the tables."""
    for row in range(totals.size):
        totals[row] = known_value(ctx, unpacked(rows[row]))
    return 0


def index_rows(ctx: Context, rows: Rows, count: int, found: NDArray[np.int32]) -> int:
    """Write what every row looks up; for those who want to see it."""
    at = U(ctx[INDICES])
    for row in range(found.shape[0]):
        s = unpacked(rows[row])
        lookups(ctx, s, ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))])
        for place in range(count):
            found[row, place] = ctx[at + U(place)]
    return 0


def evaluate_rows(ctx: Context, rows: Rows, totals: Numbers) -> int:
    """For every row the score of the evaluation that the context names."""
    for row in range(totals.size):
        totals[row] = call_evaluator(ctx[EVALUATOR], ctx, unpacked(rows[row]))
    return 0


def follow(
    values: Numbers, games: NDArray[np.int32], signs: NDArray[np.int8], share: int,
    returns: Numbers,
) -> int:  # fmt: skip
    """Overwrite each margin by the mixture of the values that follow it in its game.

    The temporal differences of Sutton (1988): of the value of the next position so many
    256ths as `share` leaves, of its mixture the rest. The last position of a game keeps its
    margin, which is exact. All in the same whole units, seen by the mover.
    """
    for row in range(values.size - 2, -1, -1):
        after = row + 1
        if games[row] == games[after]:
            ends = after + 1 == values.size or games[after + 1] != games[after]
            value = returns[after] if ends else values[after]
            mixed = ((256 - share) * value + share * returns[after]) >> 8
            returns[row] = mixed if signs[row] == signs[after] else -mixed
    return 0


def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The sum of the products, added up in order: the same on every machine."""
    total = 0.0
    for place in range(a.size):
        total += a[place] * b[place]
    return total


COMPILED = (spread, predict, known_values, index_rows)


@cache
def sum_kernels(family: str, tables: LookedUp, layout: TableLayout) -> SimpleNamespace:
    """The kernels of a layout."""
    module = import_module(family)
    names = bound_lookups(family, tables, layout, inlined(listed_at))
    names["unpacked"] = inlined(packing(module.State, 0)["unpacked"])
    return specialise(f"{module.FAMILY}_{layout.digest}", COMPILED, **names)


@cache
def row_kernels(family: str) -> SimpleNamespace:
    """The kernels that need no layout."""
    module = import_module(family)
    names = {"unpacked": inlined(packing(module.State, 0)["unpacked"])}
    return specialise(module.FAMILY, (evaluate_rows, follow, dot), **names)


class TableSums:
    """The sums of one layout, over rows in as many threads as there are workers."""

    def __init__(
        self, of: Game, tables: LookedUp, layout: TableLayout, phases: Numbers, workers: int
    ) -> None:
        """`phases` are the phases by how much is left."""
        self.layout, self.entries = layout, layout.entries * (int(phases.max()) + 1)
        self.kernels = sum_kernels(of.family_name, tables, layout)
        of_rows = row_kernels(of.family_name)
        self.dot, self.follow = of_rows.dot, of_rows.follow
        block = with_block(of.context, layout.entries, phases, None)
        self.contexts = [with_list(block, layout.lookups) for _ in range(workers)]
        same = np.asarray(tables.same(layout))
        firsts, self.place = np.unique(same, return_inverse=True)
        self.different = len(firsts)
        self.order = np.argsort(self.place, kind="stable")
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(self.place))[:-1]])

    def parts(self, rows: int) -> list[slice]:
        """Even parts of so many rows, one for each thread."""
        count = max(1, min(len(self.contexts), rows // LEAST_PART))
        ends = [rows * part // count for part in range(count + 1)]
        return list(starmap(slice, pairwise(ends)))

    def spread(self, rows: Rows, labels: NDArray[np.int16], unit: int, values: Numbers) -> Numbers:
        """`spread` over all rows; what shares a weight is added up: a number for each weight."""
        parts, whole = self.parts(len(rows)), self.unfolded(values)
        sums = [np.zeros(self.entries, np.int64) for _ in parts]

        def add(at: int) -> None:
            own = parts[at]
            self.kernels.spread(
                self.contexts[at], rows[own], labels[own], unit, self.layout.lookups, whole,
                sums[at],
            )  # fmt: skip

        self._each(add, len(parts))
        total = np.add.reduce(sums)
        phases = total.reshape(-1, self.layout.entries)[:, self.order]
        added: Numbers = np.add.reduceat(phases, self.ends, axis=1)
        return added.reshape(-1)

    def predict(self, rows: Rows, values: Numbers) -> Numbers:
        """`predict` over all rows."""
        parts, whole = self.parts(len(rows)), self.unfolded(values)
        totals = np.empty(len(rows), np.int64)

        def fill(at: int) -> None:
            own = parts[at]
            self.kernels.predict(
                self.contexts[at], rows[own], self.layout.lookups, whole, totals[own]
            )

        self._each(fill, len(parts))
        return totals

    def known(self, rows: Rows) -> Numbers:
        """What counts beside the tables."""
        totals = np.empty(len(rows), np.int64)
        self.kernels.known_values(self.contexts[0], rows, totals)
        return totals

    def unfolded(self, values: Numbers) -> Numbers:
        """A value for every entry from one for each weight."""
        whole: Numbers = np.ascontiguousarray(values.reshape(-1, self.different)[:, self.place])
        return whole.reshape(-1)

    def _each(self, work: Callable[[int], None], count: int) -> None:
        """Work on every part, each in a thread of its own."""
        if count == 1:
            work(0)
            return
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(work, range(count)))


def with_list(ctx: Context, lookups_made: int) -> Context:
    """The context with room for what one position looks up."""
    longer = np.concatenate([ctx, np.zeros(lookups_made, np.int64)])
    longer[INDICES] = len(ctx)
    return longer


def phases_of(ctx: Context, rows: Rows, phases: int, found: Numbers) -> int:
    """The phase of each row, by what the features of the game call progress."""
    for row in range(found.size):
        found[row] = progress(ctx, unpacked(rows[row]), phases)
    return 0


def progress(rules: Context, position: State, phases: int) -> int:
    """The phase of the game; bound for each family."""
    raise NotImplementedError


@cache
def phase_kernels(family: str) -> SimpleNamespace:
    """The kernel that needs the features of the game's pack."""
    module = import_module(family)
    names = bound_features(family)
    names["unpacked"] = inlined(packing(module.State, 0)["unpacked"])
    return specialise(module.FAMILY, (phases_of,), **names)
