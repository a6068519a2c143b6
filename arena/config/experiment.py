"""Read an experiment file and make its plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agents.core import AgentSpec
from arena.analysis.checks.claims import Check
from arena.config.agents import (
    AgentContext,
    add_roster_agents,
    misplaced_option_hint,
    read_agents,
    required_positions,
)
from arena.config.checks import CheckContext, read_checks
from arena.config.keys import EXPERIMENT_KEYS, Settings, read_settings, top_level_hint
from arena.config.toml_file import ExperimentError, Problems, Source, read
from arena.planning.openings.registry import COMMON_KEYS, OPENINGS, way
from arena.planning.plan import RANDOM_OPENINGS, OpeningsSpec, Plan
from arena.planning.rounds import RoundsSpec
from arena.planning.schedules.registry import SCHEDULES, Matches, rounds_choice, schedule
from arena.playing.clock import default_move_seconds
from games import Game, GameError, game
from games.base.schema import Key, KeyValues, default_values, parse_game_time, read_table
from games.base.text import did_you_mean, format_value, listed, quote

MOST_ELO = 100_000.0
SHOWN = 20  # names of agents that a message lists
__all__ = ["Experiment", "ExperimentError", "load"]
DEFAULT_PAIRS = 100
MAX_ROUND_PAIRS = 2000  # of two agents that meet in rounds, which usually end before
MOVES_KEPT_BELOW = 100_000  # games


class Anchor(NamedTuple):
    """The agent whose rating is fixed."""

    name: str
    elo: float


class AnchorError(ValueError):
    """An anchor without an agent or a rating."""


def parse_anchor(word: str, names: Sequence[str]) -> Anchor:
    """Return the anchor that a word names; the name of an agent may contain `=`."""
    if word in names:
        return Anchor(word, 0.0)
    name, _, text = word.rpartition("=")
    if name not in names:
        near = did_you_mean(name or word, names)
        raise AnchorError(
            f"must be one of {listed(names[:SHOWN])}, got {quote(name or word)}{near}"
        )
    try:
        elo = float(text)
    except ValueError:
        elo = MOST_ELO + 1.0
    if not abs(elo) <= MOST_ELO:
        raise AnchorError(f"needs a number of Elo, as in {name}=1500, got {quote(text)}")
    return Anchor(name, elo)


class ChoiceEntry(Protocol):
    """The parts of a schedule or opening module that its reader uses."""

    KEYS: Sequence[Key]
    WORD: bool
    EXAMPLES: Sequence[str]


class ChoiceTable(NamedTuple):
    """The entries that a key of the file chooses from, and the keys that they share."""

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
    ways = ChoiceTable("schedule", {name: schedule(name) for name in SCHEDULES})
    chosen = _read(written, ways, problems)
    if len(names) < 2:
        problems.add(("agents",), f"at least two agents must play, got {len(names)}")
        return None
    if chosen is None:
        return None
    name, values = chosen
    faults = list(schedule(name).faults(values, names))
    for inside, message in faults:
        problems.add(("schedule", *inside), message, ("schedule",) if inside else None)
    if faults:
        return None
    return MatchSchedule(schedule(name).matches(values, names), rounds_choice(name, values))


def read_openings(written: object, of: Game | None, problems: Problems) -> OpeningsSpec:
    """Return the openings; report wrong ones and return the default."""
    ways = ChoiceTable("openings", {name: way(name) for name in OPENINGS}, COMMON_KEYS)
    chosen = _read(written, ways, problems)
    if chosen is None:
        return RANDOM_OPENINGS
    name, values = chosen
    shared = {key.name: values.pop(key.name) for key in COMMON_KEYS}
    spec = replace(openings_spec(name, values), **shared)
    for inside, message in way(name).faults(spec, of):
        problems.add(("openings", *inside), message, ("openings",))
    return spec


def openings_spec(name: str, values: KeyValues) -> OpeningsSpec:
    """Return the openings as a plan keeps them: `random_plies` asks for one of three ways."""
    plies = values.get("random_plies")
    if name == "none" or (name == "random" and plies == 0):
        return OpeningsSpec("none", {"none": True})
    if name == "random" and not isinstance(plies, int):
        return OpeningsSpec("plies", {"plies": plies})
    return OpeningsSpec(name, values)


def _read(
    written: object, ways: ChoiceTable, problems: Problems
) -> tuple[str, dict[str, Any]] | None:
    """Return the chosen entry with the values of its keys; report problems and return None."""
    words = [name for name, entry in ways.entries.items() if entry.WORD]
    if isinstance(written, str) and written in words:
        return written, default_values([*ways.entries[written].KEYS, *ways.shared])
    if not isinstance(written, dict):
        *most, last = [text for entry in ways.entries.values() for text in entry.EXAMPLES]
        form = f"{', '.join(most)} or {last}"
        message = (
            f"{ways.key} must be {form}, got {format_value(written)}{did_you_mean(written, words)}"
        )
        problems.add((ways.key,), message)
        return None
    count, firsts = (
        len(problems.found),
        {entry.KEYS[0].name: name for name, entry in ways.entries.items() if entry.KEYS},
    )
    asked = requested_entries(written, ways, firsts)
    keys = [key for name in asked or ways.entries for key in ways.entries[name].KEYS]
    values = read_table(written, (ways.key,), [*keys, *ways.shared], problems.add, top_level_hint)
    if len(problems.found) > count:
        return None
    if len(asked) != 1:
        got = listed(key for key in firsts if key in written) or "none of them"
        message = f"exactly one of {listed(firsts)} must be given, got {got}"
        problems.add((ways.key,), message, (ways.key,))
        return None
    return asked[0], values


def requested_entries(
    written: Mapping[str, object], ways: ChoiceTable, firsts: Mapping[str, str]
) -> list[str]:
    """Return the entries whose first key is written; only one if it alone has all keys."""
    asked = [name for key, name in firsts.items() if key in written]
    shared = {key.name for key in ways.shared}
    whole = [
        name
        for name in asked
        if set(written) <= shared | {key.name for key in ways.entries[name].KEYS}
    ]
    return whole if len(whole) == 1 else asked


def load_game(settings: Settings, base: Path, problems: Problems) -> Game | None:
    """Return the game, with files relative to `base`; report an unknown one."""
    if settings.game is None:
        return None
    try:
        return game(settings.game, base)
    except GameError as error:
        problems.add(("game",), str(error))
        return None


def check_stop_rule(settings: Settings, meets: MatchSchedule, problems: Problems) -> None:
    """Report a sequential test of other than one pair of agents."""
    matches = meets.matches
    if settings.stop is not None and meets.rounds is not None:
        message = f"{meets.rounds.way} ends by itself when its answer is certain; remove [stop]"
        problems.add(("stop", "sprt"), message, ("stop",))
    elif settings.stop is not None and len(matches) != 1:
        problems.add(
            ("stop", "sprt"),
            f"sprt tests one pair of agents, got a schedule of {len(matches)} matches; "
            'write schedule = { match = ["a", "b"] }',
            ("stop",),
        )


def check_anchor(anchor: str | None, names: Sequence[str], problems: Problems) -> None:
    """Report an anchor that is no agent or has no rating."""
    if anchor is not None:
        try:
            parse_anchor(anchor, names)
        except AnchorError as error:
            problems.add(("anchor",), f"anchor {error}")


def check_pairs(pairs: int | None, openings: OpeningsSpec, problems: Problems) -> None:
    """Report more pairs than openings."""
    known = way(openings.way).count(openings.values)
    if pairs and known is not None and pairs > known and not openings.repeat:
        ways = "lower pairs, use { random_plies = 6 }, or repeat = true if an agent varies"
        same = " (players without chance would play one game again and again)"
        message = f"{pairs} pairs need as many openings, got {known}{same}; {ways}"
        problems.add(("pairs",), message)


@dataclass(frozen=True, slots=True)
class Experiment:
    """The contents of a file: its plan, and the checks of its result."""

    name: str
    path: Path
    plan: Plan
    checks: tuple[Check, ...] = ()
    standings: str = "elo"  # or "points": the order of the agents


class CommonSettings(NamedTuple):
    """The valid values that runs, studies and learning share."""

    values: KeyValues  # by the keys of the file
    settings: Settings
    of: Game | None
    agents: dict[str, AgentSpec]
    openings: OpeningsSpec
    base: Path  # the directory of the file
    must_survive: tuple[str, ...] = ()  # positions, as lines


def read_common(source: Source, keys: Sequence[Key], problems: Problems) -> CommonSettings:
    """Read the keys of a file that runs, studies and learning share; report all problems."""
    base = source.path.absolute().parent
    tables = add_roster_agents(source.tables, base, problems)
    values = read_table(tables, (), keys, problems.add, misplaced_option_hint)
    settings = read_settings(values, source.path.stem, problems)
    of = load_game(settings, base, problems)
    agents = read_agents(values.get("agents", {}), AgentContext(of, base, problems))
    openings = RANDOM_OPENINGS
    if values["openings"] is not None:
        openings = read_openings(values["openings"], of, problems)
    survive = required_positions(values.get("roster"), of, base, problems)
    return CommonSettings(values, settings, of, agents, openings, base, survive)


def load(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment in a file, changed by `key=value` overrides.

    ExperimentError has every problem.
    """
    return build_experiment(*read(Path(path), overrides))


