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
from agents.evaluation.learned_value import LAST, base_value, bind_lookups, lookups
from agents.evaluation.training_positions import Rows, unpack
from agents.search.bind import bind_features
from agents.search.context import EVALUATOR, INDICES
from agents.search.move_ordering import remaining
from games import Game
from games.kernels.bits import U
from games.kernels.context import Context
from games.kernels.drivers import pack_functions
from games.kernels.family import State
from games.kernels.jit import inline, specialise
from games.learned_block import LEARNED, append_tables
from games.learned_tables import TableKind, TableLayout

Numbers = NDArray[np.int64]
LEAST_PART = 4096  # rows per thread; for fewer rows, adding up the sums costs more


def record_index(rules: Context, index: np.int64, place: int) -> np.int64:
    """Write the index to its place in the list; fits bind this as `look`."""
    rules[U(rules[INDICES] + place)] = index
    return np.int64(0)


def add_residuals(
    ctx: Context, rows: Rows, labels: NDArray[np.int16], unit: int, count: int,
    values: Numbers, sums: Numbers,
) -> int:  # fmt: skip
    """Add the residual of each row to the sums of all entries that the row looks up.

    The residual is the label in units minus the sum of the current values.
    """
    at = U(ctx[INDICES])
    for row in range(labels.size):
        s = unpack(rows[row])
        lookups(ctx, s, ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))])
        rest = np.int64(labels[row]) * unit
        for place in range(count):
            rest -= values[U(ctx[at + U(place)])]
        for place in range(count):
            sums[U(ctx[at + U(place)])] += rest
    return 0


def predict(ctx: Context, rows: Rows, count: int, values: Numbers, totals: Numbers) -> int:
    """Write the sum of the looked-up values of each row."""
    at = U(ctx[INDICES])
    for row in range(totals.size):
        s = unpack(rows[row])
        lookups(ctx, s, ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))])
        total = np.int64(0)
        for place in range(count):
            total += values[U(ctx[at + U(place)])]
        totals[row] = total
    return 0


def base_values(ctx: Context, rows: Rows, totals: Numbers) -> int:
    """Write the part of each row's value that needs no table."""
    for row in range(totals.size):
        totals[row] = base_value(ctx, unpack(rows[row]))
    return 0


def index_rows(ctx: Context, rows: Rows, count: int, indices: NDArray[np.int32]) -> int:
    """Write the indices that each row looks up."""
    at = U(ctx[INDICES])
    for row in range(indices.shape[0]):
        s = unpack(rows[row])
        lookups(ctx, s, ctx[U(ctx[LEARNED] + min(remaining(ctx, s), LAST))])
        for place in range(count):
            indices[row, place] = ctx[at + U(place)]
    return 0


def evaluate_rows(ctx: Context, rows: Rows, totals: Numbers) -> int:
    """Write the score of each row by the evaluation in the context."""
    for row in range(totals.size):
        totals[row] = call_evaluator(ctx[EVALUATOR], ctx, unpack(rows[row]))
    return 0


