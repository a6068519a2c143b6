"""One row for each cell of a sweep."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from arena.analysis.summary_file import load_checks
from arena.analysis.tables import WinRateRow, row_mirror_text
from arena.analysis.timings import Timing
from arena.planning.games import GameColumn
from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate, shared_level
from arena.stats.intervals import score_estimate
from arena.storage.parquet import Column, distinct_values, iter_columns, read_rows, write_columns

LEVEL = 0.95
BETTER, WORSE, UNDECIDED = "better", "worse", "not told apart"
GAMES = "games.parquet"
BUDGETS = ("nodes", "seconds", "turn_seconds", "move_seconds", "pairs")
OTHERS = "the others"
HOLDS = "holds"
ESTIMATES = ("score", "elo")
TYPES = {
    "cell": "int64", "agent": "string", "opponent": "string", "games": "int64",
    "openings": "int64",
    **{f"{name}{end}": "double" for name in ESTIMATES for end in ("", "_low", "_high")},
    "answer": "string", "distinct_games": "int64", "first_mover_score": "double",
    "first_mover_margin": "double", "identical_pairs": "int64", "checks": "int64",
    "checks_hold": "int64", "run": "string",
}  # fmt: skip


class CellEstimate(NamedTuple):
    """A score and its Elo with the usual interval, and an answer that allows for all cells."""

    score: Estimate
    elo: Estimate
    answer: str


def cell_score(openings: npt.ArrayLike, scores: npt.ArrayLike, cells: int) -> CellEstimate:
    """Return the score of one cell of several, which share the error rate (Bonferroni)."""
    score = score_estimate(openings, scores, LEVEL)
    shared = score_estimate(openings, scores, shared_level(LEVEL, cells))
    low, high = shared.low or 0.0, 1.0 if shared.high is None else shared.high
    answer = BETTER if low > 0.5 else WORSE if high < 0.5 else UNDECIDED
    return CellEstimate(score, elo_estimate(score), answer)


class SweepCellRow(NamedTuple):
    """One cell: the values of its axes, its agents and its results."""

    values: tuple[object, ...]
    agent: str
    opponent: str
    games: int
    openings: int
    estimate: CellEstimate
    checks: int
    checks_hold: int
    run: str  # its directory, relative to the sweep's
    match: WinRateRow | None = None  # the agent's row, if it met one opponent
    move_seconds: float | None = None  # of the agent, measured: it is not reproducible


def cell_row(
    directory: Path, run: str, values: tuple[object, ...], agent: str, cells: int
) -> SweepCellRow:
    """Return the row of a finished run: `agent` against its opponent, or against all."""
    columns, names = load_cell_games(directory / GAMES)
    first, second = columns["first"][0::2], columns["second"][0::2]
    met = [names[place] for place in np.unique(np.concatenate([first, second])).tolist()]
    opponents = [name for name in met if name != agent]
    place = names.index(agent)
    own = (first == place) | (second == place)
    fresh = own & ~columns["repeat"][0::2].astype(bool)
    scores = pair_scores_of(columns["result"], first == place)[fresh]
    openings = columns["opening"][0::2][fresh]
    stored = load_checks(directory)
    opponent = opponents[0] if len(opponents) == 1 else OTHERS
    matches = read_rows(directory / "win_rates.parquet", WinRateRow)
    return SweepCellRow(
        values,
        agent,
        opponent,
        2 * int(np.count_nonzero(own)),
        len(np.unique(openings)),
        cell_score(openings, scores, cells),
        len(stored),
        sum(check.get("status") == HOLDS for check in stored),
        run,
        next((row for row in matches if (row.agent, row.opponent) == (agent, opponent)), None),
        seconds_per_move(directory, agent),
    )


def seconds_per_move(directory: Path, agent: str) -> float | None:
    """Return the mean time of an agent's moves in a run; None if it was not measured."""
    own = [row for row in read_rows(directory / "timings.parquet", Timing) if row.agent == agent]
    moves, seconds = sum(row.moves for row in own), sum(row.seconds for row in own)
    return seconds / moves if moves and seconds else None


def load_cell_games(path: Path) -> tuple[dict[str, GameColumn], list[str]]:
    """Return the columns that a row needs; agents are places among the returned names."""
    names = list(dict.fromkeys([*distinct_values(path, "first"), *distinct_values(path, "second")]))
    pieces = list(
        iter_columns(path, ("opening", "result", "repeat"), {"first": names, "second": names})
    )
    return {name: np.concatenate([each[name] for each in pieces]) for name in pieces[0]}, names


