"""Read an experiment from a file or tables and make its plan."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from agents.core import AgentSpec
from agents.options import CLOCKS
from agents.registry import AGENTS
from agents.spec import spec_from_table, spec_from_text
from arena.analysis.checks.registry import Check
from arena.config.agents import (
    AgentContext,
    add_roster_agents,
    agent_option_hint,
    read_agents,
    read_must_survive,
)
from arena.config.checks import CheckContext, read_checks
from arena.config.keys import EXPERIMENT_KEYS, Settings, read_settings, top_level_hint
from arena.config.toml_file import (
    ExperimentError,
    Problems,
    Source,
    read_experiment_file,
)
from arena.planning.openings.registry import COMMON_KEYS, OPENINGS, OpeningMethod, opening_method
from arena.planning.plan import RANDOM_OPENINGS, OpeningsSpec, Plan
from arena.planning.rounds import RoundsSpec
from arena.planning.scale import SCALE, load_scale
from arena.planning.schedules.registry import (
    SCHEDULES,
    Matches,
    ScheduleMethod,
    rounds_choice,
    schedule_method,
)
from arena.playing.clock import default_move_seconds
from arena.stats.stopping import WidthPlan
from games import Game, GameError, game
from games.base.errors import UserError
from games.base.files import format_toml
from games.base.schema import Key, KeyValues, default_values, parse_game_time, read_table
from games.base.text import did_you_mean, format_value, join_names, quote

MOST_ELO = 100_000.0
SHOWN = 20  # names of agents that a message lists
__all__ = ["Experiment", "ExperimentError", "load_experiment"]
DEFAULT_PAIRS = 100
MAX_STOP_PAIRS = 10_000  # of a match with a stop rule
MAX_ROUND_PAIRS = 2000  # per match in schedules by rounds, which usually end earlier
SCALE_PAIRS = 200  # of a placement
MOVES_KEPT_BELOW = 100_000  # games


class Anchor(NamedTuple):
    """The agent whose rating is fixed."""

    name: str
    elo: float


class AnchorError(ValueError):
    """An anchor without an agent or a rating."""


def parse_anchor(word: str, names: Sequence[str]) -> Anchor:
    """Parse an anchor, `NAME` or `NAME=ELO`; the name of an agent may contain `=`."""
    if word in names:
        return Anchor(word, 0.0)
    name, _, text = word.rpartition("=")
    if name not in names:
        near = did_you_mean(name or word, names)
        raise AnchorError(
            f"must be one of {join_names(names[:SHOWN])}, got {quote(name or word)}{near}"
        )
    try:
        elo = float(text)
    except ValueError:
        elo = MOST_ELO + 1.0
    if not abs(elo) <= MOST_ELO:
        raise AnchorError(f"needs a rating, as in {name}=1500, got {quote(text)}")
    return Anchor(name, elo)


ChoiceEntry: TypeAlias = ScheduleMethod | OpeningMethod


class ChoiceTable(NamedTuple):
    """The entries that a key of the file selects from, and the keys that they share."""

    key: str
    entries: Mapping[str, ChoiceEntry]
    shared: Sequence[Key] = ()


class MatchSchedule(NamedTuple):
    """The matches, and the rounds if the schedule goes by rounds."""

    matches: Matches
    rounds: RoundsSpec | None


def read_schedule(
    written: object, names: Sequence[str], problems: Problems
) -> MatchSchedule | None:
    """Return the matches; report a wrong schedule and return None."""
    table = ChoiceTable("schedule", {name: schedule_method(name) for name in SCHEDULES})
    chosen = _read_choice(written, table, problems)
    if len(names) < 2:
        problems.add(("agents",), f"at least two agents must play, got {len(names)}")
        return None
    if chosen is None:
        return None
    name, values = chosen
    faults = list(schedule_method(name).problems(values, names))
    for inside, message in faults:
        problems.add(("schedule", *inside), message, ("schedule",) if inside else None)
    if faults:
        return None
    return MatchSchedule(schedule_method(name).matches(values, names), rounds_choice(name, values))


def read_openings(written: object, game: Game | None, problems: Problems) -> OpeningsSpec:
    """Return the openings; report wrong ones and return the default."""
    table = ChoiceTable("openings", {name: opening_method(name) for name in OPENINGS}, COMMON_KEYS)
    chosen = _read_choice(written, table, problems)
    if chosen is None:
        return RANDOM_OPENINGS
    name, values = chosen
    shared = {key.name: values.pop(key.name) for key in COMMON_KEYS}
    spec = replace(openings_spec(name, values), **shared)
    for inside, message in opening_method(name).problems(spec, game):
        problems.add(("openings", *inside), message, ("openings",))
    return spec


def openings_spec(name: str, values: KeyValues) -> OpeningsSpec:
    """Return the openings of a plan; `random_plies` selects one of three methods."""
    plies = values.get("random_plies")
    if name == "none" or (name == "random" and plies == 0):
        return OpeningsSpec("none", {"none": True})
    if name == "random" and not isinstance(plies, int):
        return OpeningsSpec("plies", {"plies": plies})
    return OpeningsSpec(name, values)


def _read_choice(
    written: object, table: ChoiceTable, problems: Problems
) -> tuple[str, dict[str, Any]] | None:
    """Return the selected entry with the values of its keys; None after a problem."""
    words = [name for name, entry in table.entries.items() if entry.name_suffices]
    if isinstance(written, str) and written in words:
        return written, default_values([*table.entries[written].keys, *table.shared])
    if not isinstance(written, dict):
        *most, last = [text for entry in table.entries.values() for text in entry.examples]
        form = f"{', '.join(most)} or {last}"
        message = (
            f"{table.key} must be {form}, got {format_value(written)}{did_you_mean(written, words)}"
        )
        problems.add((table.key,), message)
        return None
    count, firsts = (
        len(problems.found),
        {entry.keys[0].name: name for name, entry in table.entries.items() if entry.keys},
    )
    chosen = choose_entries(written, table, firsts)
    keys = [key for name in chosen or table.entries for key in table.entries[name].keys]
    values = read_table(written, (table.key,), [*keys, *table.shared], problems.add, top_level_hint)
    if len(problems.found) > count:
        return None
    if len(chosen) != 1:
        got = join_names(key for key in firsts if key in written) or "none of them"
        message = f"exactly one of {join_names(firsts)} must be given, got {got}"
        problems.add((table.key,), message, (table.key,))
        return None
    return chosen[0], values


def choose_entries(
    written: Mapping[str, object], table: ChoiceTable, firsts: Mapping[str, str]
) -> list[str]:
    """Return the entries whose first key is given; only one if it alone has all keys."""
    chosen = [name for key, name in firsts.items() if key in written]
    shared = {key.name for key in table.shared}
    whole = [
        name
        for name in chosen
        if set(written) <= shared | {key.name for key in table.entries[name].keys}
    ]
    return whole if len(whole) == 1 else chosen


def load_game(settings: Settings, base: Path, problems: Problems) -> Game | None:
    """Return the game, with files relative to `base`; report an unknown one."""
    if settings.game is None:
        return None
    try:
        return game(settings.game, base)
    except GameError as error:
        problems.add(("game",), str(error))
        return None


def check_stop_rule(settings: Settings, schedule: MatchSchedule, problems: Problems) -> None:
    """Report a stop rule unless the schedule has exactly one match."""
    matches = schedule.matches
    name = "width" if isinstance(settings.stop, WidthPlan) else "sprt"
    if settings.stop is not None and schedule.rounds is not None:
        message = f"{schedule.rounds.method} stops by itself; remove [stop], --sprt or --width"
        problems.add(("stop", name), message, ("stop",))
    elif settings.stop is not None and len(matches) != 1:
        problems.add(
            ("stop", name),
            f"{name} needs a schedule of one match, got {len(matches)} matches; "
            'write schedule = { match = ["a", "b"] }',
            ("stop",),
        )


def check_anchor(anchor: str | None, names: Sequence[str], problems: Problems) -> None:
    """Report an anchor without a known agent or a valid rating."""
    if anchor is not None:
        try:
            parse_anchor(anchor, names)
        except AnchorError as error:
            problems.add(("anchor",), f"anchor {error}")


def check_pairs(pairs: int | None, openings: OpeningsSpec, problems: Problems) -> None:
    """Report more pairs than openings."""
    known = opening_method(openings.method).count(openings.values)
    if pairs and known is not None and pairs > known and not openings.repeat:
        ways = "lower pairs, use { random_plies = 6 }, or repeat = true if an agent uses chance"
        same = " (agents without chance would repeat the same games)"
        message = f"{pairs} pairs need as many openings, got {known}{same}; {ways}"
        problems.add(("pairs",), message)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A plan with the checks of its result."""

    name: str
    path: Path
    plan: Plan
    checks: tuple[Check, ...] = ()
    standings: str = "elo"  # or "points": the order of the agents
    text: str = ""  # of its file, as it was read


