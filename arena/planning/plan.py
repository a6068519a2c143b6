"""The plan of a run: all that decides its games, in one frozen value."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path

from agents import AgentSpec, searches, users_files, with_files
from agents.user_files import split_reference
from arena.planning.file_names import name_in_plan, path_in_plan
from arena.planning.openings_spec import RANDOM_OPENINGS, OpeningsSpec
from arena.planning.rounds import RoundsSpec
from arena.stats.gsprt import EloModel
from arena.stats.sprt import SprtPlan
from games import FILE, USERS, Game, game
from games.keys import KeyValues

CLOCKS = ("seconds", "turn_seconds", "game_seconds")


NO_COPIES: Mapping[Path, Path] = {}


class PlanError(ValueError):
    """A stored plan cannot be read; one line says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that decides the games of a run; an agent's number is its place in `agents`."""

    game: str
    agents: Mapping[str, AgentSpec]
    matches: tuple[tuple[int, int], ...]
    openings: OpeningsSpec = RANDOM_OPENINGS
    pairs: int = 100  # pairings of each match
    seed: int = 1
    keep_moves: bool = True
    # None: what `time_control` says of each agent.
    move_seconds: float | None = 60.0
    turn_seconds: float | None = None  # for a move with all extra turns that it brings
    game_seconds: float | None = None
    increment: float = 0.0  # seconds added to the game's rest after every move
    stop: SprtPlan | None = None  # None: all pairs are played
    # Who meets next, from what is known; None: all matches play all pairs, which are else the most.
    rounds: RoundsSpec | None = None
    thoughts: bool = False  # whether what agents thought of their moves is kept
    # Positions that a bot must survive, or it forfeits its games: a teacher gives them.
    must_survive: tuple[str, ...] = ()
    # The directory from which users' files are named; it decides nothing, so JSON leaves it out.
    base: Path = field(default=Path(), compare=False)
    # Where the rules of a game file lie if not where its name says, as of a kept copy.
    game_file: Path | None = field(default=None, compare=False)
    # Whether machines of different speed may play by the clock; printed, but not in the JSON.
    mixed_machines: bool = field(default=False, compare=False)
    # The agent that is held at a rating, and the rating: tables show it, games do not depend on it.
    anchor: tuple[str, float] | None = field(default=None, compare=False)
    # Whether walls that keep files, network and processes apart are required.
    walls_required: bool = field(default=False, compare=False)
    # Whether a bot that does not load, or fails all its games, stops the others.
    unloadable_stops: bool = field(default=False, compare=False)

    @property
    def of(self) -> Game:
        """The game that is played."""
        return _game(self.game, self.base, self.game_file)

    @property
    def names(self) -> tuple[str, ...]:
        """The agents' names, by their places."""
        return tuple(self.agents)

    @property
    def reproducible(self) -> bool:
        """Whether the plan gives the same games on any machine: no agent plays by the clock."""
        clocks = self.turn_seconds is not None or self.game_seconds is not None
        own = CLOCKS if not clocks else ()
        return not any(
            searches(spec) and (clocks or any(name in spec.options for name in own))
            for spec in self.agents.values()
        )

    def files(self) -> Iterator[Path]:
        """The users' own rules, bots and evaluations, agent by agent."""
        if self.of.source is not None:
            yield self.of.source
        for spec in self.agents.values():
            yield from users_files(spec)

    def digest(self) -> str:
        """Hex digest of the plan and of the users' own code that it names."""
        digest = hashlib.blake2b(json.dumps(self.to_json()).encode(), digest_size=16)
        for path in self.files():
            content = path.read_bytes()
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.hexdigest()

    def to_json(self) -> KeyValues:
        """The plan as JSON; paths of users' files are relative to `base`."""
        names = self.names
        fields = {
            "game": self.game,
            "agents": {name: _spec_json(spec, self.base) for name, spec in self.agents.items()},
            "matches": [[names[a], names[b]] for a, b in self.matches],
            "openings": self.openings.to_json(),
            "pairs": self.pairs,
            "seed": self.seed,
            "keep_moves": self.keep_moves,
            "move_seconds": self.move_seconds,
            "turn_seconds": self.turn_seconds,
            "game_seconds": self.game_seconds,
            "increment": self.increment,
            "stop": self.stop and {"sprt": asdict(self.stop)},
            "rounds": self.rounds and self.rounds.to_json(),
        }
        if self.thoughts:  # a run without them stays the run that it was
            fields["thoughts"] = True
        if self.must_survive:
            fields["must_survive"] = list(self.must_survive)
        plain: KeyValues = json.loads(json.dumps(fields, default=str))
        return plain

    @classmethod
    def from_json(
        cls, stored: KeyValues, base: Path, copies: Mapping[Path, Path] = NO_COPIES
    ) -> "Plan":
        """The plan that `to_json` wrote, with users' files seen from `base`; or a PlanError.

        `copies` are taken in place of the files that they name.
        """
        try:
            names = list(stored["agents"])
            game_file = _game_file(stored["game"], base, copies)
            return cls(
                game=_game(stored["game"], base, game_file).name,
                agents={name: _spec(stored["agents"][name], base, copies) for name in names},
                game_file=game_file,
                matches=tuple((names.index(a), names.index(b)) for a, b in stored["matches"]),
                openings=OpeningsSpec.from_json(stored["openings"]),
                pairs=stored["pairs"],
                seed=stored["seed"],
                keep_moves=stored["keep_moves"],
                move_seconds=stored["move_seconds"],
                turn_seconds=stored.get("turn_seconds"),
                game_seconds=stored.get("game_seconds"),
                increment=stored.get("increment", 0.0),
                stop=stored["stop"] and _sprt(stored["stop"]["sprt"]),
                rounds=stored["rounds"] and RoundsSpec.from_json(stored["rounds"]),
                thoughts=stored.get("thoughts", False),
                must_survive=tuple(stored.get("must_survive", ())),
                base=base,
            )
        except KeyError as error:
            raise PlanError(f"its plan has no {error.args[0]}") from None
        except (AttributeError, TypeError, ValueError) as error:
            raise PlanError(str(error)) from None


def _sprt(stored: KeyValues) -> SprtPlan:
    return SprtPlan(**{**stored, "model": EloModel(stored["model"])})


def _spec_json(spec: AgentSpec, base: Path) -> dict[str, object]:
    """The spec as JSON; paths are relative to `base`."""
    return with_files(spec, lambda file: name_in_plan(file, base)).to_json()


def _spec(stored: KeyValues, base: Path, copies: Mapping[Path, Path]) -> AgentSpec:
    """The spec that `_spec_json` wrote."""

    def place(reference: str) -> str:
        there = str(path_in_plan(reference, base))
        path, name = split_reference(there, "")
        if path not in copies:
            return there
        return f"{copies[path]}:{name}" if name else str(copies[path])

    return with_files(AgentSpec.from_json(stored), place)


def _game_file(name: str, base: Path, copies: Mapping[Path, Path]) -> Path | None:
    """The copy of a game's file that is taken in its place, if one is."""
    if not copies or not FILE.search(name):
        return None
    return copies.get(import_module(USERS).file_of(name, base))


def _game(name: str, base: Path, file: Path | None) -> Game:
    """The game, its rules from `file` if there is one: these were tried when it was played."""
    if file is None:
        return game(name, base)
    made: Game = import_module(USERS).reloaded(name, file, import_module(USERS).digest_of(file))
    return made
