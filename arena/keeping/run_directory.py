"""A run as its directory tells it: the experiment in run.json, the games in the tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # it ships no types

from agents import AgentSpec
from arena.keeping.provenance import code_digest, file_digest, read_run
from arena.planning.records import WIN, Games, Termination
from games import Game, game

GAMES = "games.parquet"
COMPARED = ("pair", "seed", "game_id", "result", "margin", "plies", "termination")


class NotARun(ValueError):  # noqa: N818  # an answer, not a fault
    """Why a directory does not tell of a run; one line."""


class Stored(NamedTuple):
    """The games of a run as its table has them; moves as players write them, if it has them."""

    games: Games
    moves: list[str] | None


class OpeningsSpec(NamedTuple):
    """Where games begin, as in an experiment."""

    kind: str
    plies: int
    lines: tuple[str, ...]
    balance: float | None
    repeat: bool


@dataclass(frozen=True)
class Recorded:
    """What decides the games of a run, read from run.json: the experiment file is not needed."""

    of: Game
    agents: Mapping[str, AgentSpec]
    matches: tuple[tuple[int, int], ...]
    openings: OpeningsSpec
    pairs: int
    seed: int
    move_seconds: float
    keeps_moves: bool
    stop: None = None  # what was played is known

    def pairs_of_agents(self) -> tuple[tuple[int, int], ...]:
        """The matches, each as the places of its two agents."""
        return self.matches


def recorded(directory: Path, beside: Path | None = None) -> Recorded:
    """The experiment of a run; the users' files lie where they were, or as if in `beside`."""
    said = read_run(directory)
    if not said:
        raise NotARun(f"{directory} is not a run's directory: it has no run.json")
    try:
        told = said["resolved"]
        names, base = list(told["agents"]), beside or Path(said["path"]).parent
        opened = told["openings"]
        return Recorded(
            of=game(told["game"]),
            agents={name: spec_of(told["agents"][name], base) for name in names},
            matches=tuple((names.index(a), names.index(b)) for a, b in told["matches"]),
            openings=OpeningsSpec(**(opened | {"lines": tuple(opened["lines"])})),
            pairs=told["pairs"],
            seed=told["seed"],
            move_seconds=told["move_seconds"],
            keeps_moves=told["keep_moves"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotARun(f"{directory / 'run.json'} cannot be read: {error!r}") from None


def changes_since(directory: Path, beside: Path | None = None) -> list[str]:
    """What is not as it was when the run was played."""
    said = read_run(directory)
    base = beside or Path(said["path"]).parent
    changed = [
        name for name, old in said.get("files", {}).items() if file_digest(base / name) != old
    ]
    if said.get("code") != code_digest():
        changed.append("pitflip")
    return [f"{name} has changed since this run" for name in changed]


def spec_of(told: Mapping[str, Any], base: Path) -> AgentSpec:
    """The spec that `Experiment.resolved` wrote."""
    weights = {name: tuple(values) for name, values in told["weights"].items()}
    files = {key: str(base / told[key]) for key in ("file", "evaluate") if told[key]}
    return AgentSpec(**(dict(told) | files | {"weights": weights}))


def stored_games(directory: Path) -> Stored:
    """What `games.parquet` says of the games of a run, as far as it can be compared."""
    path = directory / GAMES
    if not path.exists():
        raise NotARun(f"{directory} has no {GAMES}: the run is not finished")
    try:
        names = pq.read_schema(path).names
        moves = ["moves"] if "moves" in names else []
        table = pq.read_table(path, columns=[*COMPARED, *moves])
    except (OSError, ValueError) as error:
        raise NotARun(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    columns = {name: table[name].to_numpy() for name in COMPARED if name != "termination"}
    columns["result"] = np.rint(columns["result"] * WIN).astype(np.int8)
    words = {how.name.lower(): int(how) for how in Termination}
    told = [words.get(word, -1) for word in table["termination"].to_pylist()]
    columns["termination"] = np.array(told, np.int8)
    return Stored(Games(columns, None, {}), table["moves"].to_pylist() if moves else None)