class CommonSettings(NamedTuple):
    """The valid values of the keys that runs, studies and learning share."""

    values: KeyValues  # by the keys of the file
    settings: Settings
    game: Game | None
    agents: dict[str, AgentSpec]
    openings: OpeningsSpec
    base: Path  # the directory of the file
    must_survive: tuple[str, ...] = ()  # positions, as lines
    roster: frozenset[str] = frozenset()  # names of the roster's agents


def read_common(source: Source, keys: Sequence[Key], problems: Problems) -> CommonSettings:
    """Read the keys of a file that runs, studies and learning share; report all problems."""
    base = source.path.absolute().parent
    tables, roster = add_roster_agents(source.tables, base, problems)
    values = read_table(tables, (), keys, problems.add, agent_option_hint)
    settings = read_settings(values, source.path.stem, problems)
    game = load_game(settings, base, problems)
    has_clock = any(values.get(key.name) for key in CLOCKS)
    context = AgentContext(game, base, problems, has_clock)
    agents = read_agents(values.get("agents", {}), context)
    openings = RANDOM_OPENINGS
    if values["openings"] is not None:
        openings = read_openings(values["openings"], game, problems)
    survive = read_must_survive(values.get("roster"), game, base, problems)
    return CommonSettings(values, settings, game, agents, openings, base, survive, roster)


