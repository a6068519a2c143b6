"""Ladders: rankings that are kept, with their file, placements and table."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from agents.core import AgentSpec
from agents.registry import replace_files, user_trees
from agents.user_files import split_reference
from arena.config.agents import AgentContext, add_roster_agents, read_agents
from arena.config.experiment import MAX_ROUND_PAIRS, load_experiment
from arena.config.toml_file import read_experiment_file
from arena.planning.games import WIN
from arena.planning.plan import Plan, PlanError, copy_of
from arena.planning.rounds import RoundsSpec, TournamentStanding
from arena.planning.schedule import Schedule, make_schedule
from arena.planning.schedules.registry import schedule_method
from arena.playing.determinism import with_deterministic_matches
from arena.playing.options import PlayOptions
from arena.playing.play import play_schedule
from arena.stats.rating_data import rating_data
from arena.stats.ratings import RatingPlan, rate
from arena.storage.game_cache import CacheKeys, GameCache
from arena.storage.journal import LOCK_FILE, RunDirectory
from arena.storage.parquet import write_rows
from arena.terminal.progress import open_displays
from games import game
from games.base.errors import UserError
from games.base.file_trees import FileTree
from games.base.files import atomic_write, write_text
from games.base.text import did_you_mean, join_names, quote

FILES = "files"  # in the ladder's directory
T = TypeVar("T")
LADDER = "ladder.json"
FORMAT = 1
TABLE = "ladder.parquet"
RATING_NOTE = (
    "Elo from all games of the ladder, without intervals: results decided which agents met"
)
PLACEMENTS = "placing"  # the journal of a race that is not over
GAMES = "games"  # the game cache of the ladder
LARGEST = 1 << 40  # bytes: the cache of a ladder never drops games


def copy_bot_files(spec: AgentSpec, ladder: Path) -> AgentSpec:
    """Copy the files of a bot and their imports into the ladder; return the spec of the copy."""
    trees = [tree for tree in user_trees(spec) if not tree.is_large]
    copies = {tree.path: _copy_directory(tree, ladder) / tree.path.name for tree in trees}
    for tree in trees:
        home = copies[tree.path].parent
        for name, path in tree.files.items():
            copy = home / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(copy) as file:
                file.write(path.read_bytes())

    def copy_reference(reference: str) -> str:
        path, name = split_reference(reference, "")
        place = copy_of(path, copies)
        if place is None:
            return reference
        return f"{place}:{name}" if name else str(place)

    return replace_files(spec, copy_reference)


def _copy_directory(tree: FileTree, ladder: Path) -> Path:
    """Return the directory for the copy of a file, by its content and its imports."""
    return ladder.absolute() / FILES / tree.digest(16)[:12]


class LadderError(UserError, ValueError):
    """An impossible change of a ladder, or a ladder that cannot be read."""


@dataclass(frozen=True)
class Ladder:
    """A ladder: `plan` has its agents, the strongest first; `placed` says how each was placed.

    `versions` counts the versions of an agent that was added again with other files or options.
    The ladder is `unfinished` until all agents of its experiment are placed.
    """

    directory: Path
    plan: Plan
    placed: Mapping[str, str] = field(default_factory=dict)
    anchors: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, int] = field(default_factory=dict)
    unfinished: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The agents, the strongest first."""
        return self.plan.names

    def placement_plan(self, name: str, spec: AgentSpec) -> Plan:
        """Return the plan that places a new agent."""
        assert self.plan.rounds is not None  # set by create_ladder
        values = {**self.plan.rounds.values, "place": name, "order": self.names}
        agents = {**self.plan.agents, name: spec}
        last = len(self.names)
        matches = tuple((other, last) for other in range(last))
        rounds = RoundsSpec("place", values)
        return replace(self.plan, agents=agents, matches=matches, rounds=rounds)

    def with_agent(self, name: str, spec: AgentSpec, place: int, how: str) -> "Ladder":
        """Return the ladder with one more agent, inserted at index `place`."""
        agents = [*self.plan.agents.items()]
        agents.insert(place, (name, spec))
        return self._with(dict(agents), {**self.placed, name: how}, self.anchors)

    def without(self, name: str) -> "Ladder":
        """Return the ladder without an agent; its games stay in the cache."""
        self.require_agent(name)
        return self._map_names(lambda each: None if each == name else each)

    def with_new_name(self, old: str, new: str) -> "Ladder":
        """Return the ladder with another name for an agent."""
        self.require_agent(old)
        self.require_no_agent(new)
        return self._map_names(lambda each: new if each == old else each)

    def with_anchor(self, name: str, elo: float) -> "Ladder":
        """Return the ladder with this agent as its only anchor."""
        self.require_agent(name)
        return self._with(self.plan.agents, self.placed, {name: elo})

    def _map_names(self, name_of: Callable[[str], str | None]) -> "Ladder":
        """Return the ladder with other names for its agents, without those renamed to None."""
        agents = _rename_keys(self.plan.agents, name_of)
        placed, anchors = _rename_keys(self.placed, name_of), _rename_keys(self.anchors, name_of)
        versions = _rename_keys(self.versions, name_of)
        return replace(self._with(agents, placed, anchors), versions=versions)

    def _with(
        self,
        agents: Mapping[str, AgentSpec],
        placed: Mapping[str, str],
        anchors: Mapping[str, float],
    ) -> "Ladder":
        plan = replace(self.plan, agents=dict(agents))
        return replace(self, plan=plan, placed=dict(placed), anchors=dict(anchors))

    def require_agent(self, name: str) -> None:
        """Raise a LadderError unless the ladder has this agent."""
        if name not in self.names:
            there = f"(there are {join_names(self.names)})" if self.names else "(it is empty)"
            near = did_you_mean(name, self.names)
            raise LadderError(f"{self.directory}: there is no agent {quote(name)} {there}{near}")

    def require_no_agent(self, name: str) -> None:
        """Raise a LadderError if the ladder has this agent."""
        if name in self.names:
            raise LadderError(
                f"{self.directory}: there is an agent {quote(name)} already: remove or rename it"
            )

    def save(self) -> None:
        """Write the ladder atomically."""
        content = {
            "format": FORMAT,
            "plan": self.plan.to_json(),
            "placed": dict(self.placed),
            "anchors": dict(self.anchors),
            "versions": dict(self.versions),
            "unfinished": self.unfinished,
        }
        write_text(
            self.directory / LADDER, json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        )


