"""Load the tables of a run for a page."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.analysis.exclusions import (
    Exclusion,
    first_unplayed,
    stored_exclusions,
    unplayed_games,
)
from arena.analysis.repeatability import Repeatability, stored_repeatability
from arena.analysis.standings import PointsRow
from arena.analysis.summary_file import SUMMARY, load_summary
from arena.analysis.tables import EloRow, WinRateRow
from arena.analysis.timings import Timing
from arena.analysis.win_rates import ONLY_FORFEITS
from arena.planning.games import GameColumn, Termination
from arena.planning.plan import Plan
from arena.report.numbers import StoredEstimate, rating_of, score_of, stored_estimate
from arena.stats.elo import FEW_OPENINGS
from arena.stats.quantiles import t_quantile
from arena.stats.spread import spread
from arena.stats.text import first_mover_words
from arena.storage import parquet
from arena.storage.provenance import read_run
from arena.storage.run_file import NotARunError, command_of, games_table, load_plan
from games.base.files import Shape, require_shape
from games.base.schema import KeyValues
from games.base.text import quote

MOVES, JUDGEMENT = "moves.parquet", "judgement.json"
COLUMNS = (
    "game",
    "ply",
    "mover",
    "opening",
    "left",
    "after",
    "loss",
    "result_loss",
    "best",
    "known",
)
LEVEL = 0.95
FAIR = frozenset(how.name.lower() for how in Termination if how.fair)
USUAL = 0.6  # of all margins: the quantile that fills half of a bar
Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
NUMBERS = ("pair", "opening", "result", "margin", "plies")
Flags = NDArray[np.bool_]
Texts = Callable[[str, Sequence[int]], Sequence[str | None] | None]
POINTS = "points.parquet"
NOBODY: Mapping[int, int] = MappingProxyType({})
NEEDED = (SUMMARY, "elo.parquet", "win_rates.parquet", "timings.parquet")
# Other keys are shown as they are, or not at all.
SHOWN_OF_RUN: Mapping[str, Shape] = {
    "versions": (dict, None), "machine": (dict, None), "overrides": ([str], None),
    "forfeits": ([str], None), "different_faults": (int, None), "path": (str, None),
}  # fmt: skip


class MoveLosses(NamedTuple):
    """The judged moves of a run as columns, in the order of its games; losses are margins."""

    game: Numbers
    ply: Numbers
    mover: GameColumn
    opening: NDArray[np.bool_]
    left: Numbers
    after: Reals
    loss: Reals
    result_loss: Reals
    best: GameColumn
    known: NDArray[np.bool_]
    judgement: KeyValues

    @property
    def usual(self) -> float:
        """A margin of usual size."""
        sizes = np.abs(self.after[self.known])
        return max(float(np.quantile(sizes, USUAL)), 1.0) if len(sizes) else 1.0

    def of_game(self, number: int) -> slice:
        """The moves of a game."""
        first, last = np.searchsorted(self.game, (number, number + 1))
        return slice(int(first), int(last))


class MeanLoss(NamedTuple):
    """A mean with its interval, clustered by openings; None where nothing is known."""

    moves: int
    mean: float | None
    low: float | None
    high: float | None


def load_move_losses(directory: Path) -> MoveLosses | None:
    """What the judge of a run has found; None if nobody has judged it."""
    path = directory / MOVES
    if not path.exists():
        return None
    columns = parquet.read_columns(path, COLUMNS)
    judgement = json.loads((directory / JUDGEMENT).read_text())
    return MoveLosses(judgement=judgement, **columns)


def mean_loss(losses: MoveLosses, rows: NDArray[np.bool_], openings: Numbers) -> MeanLoss:
    """The mean loss of some known moves; `openings` are those of the games."""
    values = losses.loss[rows]
    if not len(values):
        return MeanLoss(0, None, None, None)
    largest = max(float(values.max()), 1.0)
    found = spread(openings[losses.game[rows]], values / largest)
    mean = found.mean * largest
    if found.openings < 2 or found.se == 0.0:
        return MeanLoss(len(values), mean, None, None)
    reach = t_quantile(0.5 + LEVEL / 2, max(found.dof, 1.0)) * found.se * largest
    return MeanLoss(len(values), mean, max(mean - reach, 0.0), mean + reach)


class GameChunk(NamedTuple):
    """Some games as columns; agents are places in the report's names, ends places in its words."""

    first: GameColumn
    second: GameColumn
    opening: GameColumn
    pair: GameColumn
    result: GameColumn  # points of agent `first`
    margin: GameColumn
    plies: GameColumn
    ending: GameColumn
    mover: GameColumn  # the first mover, to move after the opening; -1: not known

    def at(self, rows: Numbers) -> "GameChunk":
        """Some of these games."""
        return GameChunk(*(column[rows] for column in self))