def add_anchors(setup: CommonSettings, problems: Problems) -> tuple[CommonSettings, KeyValues]:
    """Add the anchors of a scale if the schedule names one; also return their ratings.

    Other agents of the file do not play, and an anchor that is the newcomer itself is left out.
    """
    schedule, game = setup.values["schedule"], setup.game
    name = schedule.get(SCALE) if isinstance(schedule, dict) else None
    if game is None or not isinstance(name, str) or name not in setup.agents:
        return setup, {}
    try:
        scale = load_scale(game)
    except UserError as error:
        problems.add(("schedule", SCALE), str(error))
        return setup, {}
    if dict(setup.openings.values) != scale.openings:
        needed = f"openings must be {format_toml(scale.openings)}, as on the scale of {game.name}"
        problems.add(("openings",), needed, ("schedule",))
    kept, newcomer = scale.without(setup.agents[name]), setup.agents[name]
    anchors = [*scale.anchors.items()]
    agents = {name: newcomer}
    for label, spec in (anchors[at] for at in kept):
        agents[f"{label}-2" if label == name else label] = spec
    ratings = {
        "game": scale.game,
        "elo": tuple(scale.elo[at] for at in kept),
        "covariance": tuple(scale.covariance[one][other] for one in kept for other in kept),
    }
    return setup._replace(agents=agents), ratings