def _rename_keys(table: Mapping[str, T], name_of: Callable[[str], str | None]) -> dict[str, T]:
    both = ((name_of(name), value) for name, value in table.items())
    return {name: value for name, value in both if name is not None}


def read_ladder(directory: Path) -> Ladder:
    """Return the ladder in a directory; a LadderError if there is none."""
    path = directory / LADDER
    try:
        stored = json.loads(path.read_text())
        plan = Plan.from_json(stored["plan"], directory.absolute())
        more = stored.get("versions", {}), stored.get("unfinished", False)
        return Ladder(directory, plan, stored["placed"], stored["anchors"], *more)
    except FileNotFoundError:
        raise LadderError(
            f"{directory}: there is no ladder; begin one: pitflip ladder new EXPERIMENT"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, PlanError) as error:
        raise LadderError(f"{path}: cannot be read ({error})") from None


def create_ladder(directory: Path, plan: Plan, values: Mapping[str, object]) -> Ladder:
    """Create a ladder without agents for a plan, or return the unfinished one of the same plan.

    A LadderError if the directory has another ladder.
    """
    rounds = RoundsSpec("place", {**values, "place": "", "order": ()})
    own = replace(
        plan, agents={}, matches=(), stop=None, keep_moves=True, keep_search_info=False,
        rounds=rounds, base=directory.absolute(),
    )  # fmt: skip
    ladder = Ladder(directory, own, unfinished=True)
    if (directory / LADDER).exists():
        there = read_ladder(directory)
        if there.unfinished and replace(there.plan, agents={}) == own:
            return there
        raise LadderError(f"{directory}: there is a ladder already; choose another with --dir")
    directory.mkdir(parents=True, exist_ok=True)
    ladder.save()
    return ladder