def pair_scores_of(results: NDArray[np.float64], is_a: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the score of each pair, from the side of agent `a` or of the other one."""
    scores = (results[0::2] + 1.0 - results[1::2]) / 2.0
    return np.asarray(np.where(is_a, scores, 1.0 - scores), np.float64)


def write_sweep_table(
    path: Path, names: Sequence[str], rows: Sequence[SweepCellRow], source: Mapping[str, object]
) -> None:
    """Write the table: a column for each axis, then the results."""
    axes = {name: axis_type([row.values[at] for row in rows]) for at, name in enumerate(names)}
    columns: dict[str, Column] = {
        name: [to_column_type(row.values[at], axes[name]) for row in rows]
        for at, name in enumerate(names)
    }
    for name in ("agent", "opponent", "games", "openings", "checks", "checks_hold", "run"):
        columns[name] = [getattr(row, name) for row in rows]
    columns["cell"] = list(range(1, len(rows) + 1))
    columns["answer"] = [row.estimate.answer for row in rows]
    for name in ("distinct_games", "first_mover_score", "first_mover_margin", "identical_pairs"):
        columns[name] = [row.match and getattr(row.match, name) for row in rows]
    for name in ESTIMATES:
        estimates = [getattr(row.estimate, name) for row in rows]
        for end, part in (("", "value"), ("_low", "low"), ("_high", "high")):
            columns[f"{name}{end}"] = [getattr(each, part) for each in estimates]
    types = {"cell": "int64", **axes, **TYPES}
    write_columns(path, types, [{name: columns[name] for name in types}], source)


def axis_type(values: Sequence[object]) -> str:
    """Return the type of a column of these values: whole numbers, numbers or text."""
    if all(isinstance(each, int) and not isinstance(each, bool) for each in values):
        return "int64"
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in values):
        return "double"
    return "string"


def to_column_type(value: object, kind: str) -> object:
    """Return the value as its column stores it."""
    if kind == "string":
        return value if isinstance(value, str) else str(value)
    return float(str(value)) if kind == "double" else value


class SweepLine(NamedTuple):
    """Cells that differ in one number only: its values and their Elo."""

    name: str  # the other values as text
    xs: tuple[float, ...]
    elos: tuple[Estimate, ...]
    doubling: bool  # drawn on a logarithmic scale


def budget_axis(names: Sequence[str], rows: Sequence[SweepCellRow]) -> int | None:
    """Return the numeric axis of the lines, a budget if possible; None without a numeric axis."""
    numbers = [
        at for at in range(len(names))
        if axis_type([row.values[at] for row in rows]) != "string"
        and len({row.values[at] for row in rows}) > 1
    ]  # fmt: skip
    return min(numbers, key=lambda at: not is_budget_key(names[at]), default=None)


def is_budget_key(name: str) -> bool:
    """Return whether a key is a budget, which is drawn on a logarithmic scale."""
    return name.rpartition(".")[2] in BUDGETS


def sweep_lines(names: Sequence[str], rows: Sequence[SweepCellRow]) -> Iterator[SweepLine]:
    """Yield the lines of a figure."""
    axis = budget_axis(names, rows)
    if axis is None:
        return
    doubling = is_budget_key(names[axis])

    def others(row: SweepCellRow) -> str:
        rest = [str(value) for at, value in enumerate(row.values) if at != axis]
        return ", ".join(rest)

    for name, group in groupby(sorted(rows, key=others), key=others):
        cells = sorted(group, key=lambda row: float(str(row.values[axis])))
        xs = tuple(float(str(row.values[axis])) for row in cells)
        elos = tuple(row.estimate.elo for row in cells)
        if doubling and min(xs) <= 0:
            continue
        yield SweepLine(name, xs, elos, doubling)


def sweep_verdict(rows: Sequence[SweepCellRow]) -> str:
    """Return one verdict over all cells, and how it allows for their number."""
    agent, count = rows[0].agent, len(rows)
    opponents = {row.opponent for row in rows}
    against = opponents.pop() if len(opponents) == 1 else OTHERS
    mirrors = {row.match and row_mirror_text(row.match) for row in rows}
    if len(mirrors) == 1 and (mirror := mirrors.pop()):
        return f"{agent} against {against}: {mirror} in every cell"
    found = {answer: sum(row.estimate.answer == answer for row in rows)
             for answer in (BETTER, WORSE, UNDECIDED)}  # fmt: skip
    each = 100.0 * shared_level(LEVEL, count)
    how = f"95 % for all {count} cells together (Bonferroni: {each:.4g} % each)"
    if found[BETTER] == count:
        answer = "better in every cell"
    elif found[WORSE] == count:
        answer = "worse in every cell"
    elif found[UNDECIDED] == count:
        answer = "not told apart in any cell"
    else:
        parts = [f"{word} in {number}" for word, number in found.items() if number]
        answer = f"{', '.join(parts)} of {count} cells"
    depends = ": which one is better depends on the cell" if found[BETTER] and found[WORSE] else ""
    return f"{agent} against {against}: {answer}{depends}; {how}"
