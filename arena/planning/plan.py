"""Everything that decides the games."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path

from agents.core import AgentSpec
from agents.registry import (
    is_external,
    is_search,
    replace_files,
    users_code,
    users_paths,
    users_trees,
)
from agents.user_files import split_reference
from arena.planning.rounds import RoundsSpec
from arena.stats.sprt import EloModel, SprtPlan
from games import GAME_FILE, USER_GAMES, Game, game
from games.base.file_trees import FileTree, file_tree
from games.base.schema import KeyValues

VERSIONS = "@versions"  # in place of a user's cache, which is elsewhere on another machine
CLOCKS = ("seconds", "turn_seconds", "game_time")
NO_COPIES: Mapping[Path, Path] = {}


def versions_cache() -> Path:
    """Return the directory for versions of files, each in a directory named by its content."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (cache / "pitflip" / "versions").resolve()


def portable_path(path: str | Path, base: Path) -> str:
    """The name of a file in the JSON of a plan; the same on every machine."""
    versions = versions_cache()
    if Path(path).is_relative_to(versions):
        return f"{VERSIONS}/{Path(path).relative_to(versions).as_posix()}"
    return Path(os.path.relpath(path, base)).as_posix()


def resolve_path(name: str, base: Path) -> Path:
    """Return the path of a file by its portable name; a part after a colon stays."""
    if name.startswith(f"{VERSIONS}/"):
        return versions_cache() / name.removeprefix(f"{VERSIONS}/")
    return base / name


class PlanError(ValueError):
    """A stored plan cannot be read; one line says why."""


@dataclass(frozen=True, slots=True)
class OpeningsSpec:
    """The openings of games: one of `OPENINGS`, with the values of its keys."""

    way: str
    values: KeyValues
    balance: float | None = None  # None: all are kept
    repeat: bool = False  # whether they are played again if there are too few

    def to_json(self) -> dict[str, object]:
        """The spec as JSON."""
        values = {"way": self.way, **self.values, "balance": self.balance, "repeat": self.repeat}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    @classmethod
    def from_json(cls, stored: KeyValues) -> "OpeningsSpec":
        """The spec that `to_json` wrote."""
        own = {name: value for name, value in stored.items() if name not in COMMON}
        values = {name: tuple(v) if isinstance(v, list) else v for name, v in own.items()}
        return cls(stored["way"], values, stored["balance"], stored["repeat"])


COMMON = ("way", "balance", "repeat")
RANDOM_OPENINGS = OpeningsSpec("random", {"random_plies": 6})


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
    # Which agents meet next, round by round; None: all matches play all pairs.
    rounds: RoundsSpec | None = None
    thoughts: bool = False  # whether search information of moves is kept
    # Positions that a bot must survive, or it forfeits its games: a teacher gives them.
    must_survive: tuple[str, ...] = ()
    # The directory that users' files are relative to; it decides no game and is not in the JSON.
    base: Path = field(default=Path(), compare=False)
    # The path of a game file's rules, if they are a kept copy.
    game_file: Path | None = field(default=None, compare=False)
    # Copies that are played in place of users' files, and the agents as their user wrote them.
    copies: Mapping[Path, Path] = field(default_factory=dict, compare=False)
    written: Mapping[str, AgentSpec] = field(default_factory=dict, compare=False)
    # The agent that is held at a rating, and the rating: tables show it, games do not depend on it.
    anchor: tuple[str, float] | None = field(default=None, compare=False)
    # Whether the sandbox must isolate files, network and processes.
    walls_required: bool = field(default=False, compare=False)
    # Whether a bot that does not load, or fails all its games, stops the run.
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
    def by_the_clock(self) -> tuple[str, ...]:
        """Return the agents of ours whose moves depend on the time that they have."""
        clocks = self.turn_seconds is not None or self.game_seconds is not None
        own = CLOCKS if not clocks else ()
        return tuple(
            name
            for name, spec in self.agents.items()
            if is_search(spec) and (clocks or any(each in spec.options for each in own))
        )

    @property
    def reproducible(self) -> bool:
        """Return whether no agent of ours plays by the clock."""
        return not self.by_the_clock

    @property
    def outside_bots(self) -> tuple[str, ...]:
        """Return the agents that run somebody else's code: only asking shows what they do."""
        return tuple(n for n, spec in self.agents.items() if is_external(spec) or users_code(spec))

    def trees(self) -> list[FileTree]:
        """Return the users' rules, bots and evaluations, with what they import and can read."""
        trees = [file_tree(self.of.source)] if self.of.source is not None else []
        trees += [tree for spec in self.agents.values() for tree in users_trees(spec)]
        return list({tree.path: tree for tree in trees}.values())

    def with_copies(self, copies: Mapping[Path, Path]) -> "Plan":
        """Return the plan that plays the copies of users' files; its games are the same ones."""
        if not copies:
            return self
        placed = {name: _with_copies(spec, copies) for name, spec in self.agents.items()}
        game_file = _game_file(self.game, self.base, copies)
        return replace(self, agents=placed, game_file=game_file, copies=copies, written=self.agents)

    def with_written_paths(self, agent: str, text: str) -> str:
        """Return a text about an agent, with the paths of its files in place of their copies'."""
        for path in users_paths(self.written[agent]) if agent in self.written else ():
            if copy := self.copies.get(path):
                text = text.replace(f"{copy.parent}/", f"{path.parent}/")
        return text

    def digest(self) -> str:
        """Return the hex digest of the plan and of all of the users' own that decides its games."""
        digest = hashlib.blake2b(json.dumps(self.to_json()).encode(), digest_size=16)
        for tree in self.trees():
            digest.update(tree.digest(16).encode())
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
    return replace_files(spec, lambda file: portable_path(file, base)).to_json()


def _spec(stored: KeyValues, base: Path, copies: Mapping[Path, Path]) -> AgentSpec:
    """The spec that `_spec_json` wrote."""
    spec = AgentSpec.from_json(stored)
    written = replace_files(spec, lambda reference: str(resolve_path(reference, base)))
    return _with_copies(written, copies)


def _with_copies(spec: AgentSpec, copies: Mapping[Path, Path]) -> AgentSpec:
    """The spec with copies in place of the files that it names."""

    def place(reference: str) -> str:
        path, name = split_reference(reference, "")
        copy = copy_of(path, copies)
        if copy is None:
            return reference
        return f"{copy}:{name}" if name else str(copy)

    return replace_files(spec, place)


def copy_of(path: Path, copies: Mapping[Path, Path]) -> Path | None:
    """Return the copy to take in place of a path: in that of the outermost directory, if any."""
    for place in (*reversed(path.parents), path):
        if place in copies:
            return copies[place] / path.relative_to(place)
    return None


def _game_file(name: str, base: Path, copies: Mapping[Path, Path]) -> Path | None:
    """The copy of a game's file that is taken in its place, if one is."""
    if not copies or not GAME_FILE.search(name):
        return None
    return copy_of(import_module(USER_GAMES).file_of(name, base), copies)


def _game(name: str, base: Path, file: Path | None) -> Game:
    """The game, its rules from `file` if there is one: these were tried when it was played."""
    if file is None:
        return game(name, base)
    made: Game = import_module(USER_GAMES).reloaded(
        name, file, import_module(USER_GAMES).digest_of(file)
    )
    return made