class LadderRow(NamedTuple):
    """One agent of a ladder; `elo` is None if it cannot be compared with the others."""

    place: int
    agent: str
    elo: float | None
    group: int
    games: int
    points: float
    placed: str


def ladder_rows(ladder: Ladder, games: GameCache) -> list[LadderRow]:
    """Return a row for each agent, the strongest first; byte-equal agents share their games."""
    if not ladder.names:
        return []
    schedule, names = make_schedule(ladder.plan), ladder.names
    keys = CacheKeys(schedule, all_agents=True)
    same = [keys.fingerprints.index(content) for content in keys.fingerprints]
    first, second, scores, openings = _ladder_results(schedule, keys, sorted(set(same)), games)
    results = rating_data(first, second, scores, openings, len(names))
    anchor, elo = next(iter(ladder.anchors.items()), (None, 0.0))
    place = None if anchor is None else names.index(anchor)
    rated = rate(results, RatingPlan(draws=0, anchor=place, anchor_elo=elo))
    return [
        LadderRow(
            place=at + 1,
            agent=names[at],
            elo=None if row.rating.value is None else round(row.rating.value, 6),
            group=row.group + 1,
            games=row.games,
            points=row.points,
            placed=ladder.placed.get(names[at], ""),
        )
        for at, row in enumerate(sorted(rated.agents, key=lambda row: row.agent)[n] for n in same)
    ]


def _ladder_results(
    schedule: Schedule, keys: CacheKeys, agents: Sequence[int], games: GameCache
) -> tuple[Sequence[int], Sequence[int], Sequence[float], Sequence[int]]:
    """Return first movers, second movers, scores of the first movers and openings of all games."""
    sides = dict(
        zip(
            schedule.pairs.opening_keys.tolist(),
            schedule.pairs.opening_sides.tolist(),
            strict=True,
        )
    )
    first, second, scores, openings = [], [], [], []
    for a, b in combinations(agents, 2):
        name = keys.index_name(a, b)
        index = games.index(name, with_moves=False) if name is not None else None
        if index is None or not len(index.hashes):
            continue
        found = games.games([(index, np.arange(len(index.hashes)))], with_moves=False)
        if found is None:
            continue
        own = index.words[:, 0].tolist()
        second_moves = np.array([sides[opening] for opening in own]) == 1
        turned = keys.swap_mask(a, b, index.words) != second_moves
        first += np.where(turned, b, a).tolist()
        second += np.where(turned, a, b).tolist()
        scores += (np.where(second_moves, WIN - found.result, found.result) / float(WIN)).tolist()
        openings += own
    return first, second, scores, openings


def write_ladder_table(ladder: Ladder, rows: Sequence[LadderRow]) -> None:
    """Write the table into the ladder's directory."""
    source = {
        "game": ladder.plan.game_name,
        "seed": ladder.plan.seed,
        "plan": ladder.plan.to_json(),
    }
    write_rows(ladder.directory / TABLE, LadderRow, rows, source)


class PlacementResult(NamedTuple):
    """A ladder with a new agent, and the answer of its race; `known` of its `games` were cached."""

    ladder: Ladder
    answer: str
    games: int
    known: int


def open_ladder_cache(directory: Path) -> GameCache:
    """Open the game cache of a ladder, which has the games of agents of any kind."""
    return GameCache(directory / GAMES, LARGEST, all_agents=True)


