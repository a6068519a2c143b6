"""The plan: everything that decides the games."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path

import games
from agents.core import MOVE_SECONDS, AgentSpec
from agents.options import TIME_OPTIONS
from agents.registry import (
    is_external,
    is_search,
    replace_files,
    user_code_reason,
    user_paths,
    user_trees,
)
from agents.user_files import split_reference
from arena.planning.rounds import RoundsSpec, values_from_json, values_to_json
from arena.stats.sprt import EloModel, SprtPlan
from arena.stats.stopping import GIVE_UP_ERROR, StopPlan, WidthPlan
from games import GAME_FILE, USER_GAMES, Game
from games.base.file_trees import FileTree, file_tree
from games.base.schema import KeyValues

VERSIONS = "@versions"  # in place of a user's cache, whose path differs between machines
NO_COPIES: Mapping[Path, Path] = {}


def versions_cache() -> Path:
    """Return the directory for versions of files, each in a directory named by its content."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return (cache / "pitflip" / "versions").resolve()


def portable_path(path: str | Path, base: Path) -> str:
    """Return the name of a file in the JSON of a plan; it is the same on every machine."""
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
    """A stored plan cannot be read; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class OpeningsSpec:
    """The openings of games: an entry of `OPENINGS`, with the values of its keys."""

    method: str
    values: KeyValues
    balance: float | None = None  # None: all are kept
    repeat: bool = False  # whether they are played again if there are too few

    def to_json(self) -> dict[str, object]:
        """Return the spec as JSON."""
        common = {"balance": self.balance, "repeat": self.repeat}
        return {"way": self.method, **values_to_json(self.values), **common}

    @classmethod
    def from_json(cls, stored: KeyValues) -> "OpeningsSpec":
        """Return the spec that `to_json` wrote."""
        values = values_from_json(stored, {"way", "balance", "repeat"})
        return cls(stored["way"], values, stored["balance"], stored["repeat"])


RANDOM_OPENINGS = OpeningsSpec("random", {"random_plies": 6})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that decides the games of a run; an agent's number is its place in `agents`."""

    game_name: str
    agents: Mapping[str, AgentSpec]
    matches: tuple[tuple[int, int], ...]
    openings: OpeningsSpec = RANDOM_OPENINGS
    pairs: int = 100  # of each match
    seed: int = 1
    keep_moves: bool = True
    move_seconds: float | None = MOVE_SECONDS  # None: `time_control` decides it for each agent
    turn_seconds: float | None = None  # for a move with all its extra turns
    game_seconds: float | None = None
    increment: float = 0.0  # seconds added to the rest of the game's time after every move
    stop: StopPlan | None = None  # None: all pairs are played
    gives_up: bool = False  # whether the stop rule gives up if the pairs will not suffice
    rounds: RoundsSpec | None = None  # None: all matches play all pairs
    keep_search_info: bool = False
    must_survive: tuple[str, ...] = ()  # positions; a bot that fails on one forfeits its games
    # No game depends on the other fields, and they are not in the JSON.
    # The directory that users' files are relative to.
    base: Path = field(default=Path(), compare=False)
    # The path of a game file's rules, if they are a kept copy.
    game_file: Path | None = field(default=None, compare=False)
    # Copies that are played in place of users' files, and the agents with the original files.
    copies: Mapping[Path, Path] = field(default_factory=dict, compare=False)
    original_agents: Mapping[str, AgentSpec] = field(default_factory=dict, compare=False)
    anchor: tuple[str, float] | None = field(default=None, compare=False)  # agent and its rating
    # True if the sandbox must isolate files, network and processes.
    sandbox_required: bool = field(default=False, compare=False)
    # Agents that stop the run if they do not load or fail all their games; others are disqualified.
    required_agents: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def game(self) -> Game:
        """The game that is played."""
        return _load_game(self.game_name, self.base, self.game_file)

    @property
    def names(self) -> tuple[str, ...]:
        """The agents' names, by their places."""
        return tuple(self.agents)

    @property
    def agents_on_clock(self) -> tuple[str, ...]:
        """The built-in agents whose moves depend on the time that they have."""
        clocks = self.turn_seconds is not None or self.game_seconds is not None
        return tuple(
            name
            for name, spec in self.agents.items()
            if is_search(spec) and (clocks or any(each in spec.options for each in TIME_OPTIONS))
        )

    @property
    def is_reproducible(self) -> bool:
        """True if no built-in agent plays by the clock."""
        return not self.agents_on_clock

    @property
    def external_bots(self) -> tuple[str, ...]:
        """The agents that run a user's code: only their answers show how they play."""
        return tuple(
            name
            for name, spec in self.agents.items()
            if is_external(spec) or user_code_reason(spec)
        )

    def file_trees(self) -> list[FileTree]:
        """Return the users' rules, bots and evaluations, with what they import and can read."""
        trees = [file_tree(self.game.source)] if self.game.source is not None else []
        trees += [tree for spec in self.agents.values() for tree in user_trees(spec)]
        return list({tree.path: tree for tree in trees}.values())

    def with_copies(self, copies: Mapping[Path, Path]) -> "Plan":
        """Return the plan that plays copies of users' files; its games are the same."""
        if not copies:
            return self
        agents = {name: _with_copies(spec, copies) for name, spec in self.agents.items()}
        game_file = _copy_of_game_file(self.game_name, self.base, copies)
        return replace(
            self, agents=agents, game_file=game_file, copies=copies, original_agents=self.agents
        )

    def with_original_paths(self, agent: str, text: str) -> str:
        """Return a text about an agent with the paths of its files in place of their copies'."""
        spec = self.original_agents.get(agent)
        for path in user_paths(spec) if spec is not None else ():
            if copy := self.copies.get(path):
                text = text.replace(f"{copy.parent}/", f"{path.parent}/")
        return text

    def digest(self) -> str:
        """Return the hex digest of the plan and of all users' files that decide its games."""
        digest = hashlib.blake2b(json.dumps(self.to_json()).encode(), digest_size=16)
        for tree in self.file_trees():
            digest.update(tree.digest(16).encode())
        return digest.hexdigest()

    def to_json(self) -> KeyValues:
        """Return the plan as JSON; paths of users' files are relative to `base`."""
        names = self.names
        fields = {
            "game": self.game_name,
            "agents": {name: _spec_to_json(spec, self.base) for name, spec in self.agents.items()},
            "matches": [[names[a], names[b]] for a, b in self.matches],
            "openings": self.openings.to_json(),
            "pairs": self.pairs,
            "seed": self.seed,
            "keep_moves": self.keep_moves,
            "move_seconds": self.move_seconds,
            "turn_seconds": self.turn_seconds,
            "game_seconds": self.game_seconds,
            "increment": self.increment,
            "stop": self.stop and _stop_to_json(self.stop, self.gives_up),
            "rounds": self.rounds and self.rounds.to_json(),
        }
        if self.keep_search_info:  # without it the digest stays that of earlier versions
            fields["thoughts"] = True
        if self.must_survive:
            fields["must_survive"] = list(self.must_survive)
        plain: KeyValues = json.loads(json.dumps(fields, default=str))
        return plain

    @classmethod
    def from_json(
        cls, stored: KeyValues, base: Path, copies: Mapping[Path, Path] = NO_COPIES
    ) -> "Plan":
        """Return the plan that `to_json` wrote, with users' files relative to `base`; or PlanError.

        `copies` replace the files that they name.
        """
        try:
            names = list(stored["agents"])
            game_file = _copy_of_game_file(stored["game"], base, copies)
            return cls(
                game_name=_load_game(stored["game"], base, game_file).name,
                agents={
                    name: _spec_from_json(stored["agents"][name], base, copies) for name in names
                },
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
                stop=stored["stop"] and _stop_from_json(stored["stop"]),
                gives_up="give_up" in (stored["stop"] or {}),
                rounds=stored["rounds"] and RoundsSpec.from_json(stored["rounds"]),
                keep_search_info=stored.get("thoughts", False),
                must_survive=tuple(stored.get("must_survive", ())),
                base=base,
            )
        except KeyError as error:
            raise PlanError(f"its plan has no {error.args[0]}") from None
        except (AttributeError, TypeError, ValueError) as error:
            raise PlanError(str(error)) from None


