"""The tables of a run, loaded for a page."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.evidence import (
    Exclusion,
    exclusion_rows,
    is_after_exclusion,
    load_exclusions,
)
from arena.analysis.repeatability import Repeatability, load_repeatability
from arena.analysis.standings import PointsRow
from arena.analysis.summary_file import SUMMARY, load_summary
from arena.analysis.tables import EloRow, WinRateRow
from arena.analysis.timings import Timing
from arena.analysis.win_rates import ONLY_FORFEITS
from arena.planning.games import GameColumn, Termination
from arena.planning.plan import Plan
from arena.report.numbers import estimate_from_json, has_interval, rating_of, score_of
from arena.stats.estimate import FEW_OPENINGS, Estimate, EstimateKind, no_estimate
from arena.stats.quantiles import t_quantile
from arena.stats.spread import spread
from arena.stats.sprt import SprtPlan
from arena.stats.text import first_mover_text
from arena.storage import parquet
from arena.storage.provenance import load_run_file
from arena.storage.run_file import NotARunError, command_of, games_table_path, load_plan
from games.base.files import Shape, require_shape
from games.base.schema import KeyValues
from games.base.text import quote

MOVES, JUDGEMENT, POINTS = "moves.parquet", "judgement.json", "points.parquet"
MOVE_COLUMNS = ("game", "ply", "mover", "opening", "left", "after", "loss", "result_loss", "best",
                "known")  # fmt: skip
LEVEL = 0.95
FAULT_FREE = frozenset(how.name.lower() for how in Termination if how.is_fair)
TYPICAL_QUANTILE = 0.6  # of all margins, for a bar that is half full
NUMBERS = ("pair", "opening", "result", "margin", "plies")
REQUIRED_FILES = (SUMMARY, "elo.parquet", "win_rates.parquet", "timings.parquet")
# The shape of keys of run.json that pages depend on.
RUN_SHAPE: Mapping[str, Shape] = {
    "versions": (dict, None), "machine": (dict, None), "overrides": ([str], None),
    "forfeits": ([str], None), "different_faults": (int, None), "path": (str, None),
}  # fmt: skip
NO_EXCLUSIONS: Mapping[int, int] = MappingProxyType({})
Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
ReadTexts = Callable[[str, Sequence[int]], Sequence[str | None] | None]


# ------------------------------------------------------------------------- moves


class MoveLosses(NamedTuple):
    """The judged moves of a run as columns, in the order of its games; losses are margins."""

    game: Numbers
    ply: Numbers
    mover: GameColumn
    opening: Flags
    left: Numbers
    after: Reals
    loss: Reals
    result_loss: Reals
    best: GameColumn
    known: Flags
    judgement: KeyValues

    @property
    def typical_margin(self) -> float:
        """Return a margin of typical size."""
        sizes = np.abs(self.after[self.known])
        return max(float(np.quantile(sizes, TYPICAL_QUANTILE)), 1.0) if len(sizes) else 1.0

    def game_slice(self, number: int) -> slice:
        """Return the moves of a game."""
        first, last = np.searchsorted(self.game, (number, number + 1))
        return slice(int(first), int(last))


def load_move_losses(directory: Path) -> MoveLosses | None:
    """Return the judged moves of a run; None if the run was not judged."""
    path = directory / MOVES
    if not path.exists():
        return None
    columns = parquet.read_columns(path, MOVE_COLUMNS)
    judgement = json.loads((directory / JUDGEMENT).read_text())
    return MoveLosses(judgement=judgement, **columns)


def mean_loss(losses: MoveLosses, rows: Flags, openings: Numbers) -> Estimate:
    """Return the mean loss of some known moves, clustered by the openings of the games."""
    values = losses.loss[rows]
    if not len(values):
        return no_estimate("unknown")
    largest = max(float(values.max()), 1.0)
    found = spread(openings[losses.game[rows]], values / largest)
    mean = found.mean * largest
    if found.openings < 2 or found.se == 0.0:
        return no_estimate("no interval", mean, LEVEL)
    reach = t_quantile(0.5 + LEVEL / 2, max(found.dof, 1.0)) * found.se * largest
    return Estimate(mean, max(mean - reach, 0.0), mean + reach, LEVEL, EstimateKind.FIXED)


# ------------------------------------------------------------------------- games


class GameChunk(NamedTuple):
    """Some games as columns; agents and endings are places in the lists of the GameTable."""

    first: GameColumn
    second: GameColumn
    opening: GameColumn
    pair: GameColumn
    result: GameColumn  # points of `first`
    margin: GameColumn
    plies: GameColumn
    ending: GameColumn
    mover: GameColumn  # the agent to move after the opening; -1 if unknown

    def take(self, rows: Numbers) -> "GameChunk":
        """Return some of these games."""
        return GameChunk(*(column[rows] for column in self))


class GameTable(NamedTuple):
    """The games of a report in schedule order, read in chunks.

    `texts` returns some rows of a column of texts, or None if the run did not keep the column.
    """

    size: int
    names: tuple[str, ...]
    endings: tuple[str, ...]
    chunks: Callable[[], Iterator[GameChunk]]
    texts: ReadTexts
    since: Mapping[int, int] = NO_EXCLUSIONS  # the first unplayed game of each excluded agent

    def chunks_with_rows(self) -> Iterator[tuple[int, GameChunk]]:
        """Return the chunks, each with the row of its first game."""
        at = 0
        for chunk in self.chunks():
            yield at, chunk
            at += len(chunk.result)

    def take(self, rows: Numbers) -> GameChunk:
        """Return the games in these ascending rows."""
        empty = np.empty(0, np.int64)
        found = [GameChunk(*(empty for _ in GameChunk._fields))._replace(result=empty / 1.0)]
        for start, chunk in self.chunks_with_rows():
            own = slice(*np.searchsorted(rows, (start, start + len(chunk.result))))
            found.append(chunk.take(rows[own] - start))
        return GameChunk(*map(np.concatenate, zip(*found, strict=True)))

    def openings(self) -> Numbers:
        """Return the opening of every game."""
        none = np.empty(0, np.int64)
        return np.concatenate([none, *(chunk.opening for chunk in self.chunks())])

    def exclusion_forfeits(self, chunk: GameChunk, rows: Numbers) -> Flags:
        """Return which games were forfeited after an exclusion; the chunk has these rows."""
        losers = np.where(chunk.result == 0.0, chunk.first, chunk.second)
        return self.forfeits(chunk) & is_after_exclusion(losers, rows, self.since)

    def fault_free(self, chunk: GameChunk) -> Flags:
        """Return which games ended without a fault."""
        endings = [place for place, word in enumerate(self.endings) if word in FAULT_FREE]
        return np.isin(chunk.ending, endings)

    def forfeits(self, chunk: GameChunk) -> Flags:
        """Return which games were lost by a fault."""
        return np.asarray(~self.fault_free(chunk) & (chunk.result != 0.5))


def load_game_table(
    path: Path, names: Sequence[str], since: Mapping[int, int] = NO_EXCLUSIONS
) -> GameTable:
    """Return the games of a table; `names` are the agents and `since` the exclusions."""
    endings = tuple(parquet.distinct_values(path, "termination"))
    agents = dict.fromkeys(("first", "second", "first_mover"), tuple(names))
    words = {**agents, "termination": endings}

    def chunks() -> Iterator[GameChunk]:
        for columns in parquet.iter_columns(path, NUMBERS, words):
            columns["ending"] = columns.pop("termination")
            columns["mover"] = columns.pop("first_mover")
            yield GameChunk(**columns)

    size = parquet.count_rows(path)
    first = tuple(islice(chunks(), 1))  # raises here if the table cannot be read
    # A page reads the games a dozen times: a single chunk stays in memory.
    whole = sum(len(chunk.result) for chunk in first) == size
    return GameTable(
        size, tuple(names), endings, (lambda: iter(first)) if whole else chunks,
        lambda name, rows: parquet.take_texts(path, name, rows), since,
    )  # fmt: skip


# ------------------------------------------------------------------------- report


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a page shows, as the tables of the run contain it."""

    plan: Plan
    run: KeyValues  # run.json
    summary: KeyValues  # summary.json
    ratings: tuple[EloRow, ...]  # in the official order
    pairs: Mapping[tuple[str, str], WinRateRow]
    timings: tuple[Timing, ...]
    games: GameTable
    losses: MoveLosses | None = None
    directory: Path | None = None
    points: tuple[PointsRow, ...] = ()  # if the experiment ranks by points

    @property
    def game_name(self) -> str:
        """Return the name of the game; for a user's game without its file."""
        return self.plan.game_name.rpartition(".py:")[2]

    @property
    def repeatability(self) -> Repeatability:
        """Return whether another run would play the same games."""
        return load_repeatability(self.plan, self.run)

    @property
    def agents(self) -> tuple[str, ...]:
        """Return the agents in the official order."""
        return tuple(row.agent for row in self.ratings)

    @property
    def elos(self) -> list[float | None]:
        """Return the rating of each agent of the game table; None with too few openings."""
        known = {} if self.too_few_openings else {row.agent: row.elo for row in self.ratings}
        return [known.get(name) for name in self.games.names]

    @property
    def checks(self) -> Sequence[KeyValues]:
        """Return the checks with their verdicts."""
        checks: Sequence[KeyValues] = self.summary.get("checks", [])
        return checks

    @property
    def openings(self) -> int:
        """Return the number of different openings."""
        return int(self.summary["openings"])

    @property
    def game_counts(self) -> tuple[int, int, int, int]:
        """Return the numbers of games, duplicates, forfeits, and forfeits not played."""
        duplicates, forfeits = (int(self.summary.get(n) or 0) for n in ("duplicates", "forfeits"))
        return self.games.size, duplicates, forfeits, sum(each.unplayed for each in self.exclusions)

    @property
    def exclusions(self) -> tuple[Exclusion, ...]:
        """Return the bots that the run excluded."""
        return load_exclusions(self.summary)

    @property
    def exclusion_names(self) -> frozenset[str]:
        """Return the names of the bots that the run excluded."""
        return frozenset(each.agent for each in self.exclusions)

    @property
    def experiment_directory(self) -> Path:
        """Return the directory of the experiment file, to which printed paths are relative."""
        return Path(str(self.run.get("path") or "")).parent

    @property
    def too_few_openings(self) -> bool:
        """Return whether the openings are too few for ratings: agents are ordered by points.

        A rating that has an interval in the tables has one on the page.
        """
        few = self.openings < FEW_OPENINGS
        return few and not any(has_interval(rating_of(row)) for row in self.ratings)

    @property
    def has_intervals(self) -> bool:
        """Return whether at least one match has an interval."""
        return any(has_interval(score_of(row)) for row in self.pairs.values())

    @property
    def has_two_agents(self) -> bool:
        """Return whether there are two agents, and so one match."""
        return len(self.ratings) == 2

    @property
    def stopped(self) -> KeyValues | None:
        """Return how a stop rule ended the match; None without a rule."""
        stopped: KeyValues | None = self.summary.get("stopped")
        forfeited = stopped and estimate_from_json(stopped["corrected"]).reason == ONLY_FORFEITS
        return None if forfeited else stopped

    @property
    def sprt(self) -> KeyValues | None:
        """Return the result of the sequential test; None if there is none."""
        return self.stopped if isinstance(self.plan.stop, SprtPlan) else None

    @property
    def first_mover(self) -> Estimate:
        """Return the score of the first movers over all games."""
        return estimate_from_json(self.summary["first_mover"])

    @property
    def first_mover_text(self) -> str:
        """Return a name of the first mover, with the plies of the openings."""
        return first_mover_text(self.summary.get("opening_plies"))

    def matches(self) -> list[WinRateRow]:
        """Return each match once, from the side of the better place, in the official order."""
        rank = {agent: place for place, agent in enumerate(self.agents)}
        rows = [row for row in self.pairs.values() if rank[row.agent] < rank[row.opponent]]
        return sorted(rows, key=lambda row: (rank[row.agent], rank[row.opponent]))