def place_agent(
    ladder: Ladder, name: str, spec: AgentSpec, options: PlayOptions, quiet: bool
) -> PlacementResult:
    """Place an agent and save the ladder; after an interruption the same call continues.

    An agent with the same name is replaced, as an earlier version; its games stay in the cache.
    """
    spec, version = copy_bot_files(spec, ladder.directory), 1
    if name in ladder.names:
        version = ladder.versions.get(name, 1) + 1
        ladder = replace(ladder.without(name), versions={**ladder.versions, name: version})
    if not ladder.names:
        first = ladder.with_agent(name, spec, 0, "the first")
        first.save()
        return PlacementResult(first, f"{name}: place 1 of 1, the first", 0, 0)
    plan = ladder.placement_plan(name, spec)
    digest, games = plan.digest(), open_ladder_cache(ladder.directory)
    directory = ladder.directory / PLACEMENTS / digest[:12]
    try:
        with RunDirectory(directory, digest, None) as placing, open_displays(quiet, None) as show:
            own = options._replace(cache=games)
            section = placing.section()
            schedule = with_deterministic_matches(make_schedule(plan), section, own)
            played = play_schedule(schedule, section, own, show=show)
    finally:
        games.close()
    options.interrupts.check()
    standing = played.tournament
    assert standing is not None  # a plan by rounds has one
    answer, total = standing.answer, 2 * played.schedule.pairs.total
    how = answer.partition(": ")[2]
    if version > 1:
        how = f"version {version}: {how}"
    extended = ladder.with_agent(name, spec, insertion_index(standing), how)
    extended.save()
    shutil.rmtree(directory, ignore_errors=True)
    return PlacementResult(extended, answer, total, played.cached_games)


def has_agent(ladder: Ladder, name: str, spec: AgentSpec) -> bool:
    """Return whether the ladder has this agent, with the same files and options."""
    return ladder.plan.agents.get(name) == copy_bot_files(spec, ladder.directory)


def remove_ladder(directory: Path) -> None:
    """Remove the files of a ladder, and its directory if it is then empty."""
    for name in (GAMES, PLACEMENTS, FILES):
        shutil.rmtree(directory / name, ignore_errors=True)
    for name in (LADDER, TABLE, LOCK_FILE):
        (directory / name).unlink(missing_ok=True)
    if not any(directory.iterdir()):
        directory.rmdir()


def insertion_index(standing: TournamentStanding) -> int:
    """Return the number of agents above the new one, with half of those that are undecided."""
    others = standing.rows[1:]
    open_ = sum(row.place is None for row in others)
    return sum(row.place == at + 1 for at, row in enumerate(others)) + (open_ + 1) // 2


def plan_for_ladder(path: Path) -> tuple[Plan, Mapping[str, object]]:
    """Return the plan of a ladder for this experiment, and the keys of its races."""
    plan = load_experiment(path, ('schedule="round_robin"',)).plan
    if plan.game.source is not None:
        raise UserError(f"{plan.game_name}: a ladder cannot play a game from a file")
    if "pairs" not in read_experiment_file(path, ())[0].tables:
        plan = replace(plan, pairs=MAX_ROUND_PAIRS)
    return plan, {
        key.name: key.default for key in schedule_method("place").keys if key.name != "place"
    }


def read_ladder_agents(path: Path, plan: Plan) -> list[tuple[str, AgentSpec]]:
    """Return the agents of a file: its roster and [agents.NAME], or the file as one agent."""
    source, problems = read_experiment_file(path, ())
    base = path.absolute().parent
    tables, _ = add_roster_agents(source.tables, base, problems)
    context = AgentContext(plan.game, base, problems)
    written = tables.get("agents")
    if written is None and "kind" in tables:
        written = {path.stem: tables}
    if not isinstance(written, dict) or not written:
        problems.raise_if_any()
        raise UserError(f"{path}: no agent: write [agents.NAME] with its kind")
    name = tables.get("game", plan.game_name)
    if not isinstance(name, str) or game(name, base).name != plan.game.name:
        raise UserError(f"{path}: game is {quote(str(name))}, the ladder plays {plan.game_name}")
    specs = read_agents(written, context)
    problems.raise_if_any()
    return list(specs.items())