def _stop_to_json(plan: StopPlan, gives_up: bool) -> KeyValues:
    rule = {"sprt": asdict(plan)} if isinstance(plan, SprtPlan) else {"width": plan.width}
    return {**rule, **({"give_up": GIVE_UP_ERROR} if gives_up else {})}


def _stop_from_json(stored: KeyValues) -> StopPlan:
    if "width" in stored:
        return WidthPlan(stored["width"])
    return SprtPlan(**{**stored["sprt"], "model": EloModel(stored["sprt"]["model"])})


def _spec_to_json(spec: AgentSpec, base: Path) -> dict[str, object]:
    return replace_files(spec, lambda file: portable_path(file, base)).to_json()


def _spec_from_json(stored: KeyValues, base: Path, copies: Mapping[Path, Path]) -> AgentSpec:
    spec = AgentSpec.from_json(stored)
    original = replace_files(spec, lambda reference: str(resolve_path(reference, base)))
    return _with_copies(original, copies)


def _with_copies(spec: AgentSpec, copies: Mapping[Path, Path]) -> AgentSpec:
    def replace_file(reference: str) -> str:
        path, name = split_reference(reference, "")
        copy = copy_of(path, copies)
        if copy is None:
            return reference
        return f"{copy}:{name}" if name else str(copy)

    return replace_files(spec, replace_file)


def copy_of(path: Path, copies: Mapping[Path, Path]) -> Path | None:
    """Return the copy that replaces a path, in that of the outermost directory if several do."""
    for place in (*reversed(path.parents), path):
        if place in copies:
            return copies[place] / path.relative_to(place)
    return None


def _copy_of_game_file(name: str, base: Path, copies: Mapping[Path, Path]) -> Path | None:
    if not copies or not GAME_FILE.search(name):
        return None
    return copy_of(import_module(USER_GAMES).game_file_path(name, base), copies)


def _load_game(name: str, base: Path, file: Path | None) -> Game:
    """Return the game, with rules from `file` if it is given: they were validated before."""
    if file is None:
        return games.game(name, base)
    loader = import_module(USER_GAMES)
    game: Game = loader.reload_user_game(name, file, loader.file_digest(file))
    return game