class GameTable(NamedTuple):
    """The games of a report in schedule order, `size` of them.

    `pieces` gives all of them whenever it is called, `texts` a column of texts in some rows, or
    None where it was not kept.
    """

    size: int
    names: tuple[str, ...]
    endings: tuple[str, ...]
    pieces: Callable[[], Iterator[GameChunk]]
    texts: Texts
    since: Mapping[int, int] = NOBODY  # the first unplayed game of each excluded agent

    def numbered(self) -> Iterator[tuple[int, GameChunk]]:
        """The pieces, each with the row of its first game."""
        at = 0
        for piece in self.pieces():
            yield at, piece
            at += len(piece.result)

    def at(self, rows: Numbers) -> GameChunk:
        """The games in these ascending rows."""
        found = [
            piece.at(
                rows[slice(*np.searchsorted(rows, (start, start + len(piece.result))))] - start
            )
            for start, piece in self.numbered()
        ]
        return _below(found) if found else no_games()

    def openings(self) -> Numbers:
        """The opening of every game."""
        none = np.empty(0, np.int64)
        return np.concatenate([none, *(piece.opening for piece in self.pieces())])

    def unplayed(self, piece: GameChunk, rows: Numbers) -> Flags:
        """Return which games were forfeited without being played; the piece has these rows."""
        losers = np.where(piece.result == 0.0, piece.first, piece.second)
        return self.forfeited(piece) & unplayed_games(losers, rows, self.since)

    def fair(self, piece: GameChunk) -> Flags:
        """Return which games were played and ended without a fault."""
        fair = [place for place, word in enumerate(self.endings) if word in FAIR]
        return np.isin(piece.ending, fair)

    def forfeited(self, piece: GameChunk) -> Flags:
        """Return which games were lost by a fault."""
        return np.asarray(~self.fair(piece) & (piece.result != 0.5))


def no_games() -> GameChunk:
    """No games at all."""
    none = np.empty(0, np.int64)
    return GameChunk(none, none, none, none, none / 1.0, none, none, none, none)


def load_game_table(
    path: Path, names: Sequence[str], since: Mapping[int, int] = NOBODY
) -> GameTable:
    """The games of a table, the agents by their places in `names`.

    `since` has the first unplayed game of each excluded agent.
    """
    endings = tuple(parquet.distinct_values(path, "termination"))
    agents = dict.fromkeys(("first", "second", "first_mover"), tuple(names))
    words = {**agents, "termination": endings}

    def pieces() -> Iterator[GameChunk]:
        for columns in parquet.iter_columns(path, NUMBERS, words):
            columns["ending"] = columns.pop("termination")
            columns["mover"] = columns.pop("first_mover")
            yield GameChunk(**columns)

    size = parquet.count_rows(path)
    first = tuple(islice(pieces(), 1))  # what cannot be read is said here
    # A page goes through them a dozen times: what is one piece is read once.
    whole = sum(len(piece.result) for piece in first) == size
    return GameTable(
        size, tuple(names), endings, (lambda: iter(first)) if whole else pieces,
        lambda name, rows: parquet.take_texts(path, name, rows), since,
    )  # fmt: skip


