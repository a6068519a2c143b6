"""Experiments: what a TOML file says, checked as a whole before the first game."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents import AgentSpec
from agents.user_files import split_reference
from arena.reading.agent_tables import Around, read_agents, stochastic, varies
from arena.reading.consistency import (
    check_problems,
    known_game,
    known_matches,
    opening_problems,
    stop_problems,
)
from arena.reading.file_tables import (
    RANDOM_OPENINGS,
    ROUND_ROBIN,
    CheckTable,
    OpeningsTable,
    ScheduleTable,
    Settings,
    SprtTable,
    StopTable,
    WholeFile,
    fitting,
)
from arena.reading.problems import ExperimentError, Problems, Source
from arena.reading.toml_text import read
from games import Game, game

__all__ = [
    "CheckTable",
    "Experiment",
    "ExperimentError",
    "OpeningsTable",
    "ScheduleTable",
    "SprtTable",
    "StopTable",
    "load",
    "reproducible",
    "stochastic",
    "varies",
]

DEFAULT_PAIRS = 100
MOVES_KEPT_BELOW = 100_000  # games


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Everything a run is made of; agents are counted by their place in `agents`."""

    name: str
    path: Path
    game: str
    agents: Mapping[str, AgentSpec]
    schedule: ScheduleTable = ROUND_ROBIN
    openings: OpeningsTable = RANDOM_OPENINGS
    pairs: int = DEFAULT_PAIRS
    seed: int = 1
    keep_moves: bool | None = None
    move_seconds: float = 60.0
    stop: StopTable | None = None
    checks: tuple[CheckTable, ...] = ()

    @property
    def of(self) -> Game:
        """The game that is played."""
        return game(self.game)

    @property
    def directory(self) -> Path:
        """Where the file lies, absolute."""
        return self.path.absolute().parent

    def pairs_of_agents(self) -> tuple[tuple[int, int], ...]:
        """The matches, each as the places of its two agents."""
        return self.schedule.matches(list(self.agents))

    @property
    def games(self) -> int:
        """Games of the whole schedule, if nothing stops it before."""
        return 2 * self.pairs * len(self.pairs_of_agents())

    @property
    def keeps_moves(self) -> bool:
        """Whether the moves of every game are stored."""
        return self.games < MOVES_KEPT_BELOW if self.keep_moves is None else self.keep_moves

    def resolved(self) -> dict[str, Any]:
        """What decides the games, as JSON can hold it: neither names of runs nor checks."""
        names = list(self.agents)
        said = {
            "game": self.game,
            "agents": {name: self._spec(spec) for name, spec in self.agents.items()},
            "matches": [[names[a], names[b]] for a, b in self.pairs_of_agents()],
            "openings": {
                "kind": self.openings.kind,
                "plies": self.openings.plies,
                "lines": self.openings.lines,
                "balance": self.openings.balance,
                "repeat": self.openings.repeat,
            },
            "pairs": self.pairs,
            "seed": self.seed,
            "keep_moves": self.keeps_moves,
            "move_seconds": self.move_seconds,
            "stop": self.stop and self.stop.model_dump(),
        }
        plain: dict[str, Any] = json.loads(json.dumps(said, default=str))
        return plain

    def _spec(self, spec: AgentSpec) -> dict[str, Any]:
        """The spec with its weights in one order, its files as seen from the experiment's."""
        said = asdict(spec) | {"weights": dict(sorted(spec.weights.items()))}
        for key in ("file", "evaluate"):
            if said[key]:
                said[key] = Path(os.path.relpath(said[key], self.directory)).as_posix()
        return said

    def digest(self) -> str:
        """Hex digest of all that decides the games, the users' own code included."""
        digest = hashlib.blake2b(json.dumps(self.resolved()).encode(), digest_size=16)
        for path in self.files():
            content = path.read_bytes()
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.hexdigest()

    def files(self) -> Iterator[Path]:
        """The users' own bots and evaluations, agent by agent."""
        for spec in self.agents.values():
            for reference in filter(None, (spec.file, spec.evaluate)):
                yield split_reference(reference, "")[0]


def reproducible(experiment: Experiment) -> bool:
    """Whether the same file gives the same games: no agent plays by the clock."""
    return all(spec.seconds is None for spec in experiment.agents.values())


def load(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """The experiment in a file, changed by `key=value` overrides; ExperimentError says all."""
    source, problems = read(Path(path), overrides)
    problems.add_schema(WholeFile)
    settings = fitting(Settings, source.tables) or Settings()
    of = known_game(settings, problems)
    agents = agents_in(source, settings, of, problems)
    opening_problems(settings, of, problems)
    problems.raise_if_any()
    whole = WholeFile.model_validate(source.tables)
    openings = settings.openings
    most = openings.known if openings.known and not openings.repeat else DEFAULT_PAIRS
    return Experiment(
        name=whole.name or source.path.stem,
        path=source.path,
        game=game(whole.game).name,
        agents=agents,
        schedule=whole.schedule,
        openings=openings,
        pairs=whole.pairs or min(most, DEFAULT_PAIRS),
        seed=whole.seed,
        keep_moves=whole.keep_moves,
        move_seconds=whole.move_seconds,
        stop=whole.stop,
        checks=whole.checks,
    )


def agents_in(
    source: Source, settings: Settings, of: Game | None, problems: Problems
) -> dict[str, AgentSpec]:
    """The agents by name; what the schedule, stop and checks say about them is looked at too."""
    written = source.tables.get("agents")
    if not isinstance(written, dict):
        return {}
    agents = read_agents(written, Around(of, source.path.absolute().parent, problems))
    names = list(written)
    # A schedule that does not fit its table is a problem already; nothing follows from it.
    fits = "schedule" not in source.tables or "schedule" in settings.model_fields_set
    matches = known_matches(settings.schedule, names, problems) if fits else None
    if matches is not None:
        stop_problems(settings, matches, problems)
    check_problems(source.tables.get("checks"), names, matches, agents, problems)
    return agents
