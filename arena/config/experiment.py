"""Keys of an experiment file and the plan they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from arena.config.keys import EXPERIMENT_KEYS, Settings, read_settings, read_table
from arena.config.toml_file import ExperimentError, Problems, Source, near, read
from arena.planning.openings.registry import COMMON_KEYS, OPENINGS, way
from arena.planning.plan import RANDOM_OPENINGS, OpeningsSpec, Plan
from arena.planning.rounds import RoundsSpec
from arena.planning.schedules.registry import SCHEDULES, Matches, rounds_choice, schedule
from arena.playing.clock import default_move_seconds
from games import Game, GameError, game
from games.base.schema import Key, KeyValues, default_values
from games.base.text import did_you_mean, format_value, listed, quote

MOST_ELO = 100_000.0
SHOWN = 20  # names of agents that a message lists
__all__ = ["Experiment", "ExperimentError", "load"]
DEFAULT_PAIRS = 100
MAX_ROUND_PAIRS = 2000  # of two agents that meet in rounds, which usually end before
MOVES_KEPT_BELOW = 100_000  # games


class Anchor(NamedTuple):
    """The agent that is held at a rating."""

    name: str
    elo: float


class AnchorError(ValueError):
    """No agent, or no rating; one line says which."""


def parse_anchor(word: str, names: Sequence[str]) -> Anchor:
    """The anchor that a word names; an agent's name may have a = of its own."""
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
    """What the module of a way has for its reader."""

    KEYS: Sequence[Key]
    WORD: bool
    EXAMPLES: Sequence[str]


class ChoiceTable(NamedTuple):
    """The ways that a key of the file may be written in, and the keys that they share."""

    key: str
    entries: Mapping[str, ChoiceEntry]
    shared: Sequence[Key] = ()


class MatchSchedule(NamedTuple):
    """Who meets whom; by which rounds, if the schedule goes by rounds."""

    matches: Matches
    rounds: RoundsSpec | None


def read_schedule(
    written: object, names: Sequence[str], problems: Problems
) -> MatchSchedule | None:
    """Who meets whom; None if the schedule is not right or does not fit the agents."""
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
    """The recipe of the openings; the usual one if what is written is not right."""
    ways = ChoiceTable("openings", {name: way(name) for name in OPENINGS}, COMMON_KEYS)
    chosen = _read(written, ways, problems)
    if chosen is None:
        return RANDOM_OPENINGS
    name, values = chosen
    shared = {key.name: values.pop(key.name) for key in COMMON_KEYS}
    spec = OpeningsSpec(name, values, **shared)
    for inside, message in way(name).faults(spec, of):
        problems.add(("openings", *inside), message, ("openings",))
    return spec


def _read(
    written: object, ways: ChoiceTable, problems: Problems
) -> tuple[str, dict[str, Any]] | None:
    """The way and the values of all its keys; None if it is not right, which is said."""
    words = [name for name, entry in ways.entries.items() if entry.WORD]
    if isinstance(written, str) and written in words:
        return written, default_values([*ways.entries[written].KEYS, *ways.shared])
    if not isinstance(written, dict):
        *most, last = [text for entry in ways.entries.values() for text in entry.EXAMPLES]
        form = f"{', '.join(most)} or {last}"
        message = f"{ways.key} must be {form}, got {format_value(written)}{near(written, words)}"
        problems.add((ways.key,), message)
        return None
    count, firsts = len(problems.found), {e.KEYS[0].name: n for n, e in ways.entries.items()}
    asked = requested_entries(written, ways, firsts)
    keys = [key for name in asked or ways.entries for key in ways.entries[name].KEYS]
    values = read_table(written, (ways.key,), [*keys, *ways.shared], problems)
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
    """The ways that are asked for; a way that knows all that is written is the one meant."""
    asked = [name for key, name in firsts.items() if key in written]
    shared = {key.name for key in ways.shared}
    whole = [
        name
        for name in asked
        if set(written) <= shared | {key.name for key in ways.entries[name].KEYS}
    ]
    return whole if len(whole) == 1 else asked


def load_game(settings: Settings, base: Path, problems: Problems) -> Game | None:
    """The game that is played, files seen from `base`; `None` if it is not known: it is said."""
    if settings.game is None:
        return None
    try:
        return game(settings.game, base)
    except GameError as error:
        problems.add(("game",), str(error))
        return None


def check_stop_rule(settings: Settings, meets: MatchSchedule, problems: Problems) -> None:
    """A sequential test compares one pair of agents."""
    matches = meets.matches
    if settings.stop is not None and meets.rounds is not None:
        message = f"{meets.rounds.way} ends by itself, when its answer is sure; take [stop] out"
        problems.add(("stop", "sprt"), message, ("stop",))
    elif settings.stop is not None and len(matches) != 1:
        problems.add(
            ("stop", "sprt"),
            f"sprt tests one pair of agents, got a schedule of {len(matches)} matches; "
            'say schedule = { match = ["a", "b"] }',
            ("stop",),
        )