def _below(parts: Sequence[GameChunk]) -> GameChunk:
    return GameChunk(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a page shows, as the tables of its run have it."""

    plan: Plan
    run: KeyValues  # run.json
    summary: KeyValues  # summary.json
    ratings: tuple[EloRow, ...]  # in the official order
    pairs: Mapping[tuple[str, str], WinRateRow]
    timings: tuple[Timing, ...]
    games: GameTable
    losses: MoveLosses | None = None  # what a judge found
    directory: Path | None = None
    points: tuple[PointsRow, ...] = ()  # where the experiment ranks by points

    @property
    def game_name(self) -> str:
        """The game as people call it; a user's own without the file that holds it."""
        return self.plan.game.rpartition(".py:")[2]

    @property
    def repeatability(self) -> Repeatability:
        """Whether another run would play the same games, as its run.json says."""
        return stored_repeatability(self.plan, self.run)

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents in the official order."""
        return tuple(row.agent for row in self.ratings)

    @property
    def checks(self) -> Sequence[KeyValues]:
        """The checks with their verdicts."""
        checks: Sequence[KeyValues] = self.summary.get("checks", [])
        return checks

    @property
    def openings(self) -> int:
        """How many different openings were played."""
        return int(self.summary["openings"])

    @property
    def game_counts(self) -> tuple[int, int, int, int]:
        """All games; of these duplicates, forfeits, and forfeits that were not played."""
        duplicates, forfeits = (int(self.summary.get(n) or 0) for n in ("duplicates", "forfeits"))
        return self.games.size, duplicates, forfeits, sum(each.unplayed for each in self.excluded)

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """The bots that the run excluded."""
        return stored_exclusions(self.summary)

    @property
    def excluded_names(self) -> frozenset[str]:
        """The names of these bots."""
        return frozenset(each.agent for each in self.excluded)

    @property
    def base(self) -> Path:
        """The directory of the experiment file, from which paths are shown."""
        return Path(str(self.run.get("path") or "")).parent

    @property
    def standing(self) -> bool:
        """Whether the openings are too few for ratings: there is a standing, no Elo.

        The tables decide: a rating that has an interval there has one on the page.
        """
        few = self.openings < FEW_OPENINGS
        return few and not any(rating_of(row).measured for row in self.ratings)

    @property
    def measured(self) -> bool:
        """Whether the tables have an interval for at least one match."""
        return any(score_of(row).measured for row in self.pairs.values())

    @property
    def two(self) -> bool:
        """Whether there is one match only."""
        return len(self.ratings) == 2

    @property
    def stopped(self) -> KeyValues | None:
        """The sequential test of the run; None without one, or if all games were forfeited."""
        test: KeyValues | None = self.summary.get("stopped")
        forfeited = test and stored_estimate(test["corrected"]).why == ONLY_FORFEITS
        return None if forfeited else test

    @property
    def first_mover(self) -> StoredEstimate:
        """The score of the first movers, over all games."""
        return stored_estimate(self.summary["first_mover"])

    @property
    def first_mover_words(self) -> str:
        """Name the first mover, with the plies of the openings."""
        return first_mover_words(self.summary.get("opening_plies"))

    def met(self) -> list[WinRateRow]:
        """Every pair that met, once, seen by the agent of the better place, in their order."""
        rank = {agent: place for place, agent in enumerate(self.agents)}
        rows = [row for row in self.pairs.values() if rank[row.agent] < rank[row.opponent]]
        return sorted(rows, key=lambda row: (rank[row.agent], rank[row.opponent]))


def load_report(directory: Path, beside: Path | None = None) -> ReportData:
    """The report of a finished run; NotARunError says in one line what is missing."""
    plan = load_plan(directory, beside)
    path = games_table(directory)
    for name in NEEDED:
        if not (directory / name).exists():
            command = command_of(read_run(directory), "run")
            again = f"run its experiment again, no game is played twice: {command}"
            raise NotARunError(f"{directory} has no {name}: {again}")
    try:
        ratings = tuple(parquet.read_rows(directory / "elo.parquet", EloRow))
        summary = load_summary(directory)
        since = first_unplayed(stored_exclusions(summary), plan.names)
        return ReportData(
            plan=plan,
            run=_run(directory),
            summary=summary,
            ratings=ratings,
            pairs=_pairs(parquet.read_rows(directory / "win_rates.parquet", WinRateRow), ratings),
            timings=tuple(parquet.read_rows(directory / "timings.parquet", Timing)),
            games=load_game_table(path, plan.names, since),
            losses=load_move_losses(directory),
            directory=directory,
            points=_points(directory),
        )
    except (parquet.TableError, ValueError) as error:
        raise NotARunError(f"{directory}: a table cannot be read: {error}") from None


def _points(directory: Path) -> tuple[PointsRow, ...]:
    """The table by points; empty where the experiment ranks by ratings."""
    path = directory / POINTS
    return tuple(parquet.read_rows(path, PointsRow)) if path.exists() else ()


def _run(directory: Path) -> KeyValues:
    """What run.json holds, as far as a page shows it of the right shape."""
    run = read_run(directory)
    require_shape(run, SHOWN_OF_RUN, "run.json")
    return run


def _pairs(
    rows: Sequence[WinRateRow], ratings: Sequence[EloRow]
) -> dict[tuple[str, str], WinRateRow]:
    """The pairs that met, of rated agents."""
    rated = {row.agent for row in ratings}
    for row in rows:
        if strange := {row.agent, row.opponent} - rated:
            raise ValueError(f"elo.parquet has no agent {quote(min(strange))}")
    return {(row.agent, row.opponent): row for row in rows}