def build_experiment(source: Source, problems: Problems) -> Experiment:
    """Return the experiment that tables describe."""
    setup = read_common(source, EXPERIMENT_KEYS, problems)
    settings, values = setup.settings, setup.values
    meets: MatchSchedule | None = None
    checks: tuple[Check, ...] = ()
    if "agents" in values:
        names = list(values["agents"])
        meets = read_schedule(values["schedule"], names, problems)
        if meets is not None:
            check_stop_rule(settings, meets, problems)
        players = CheckContext(names, setup.agents, meets and meets.matches)
        checks = read_checks(values["checks"], players, problems)
        check_anchor(settings.anchor, names, problems)
    if meets is None or meets.rounds is None:
        check_pairs(settings.pairs, setup.openings, problems)
    if values.get("standings") == "points" and meets is not None and meets.rounds is not None:
        why = f"{meets.rounds.way} ranks the agents itself; remove standings"
        problems.add(("standings",), why)
    problems.raise_if_any()
    assert meets is not None  # otherwise a problem was reported
    plan = build_plan(setup, meets)
    return Experiment(settings.name, source.path, plan, checks, values["standings"])


def build_plan(setup: CommonSettings, meets: MatchSchedule) -> Plan:
    """Return the plan of a file without problems."""
    settings, openings = setup.settings, setup.openings
    assert setup.of is not None  # otherwise a problem was reported
    known = None if openings.repeat else way(openings.way).count(openings.values)
    usual = DEFAULT_PAIRS if meets.rounds is None else MAX_ROUND_PAIRS
    pairs = settings.pairs or min(known or usual, usual)
    game_seconds, increment = parse_game_time(settings.game_time or "") or (None, 0.0)
    # Schedules by rounds end long before all pairs are played.
    few = meets.rounds is not None or 2 * pairs * len(meets.matches) < MOVES_KEPT_BELOW
    return Plan(
        game=setup.of.name,
        agents=setup.agents,
        matches=meets.matches,
        openings=openings,
        pairs=pairs,
        seed=settings.seed,
        keep_moves=few if settings.keep_moves is None else settings.keep_moves,
        thoughts=settings.search_info,
        must_survive=setup.must_survive,
        move_seconds=settings.move_seconds or default_move_seconds(setup.agents.values()),
        turn_seconds=settings.turn_seconds,
        game_seconds=game_seconds,
        increment=increment,
        walls_required=settings.isolation == "required",
        unloadable_stops=not setup.values.get("roster"),
        stop=settings.stop,
        rounds=meets.rounds,
        base=setup.base,
        anchor=None if settings.anchor is None else parse_anchor(settings.anchor, [*setup.agents]),
    )