def check_anchor(anchor: str | None, names: Sequence[str], problems: Problems) -> None:
    """An anchor that is none of the agents, or has no rating."""
    if anchor is not None:
        try:
            parse_anchor(anchor, names)
        except AnchorError as error:
            problems.add(("anchor",), f"anchor {error}")


def check_pairs(pairs: int | None, openings: OpeningsSpec, problems: Problems) -> None:
    """More pairs than openings."""
    known = way(openings.way).count(openings.values)
    if pairs and known is not None and pairs > known and not openings.repeat:
        ways = "lower pairs, use { random_plies = 6 }, or repeat = true if an agent varies"
        same = " (players without chance would play one game again and again)"
        message = f"{pairs} pairs need as many openings, got {known}{same}; {ways}"
        problems.add(("pairs",), message)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a file asks for: the plan, and what is claimed about its result."""

    name: str
    path: Path
    plan: Plan
    checks: tuple[Check, ...] = ()
    standings: str = "elo"  # or "points": what ranks agents, beside ratings


class CommonSettings(NamedTuple):
    """What runs and studies have in common, as far as it is right."""

    values: KeyValues  # as they are written, by the keys of the file
    settings: Settings
    of: Game | None
    agents: dict[str, AgentSpec]
    openings: OpeningsSpec
    base: Path  # where the file lies
    must_survive: tuple[str, ...] = ()  # positions, as lines


def read_common(source: Source, keys: Sequence[Key], problems: Problems) -> CommonSettings:
    """The part of a file that fits its `keys`; all that does not is said."""
    base = source.path.absolute().parent
    tables = add_roster_agents(source.tables, base, problems)
    values = read_table(tables, (), keys, problems, misplaced_option_hint)
    settings = read_settings(values, source.path.stem, problems)
    of = load_game(settings, base, problems)
    agents = read_agents(values.get("agents", {}), AgentContext(of, base, problems))
    openings = RANDOM_OPENINGS
    if values["openings"] is not None:
        openings = read_openings(values["openings"], of, problems)
    survive = required_positions(values.get("roster"), of, base, problems)
    return CommonSettings(values, settings, of, agents, openings, base, survive)


def load(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """The experiment in a file, changed by `key=value` overrides; ExperimentError says all."""
    return build_experiment(*read(Path(path), overrides))


def build_experiment(source: Source, problems: Problems) -> Experiment:
    """The experiment that tables describe, whoever wrote them."""
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
    ranked = (values["standings"] or {}).get("by", "elo")
    if ranked == "points" and meets is not None and meets.rounds is not None:
        why = f"{meets.rounds.way} ranks the agents itself; take standings out"
        problems.add(("standings", "by"), why, ("standings",))
    problems.raise_if_any()
    assert meets is not None  # else a problem was said
    plan = build_plan(setup, meets)
    return Experiment(settings.name, source.path, plan, checks, ranked)


def build_plan(setup: CommonSettings, meets: MatchSchedule) -> Plan:
    """The plan of a file without problems."""
    settings, openings = setup.settings, setup.openings
    assert setup.of is not None  # else a problem was said
    known = None if openings.repeat else way(openings.way).count(openings.values)
    usual = DEFAULT_PAIRS if meets.rounds is None else MAX_ROUND_PAIRS
    pairs = settings.pairs or min(known or usual, usual)
    # Rounds end long before all pairs are played.
    without_bot = settings.unloadable or ("forfeit" if setup.values.get("roster") else "stop")
    few = meets.rounds is not None or 2 * pairs * len(meets.matches) < MOVES_KEPT_BELOW
    return Plan(
        game=setup.of.name,
        agents=setup.agents,
        matches=meets.matches,
        openings=openings,
        pairs=pairs,
        seed=settings.seed,
        keep_moves=few if settings.keep_moves is None else settings.keep_moves,
        thoughts=settings.thoughts,
        must_survive=setup.must_survive,
        move_seconds=settings.move_seconds or default_move_seconds(setup.agents.values()),
        turn_seconds=settings.turn_seconds,
        game_seconds=settings.game_seconds,
        increment=settings.increment,
        walls_required=settings.isolation == "required",
        unloadable_stops=without_bot == "stop",
        stop=settings.stop,
        rounds=meets.rounds,
        base=setup.base,
        anchor=None if settings.anchor is None else parse_anchor(settings.anchor, [*setup.agents]),
    )
