"""What the page of a run is made from: the run's tables, read back from its directory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agents import AgentSpec
from arena.concluding.points_table import PointsRow
from arena.concluding.repeatability import ALWAYS, Repeatability, stored_repeatability
from arena.concluding.stored_shape import OrNone, Shape, misshapen
from arena.concluding.stored_summary import SUMMARY, stored_summary
from arena.concluding.table_rows import EloRow, WinRateRow
from arena.concluding.timing import Timing
from arena.keeping import parquet
from arena.keeping.provenance import read_run
from arena.keeping.run_directory import NotARun, command_of, games_table, stored_plan
from arena.planning.openings_spec import OpeningsSpec
from arena.planning.plan import Plan
from arena.showing.move_losses import MoveLosses, stored_losses
from arena.showing.numbers import Known, known_from
from arena.showing.played_games import PlayedGames, stored_games
from arena.stats.elo import FEW_OPENINGS
from arena.stats.words import first_mover_words
from games import Game
from games.keys import KeyValues
from games.names import quoted

POINTS = "points.parquet"
NEEDED = (SUMMARY, "elo.parquet", "win_rates.parquet", "timings.parquet")
GATHERED = OpeningsSpec("gathered", {})  # as files name them
# Other keys are shown as they are, or not at all.
SHOWN_OF_RUN: Mapping[str, Shape] = {
    "versions": OrNone("table"), "machine": OrNone("table"), "overrides": OrNone(["text"]),
    "forfeits": OrNone(["text"]), "path": OrNone("text"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GatheredPlan:
    """What stands in place of a plan where games come from several runs, or from other people."""

    game: str
    files: tuple[Path, ...]
    of: Game | None = None
    unlisted: str = ""  # why their games cannot be shown one by one; empty if they can
    openings: OpeningsSpec = GATHERED
    agents: Mapping[str, AgentSpec] = field(default_factory=dict)
    seed: int = 0
    stop: None = None
    reproducible: bool = True


@dataclass(frozen=True, eq=False)
class Report:
    """Everything that a page shows, as the tables of its run have it."""

    plan: Plan | GatheredPlan
    run: KeyValues  # run.json
    summary: KeyValues  # summary.json
    ratings: tuple[EloRow, ...]  # in the official order
    pairs: Mapping[tuple[str, str], WinRateRow]
    timings: tuple[Timing, ...]
    games: PlayedGames
    losses: MoveLosses | None = None  # what a judge found
    directory: Path | None = None
    points: tuple[PointsRow, ...] = ()  # where the experiment ranks by points

    @property
    def game_name(self) -> str:
        """The game as people call it; a user's own without the file that holds it."""
        return self.plan.game.rpartition(".py:")[2]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files whose games were gathered; none for a run."""
        return self.plan.files if isinstance(self.plan, GatheredPlan) else ()

    @property
    def repeatability(self) -> Repeatability:
        """Whether another run would play the same games, as its run.json says."""
        return (
            ALWAYS
            if isinstance(self.plan, GatheredPlan)
            else stored_repeatability(self.plan, self.run)
        )

    @property
    def unlisted(self) -> str:
        """Why the games cannot be shown one by one; empty if they can."""
        return self.plan.unlisted if isinstance(self.plan, GatheredPlan) else ""

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
    def standing(self) -> bool:
        """Whether the openings are too few for ratings: there is a standing, no Elo."""
        return self.openings < FEW_OPENINGS

    @property
    def two(self) -> bool:
        """Whether there is one match only."""
        return len(self.ratings) == 2

    @property
    def first_mover(self) -> Known:
        """The score of the first movers, over all games."""
        return known_from(self.summary["first_mover"])

    @property
    def first_mover_words(self) -> str:
        """Name the first mover, with the plies of the openings."""
        return first_mover_words(self.summary.get("opening_plies"))

    def met(self) -> list[WinRateRow]:
        """Every pair that met, once, seen by the agent of the better place, in their order."""
        rank = {agent: place for place, agent in enumerate(self.agents)}
        rows = [row for row in self.pairs.values() if rank[row.agent] < rank[row.opponent]]
        return sorted(rows, key=lambda row: (rank[row.agent], rank[row.opponent]))


def stored_report(directory: Path, beside: Path | None = None) -> Report:
    """The report of a finished run; NotARun says in one line what is missing."""
    plan = stored_plan(directory, beside)
    path = games_table(directory)
    for name in NEEDED:
        if not (directory / name).exists():
            command = command_of(read_run(directory), "arena.run")
            again = f"run its experiment again, no game is played twice: {command}"
            raise NotARun(f"{directory} has no {name}: {again}")
    try:
        ratings = tuple(parquet.read_rows(directory / "elo.parquet", EloRow))
        return Report(
            plan=plan,
            run=_run(directory),
            summary=stored_summary(directory),
            ratings=ratings,
            pairs=_pairs(parquet.read_rows(directory / "win_rates.parquet", WinRateRow), ratings),
            timings=tuple(parquet.read_rows(directory / "timings.parquet", Timing)),
            games=stored_games(path, plan.names),
            losses=stored_losses(directory),
            directory=directory,
            points=_points(directory),
        )
    except (parquet.TableError, ValueError) as error:
        raise NotARun(f"{directory}: a table cannot be read: {error}") from None


def _points(directory: Path) -> tuple[PointsRow, ...]:
    """The table by points; empty where the experiment ranks by ratings."""
    path = directory / POINTS
    return tuple(parquet.read_rows(path, PointsRow)) if path.exists() else ()


def _run(directory: Path) -> KeyValues:
    """What run.json holds, as far as a page shows it of the right shape."""
    run = read_run(directory)
    if fault := misshapen(run, SHOWN_OF_RUN, "run.json"):
        raise ValueError(fault)
    return run


def _pairs(
    rows: Sequence[WinRateRow], ratings: Sequence[EloRow]
) -> dict[tuple[str, str], WinRateRow]:
    """The pairs that met, of rated agents."""
    rated = {row.agent for row in ratings}
    for row in rows:
        if strange := {row.agent, row.opponent} - rated:
            raise ValueError(f"elo.parquet has no agent {quoted(min(strange))}")
    return {(row.agent, row.opponent): row for row in rows}