def load_report(directory: Path, beside: Path | None = None) -> ReportData:
    """Load the report of a finished run; raise a NotARunError if something is missing."""
    plan = load_plan(directory, beside)
    path = games_table_path(directory)
    run = load_run_file(directory)
    for name in REQUIRED_FILES:
        if not (directory / name).exists():
            again = f"run its experiment again, no game is played twice: {command_of(run, 'run')}"
            raise NotARunError(f"{directory} has no {name}: {again}")
    points = directory / POINTS
    try:
        require_shape(run, RUN_SHAPE, "run.json")
        ratings = tuple(parquet.read_rows(directory / "elo.parquet", EloRow))
        summary = load_summary(directory)
        since = exclusion_rows(load_exclusions(summary), plan.names)
        return ReportData(
            plan=plan,
            run=run,
            summary=summary,
            ratings=ratings,
            pairs=_pairs_by_names(
                parquet.read_rows(directory / "win_rates.parquet", WinRateRow), ratings
            ),
            timings=tuple(parquet.read_rows(directory / "timings.parquet", Timing)),
            games=load_game_table(path, plan.names, since),
            losses=load_move_losses(directory),
            directory=directory,
            points=tuple(parquet.read_rows(points, PointsRow)) if points.exists() else (),
        )
    except (parquet.TableError, ValueError) as error:
        raise NotARunError(f"{directory}: a table cannot be read: {error}") from None


def _pairs_by_names(
    rows: Sequence[WinRateRow], ratings: Sequence[EloRow]
) -> dict[tuple[str, str], WinRateRow]:
    rated = {row.agent for row in ratings}
    for row in rows:
        if unknown := {row.agent, row.opponent} - rated:
            raise ValueError(f"elo.parquet has no agent {quote(min(unknown))}")
    return {(row.agent, row.opponent): row for row in rows}