def temporal_differences(
    values: Numbers, games: NDArray[np.int32], signs: NDArray[np.int8], share: int,
    returns: Numbers,
) -> int:  # fmt: skip
    """Replace each margin by a mixture of the later values of its game.

    These are the temporal differences of Sutton (1988). The value of the next position gets 256 -
    `share` parts in 256 and the next position's mixture the other parts. The last position of a
    game keeps its margin, which is exact. All values are integers in the same unit, from the
    mover's side.
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
    """Return the sum of products in a fixed order, the same on every machine."""
    total = 0.0
    for place in range(a.size):
        total += a[place] * b[place]
    return total


COMPILED = (add_residuals, predict, base_values, index_rows)


@cache
def sum_kernels(family: str, tables: TableKind, layout: TableLayout) -> SimpleNamespace:
    """Return the kernels of a layout."""
    module = import_module(family)
    names = bind_lookups(family, tables, layout, inline(record_index))
    names["unpack"] = inline(pack_functions(module.State, 0)["unpack"])
    return specialise(f"{module.FAMILY}_{layout.digest}", COMPILED, **names)


@cache
def row_kernels(family: str) -> SimpleNamespace:
    """Return the kernels that need no layout."""
    module = import_module(family)
    names = {"unpack": inline(pack_functions(module.State, 0)["unpack"])}
    return specialise(module.FAMILY, (evaluate_rows, temporal_differences, dot), **names)


class TableSums:
    """The sums of one layout over rows, in one thread per worker.

    `phases` has the phase for each number of beans or empty squares left.
    """

    def __init__(
        self, game: Game, tables: TableKind, layout: TableLayout, phases: Numbers, workers: int
    ) -> None:
        self.layout, self.entries = layout, layout.entries * (int(phases.max()) + 1)
        self.kernels = sum_kernels(game.family_name, tables, layout)
        of_rows = row_kernels(game.family_name)
        self.dot, self.temporal_differences = of_rows.dot, of_rows.temporal_differences
        block = append_tables(game.context, layout.entries, phases, None)
        self.contexts = [add_index_list(block, layout.lookups) for _ in range(workers)]
        same = np.asarray(tables.shared_entries(layout))
        firsts, self.place = np.unique(same, return_inverse=True)
        self.weight_count = len(firsts)
        self.order = np.argsort(self.place, kind="stable")
        self.ends = np.concatenate([[0], np.cumsum(np.bincount(self.place))[:-1]])

    def row_slices(self, rows: int) -> list[slice]:
        """Split the rows evenly, one slice per thread."""
        count = max(1, min(len(self.contexts), rows // LEAST_PART))
        ends = [rows * part // count for part in range(count + 1)]
        return list(starmap(slice, pairwise(ends)))

    def add_residuals(
        self, rows: Rows, labels: NDArray[np.int16], unit: int, values: Numbers
    ) -> Numbers:
        """Run the kernel over all rows and return one sum per weight."""
        parts, whole = self.row_slices(len(rows)), self.expand_values(values)
        sums = [np.zeros(self.entries, np.int64) for _ in parts]

        def add(at: int) -> None:
            own = parts[at]
            self.kernels.add_residuals(
                self.contexts[at], rows[own], labels[own], unit, self.layout.lookups, whole,
                sums[at],
            )  # fmt: skip

        self._run_parts(add, len(parts))
        total = np.add.reduce(sums)
        phases = total.reshape(-1, self.layout.entries)[:, self.order]
        added: Numbers = np.add.reduceat(phases, self.ends, axis=1)
        return added.reshape(-1)

    def predict(self, rows: Rows, values: Numbers) -> Numbers:
        """Return the sum of the looked-up values of each row."""
        parts, whole = self.row_slices(len(rows)), self.expand_values(values)
        totals = np.empty(len(rows), np.int64)

        def fill(at: int) -> None:
            own = parts[at]
            self.kernels.predict(
                self.contexts[at], rows[own], self.layout.lookups, whole, totals[own]
            )

        self._run_parts(fill, len(parts))
        return totals

    def base_values(self, rows: Rows) -> Numbers:
        """Return the part of each row's value that needs no table."""
        totals = np.empty(len(rows), np.int64)
        self.kernels.base_values(self.contexts[0], rows, totals)
        return totals

    def expand_values(self, values: Numbers) -> Numbers:
        """Return one value per entry from one value per weight."""
        whole: Numbers = np.ascontiguousarray(values.reshape(-1, self.weight_count)[:, self.place])
        return whole.reshape(-1)

    def _run_parts(self, work: Callable[[int], None], count: int) -> None:
        if count == 1:
            work(0)
            return
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(work, range(count)))


def add_index_list(ctx: Context, lookups_made: int) -> Context:
    """Return the context with space for the lookups of one position."""
    longer = np.concatenate([ctx, np.zeros(lookups_made, np.int64)])
    longer[INDICES] = len(ctx)
    return longer


def phases_of(ctx: Context, rows: Rows, phases: int, results: Numbers) -> int:
    """Write the phase of each row, as the features of the game define it."""
    for row in range(results.size):
        results[row] = progress(ctx, unpack(rows[row]), phases)
    return 0


def progress(rules: Context, position: State, phases: int) -> int:
    """Return the phase of the game; bound for each family."""
    raise NotImplementedError


@cache
def phase_kernels(family: str) -> SimpleNamespace:
    """Return the kernel that needs the features of the game's package."""
    module = import_module(family)
    names = bind_features(family)
    names["unpack"] = inline(pack_functions(module.State, 0)["unpack"])
    return specialise(module.FAMILY, (phases_of,), **names)
