"""What the page of a run is made from: the run's tables, read back from its directory."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec
from arena.concluding.stored_summary import SUMMARY
from arena.concluding.table_rows import EloRow, WinRateRow
from arena.concluding.timing import Timing
from arena.keeping import parquet
from arena.keeping.provenance import read_run
from arena.keeping.run_directory import GAMES, NotARun, stored_plan
from arena.planning.openings_spec import OpeningsSpec
from arena.planning.plan import Plan
from arena.showing.move_losses import MoveLosses, stored_losses
from arena.showing.numbers import Known, known_from
from games.keys import KeyValues

NEEDED = (SUMMARY, "elo.parquet", "win_rates.parquet", "timings.parquet")
NUMBERS = ("pair", "opening", "result", "margin", "plies", "repeat")
GATHERED = OpeningsSpec("gathered", {})  # as files name them
FEW_OPENINGS = 10  # below which there is a standing, no Elo

Numbers = NDArray[np.int64]
Texts = Callable[[str, Sequence[int]], Sequence[str] | None]


@dataclass(frozen=True, eq=False)
class GameColumns:
    """The games of a run as columns, in schedule order.

    Agents are places in `names`, ends are places in `endings`. `texts` gives a column of texts
    in some rows, or None where it was not kept.
    """

    names: tuple[str, ...]
    endings: tuple[str, ...]
    first: Numbers
    second: Numbers
    opening: Numbers
    pair: Numbers
    result: NDArray[np.float64]  # points of who moved first
    margin: Numbers
    plies: Numbers
    ending: Numbers
    repeat: NDArray[np.bool_]
    texts: Texts

    def __len__(self) -> int:
        """How many games there are."""
        return len(self.result)

    @cached_property
    def forfeited(self) -> NDArray[np.bool_]:
        """Which games were lost by a fault; a game that is too long is a draw."""
        normal = [place for place, word in enumerate(self.endings) if word == "normal"]
        faulty: NDArray[np.bool_] = ~np.isin(self.ending, normal) & (self.result != 0.5)
        return faulty


@dataclass(frozen=True, slots=True)
class GatheredPlan:
    """What stands in place of a plan where games come from several runs, or from other people."""

    game: str
    files: tuple[Path, ...]
    of: None = None
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
    ratings: tuple[EloRow, ...]  # the strongest first
    pairs: Mapping[tuple[str, str], WinRateRow]
    timings: tuple[Timing, ...]
    games: GameColumns
    losses: MoveLosses | None = None  # what a judge found
    directory: Path | None = None

    @property
    def game_name(self) -> str:
        """The game as people call it; a user's own without the file that holds it."""
        return self.plan.game.rpartition(".py:")[2]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files whose games were gathered; none for a run."""
        return self.plan.files if isinstance(self.plan, GatheredPlan) else ()

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents, the strongest first."""
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
        """The score of whoever moved first, over all games."""
        return known_from(self.summary["first_mover"])

    def met(self) -> list[WinRateRow]:
        """Every pair that met, once, seen by the stronger agent; the strongest first."""
        rank = {row.agent: row.rank for row in self.ratings}
        rows = [row for row in self.pairs.values() if rank[row.agent] < rank[row.opponent]]
        return sorted(rows, key=lambda row: (rank[row.agent], rank[row.opponent]))


def stored_report(directory: Path, beside: Path | None = None) -> Report:
    """The report of a finished run; NotARun says in one line what is missing."""
    plan = stored_plan(directory, beside)
    path = directory / GAMES
    if not path.exists():
        raise NotARun(f"{directory} has no {GAMES}: the run is not finished")
    for name in NEEDED:
        if not (directory / name).exists():
            again = f"run its experiment again, no game is played twice: {plan_command(directory)}"
            raise NotARun(f"{directory} has no {name}: {again}")
    try:
        summary = json.loads((directory / SUMMARY).read_text())
        return Report(
            plan=plan,
            run=read_run(directory),
            summary=summary,
            ratings=tuple(parquet.read_rows(directory / "elo.parquet", EloRow)),
            pairs=_pairs(parquet.read_rows(directory / "win_rates.parquet", WinRateRow)),
            timings=tuple(parquet.read_rows(directory / "timings.parquet", Timing)),
            games=stored_columns(path, plan.names),
            losses=stored_losses(directory),
            directory=directory,
        )
    except (parquet.TableError, ValueError) as error:
        raise NotARun(f"{directory}: a table cannot be read: {error}") from None


def plan_command(directory: Path) -> str:
    """The command that plays a stored run."""
    return f"python -m arena.run {read_run(directory).get('path', 'FILE')}"


def stored_columns(path: Path, names: Sequence[str]) -> GameColumns:
    """The games of a table, the agents by their places in `names`."""
    columns = parquet.read_columns(path, NUMBERS)
    ending, endings = parquet.read_coded(path, "termination")
    return GameColumns(
        names=tuple(names),
        endings=tuple(endings),
        first=_seat(path, "first", names),
        second=_seat(path, "second", names),
        opening=columns["opening"],
        pair=columns["pair"],
        result=columns["result"],
        margin=columns["margin"],
        plies=columns["plies"],
        ending=ending.astype(np.int64),
        repeat=columns["repeat"],
        texts=lambda name, rows: parquet.read_texts(path, name, rows),
    )


def _seat(path: Path, seat: str, names: Sequence[str]) -> Numbers:
    """Who sat there in every game, by the place of the agent."""
    places, words = parquet.read_coded(path, seat)
    order = np.array([names.index(word) for word in words], np.int64)
    return order[places] if len(order) else np.empty(0, np.int64)


def _pairs(rows: Sequence[WinRateRow]) -> dict[tuple[str, str], WinRateRow]:
    return {(row.agent, row.opponent): row for row in rows}