def load_experiment(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment in a file, changed by `key=value` overrides.

    An ExperimentError lists all problems.
    """
    return build_experiment(*read_experiment_file(Path(path), overrides))


def build_experiment(source: Source, problems: Problems) -> Experiment:
    """Return the experiment that tables describe."""
    setup = read_common(source, EXPERIMENT_KEYS, problems)
    settings, values = setup.settings, setup.values
    schedule: MatchSchedule | None = None
    checks: tuple[Check, ...] = ()
    if "agents" in values:
        setup, anchors = add_anchors(setup, problems)
        names = list(setup.agents if anchors else values["agents"])
        written = values["schedule"]
        on_scale = isinstance(written, dict) and SCALE in written
        if anchors or not (on_scale and problems.found):  # a scale that failed has no anchors
            schedule = read_schedule(written, names, problems)
        if schedule is not None and schedule.rounds is not None and anchors:
            rounds = replace(schedule.rounds, values={**schedule.rounds.values, **anchors})
            schedule = schedule._replace(rounds=rounds)
        if schedule is not None:
            check_stop_rule(settings, schedule, problems)
        players = CheckContext(names, setup.agents, schedule and schedule.matches)
        checks = read_checks(values["checks"], players, problems)
        check_anchor(settings.anchor, names, problems)
    if schedule is None or schedule.rounds is None:
        check_pairs(settings.pairs, setup.openings, problems)
    if values.get("standings") == "points" and schedule is not None and schedule.rounds is not None:
        why = f"{schedule.rounds.method} ranks the agents itself; remove standings"
        problems.add(("standings",), why)
    problems.raise_if_any()
    assert schedule is not None  # otherwise a problem was reported
    plan = build_plan(setup, schedule)
    text = experiment_text(source.tables) if source.text is None else source.text
    return Experiment(settings.name, source.path, plan, checks, values["standings"], text)


def count_openings(game: Game, spec: OpeningsSpec, most: int, seed: int) -> int:
    """Return the number of openings there are, at most `most`; repeated openings count as new."""
    if spec.repeat:
        return most
    return max(1, len(opening_method(spec.method).openings(game, spec, most, seed)))


def build_plan(setup: CommonSettings, schedule: MatchSchedule) -> Plan:
    """Return the plan of a file without problems."""
    settings, openings = setup.settings, setup.openings
    assert setup.game is not None  # otherwise a problem was reported
    known = None if openings.repeat else opening_method(openings.method).count(openings.values)
    usual = DEFAULT_PAIRS if schedule.rounds is None else MAX_ROUND_PAIRS
    if settings.stop is not None:
        usual = count_openings(setup.game, openings, MAX_STOP_PAIRS, settings.seed)
    elif schedule.rounds is not None and schedule.rounds.method == SCALE:
        usual = SCALE_PAIRS
    pairs = settings.pairs or min(known or usual, usual)
    game_seconds, increment = parse_game_time(settings.game_time or "") or (None, 0.0)
    # Schedules by rounds end long before all pairs are played.
    has_few_games = (
        schedule.rounds is not None or 2 * pairs * len(schedule.matches) < MOVES_KEPT_BELOW
    )
    return Plan(
        game_name=setup.game.name,
        agents=setup.agents,
        matches=schedule.matches,
        openings=openings,
        pairs=pairs,
        seed=settings.seed,
        keep_moves=has_few_games if settings.keep_moves is None else settings.keep_moves,
        keep_search_info=settings.search_info,
        must_survive=setup.must_survive,
        move_seconds=settings.move_seconds or default_move_seconds(setup.agents.values()),
        turn_seconds=settings.turn_seconds,
        game_seconds=game_seconds,
        increment=increment,
        sandbox_required=settings.isolation == "required",
        required_agents=frozenset(setup.agents) - setup.roster,
        stop=settings.stop,
        gives_up=settings.stop is not None,
        rounds=schedule.rounds,
        base=setup.base,
        anchor=None if settings.anchor is None else parse_anchor(settings.anchor, [*setup.agents]),
    )


# A kind, perhaps with options (minimax:depth=3), a bot's file, FILE.toml:NAME, or a table.
AgentLike = str | Path | Mapping[str, object]
MAX_MATCH_NAME = 30  # characters of the name of an agent


def agent_spec(agent: AgentLike) -> AgentSpec:
    """Return the spec of an agent; a SpecError says what is wrong with it."""
    if isinstance(agent, Mapping):
        return spec_from_table(dict(agent), Path(), "the agent")
    return spec_from_text(str(agent), {})


def agent_name(agent: AgentLike) -> str:
    """Return the name of an agent: its kind, its file's name, or NAME of FILE.toml:NAME."""
    if isinstance(agent, Mapping):
        return str(agent.get("kind", "agent"))
    text = str(agent).partition(" ")[0]
    if text.partition(":")[0] in AGENTS:  # minimax:depth=3
        return re.sub(r"[^\w.]+", "-", text).strip("-")
    path, found, name = text.rpartition(":")
    if found and path.endswith(".toml"):
        return name
    stem = Path(path if found else text).stem
    return Path(text).parent.name if stem == "bot" else stem or "agent"


def stop_table(width: float | None, sprt: Sequence[float] | None) -> dict[str, object] | None:
    """Return the key `stop` of an experiment; None without a rule."""
    if width is not None and sprt is not None:
        raise UserError("a run has one stop rule: choose a width or a test, not both")
    if width is not None:
        return {"width": width}
    return None if sprt is None else {"sprt": {"elo0": sprt[0], "elo1": sprt[1]}}


def match_tables(
    first: AgentLike, second: AgentLike, game: str, settings: Mapping[str, object]
) -> dict[str, Any]:
    """Return the tables of an experiment in which two agents play; `settings` are further keys.

    The opponent "scale" means the anchors of the game's scale.
    """
    if second == SCALE:
        name = agent_name(first)[:MAX_MATCH_NAME]
        return {
            "name": f"{name}-on-scale",
            "game": game,
            "schedule": {SCALE: name},
            **{key: value for key, value in settings.items() if value is not None},
            "agents": {name: agent_spec(first).to_json()},
        }
    names = [agent_name(each)[:MAX_MATCH_NAME] for each in (first, second)]
    if names[0] == names[1]:
        names[1] += "-2"
    specs = map(agent_spec, (first, second))
    return {
        "name": "-vs-".join(names),
        "game": game,
        **{key: value for key, value in settings.items() if value is not None},
        "agents": {name: spec.to_json() for name, spec in zip(names, specs, strict=True)},
    }


def experiment_text(tables: Mapping[str, Any]) -> str:
    """Return the text of an experiment file with these tables."""
    lines = [f"{key} = {format_toml(tables[key])}" for key in tables if key != "agents"]
    for name, table in tables.get("agents", {}).items():
        lines += ["", f"[agents.{json.dumps(name, ensure_ascii=False)}]"]
        lines += [f"{key} = {format_toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"
