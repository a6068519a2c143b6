"""Reading an experiment file into a plan, with all its problems at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agents import AgentSpec
from arena.concluding.checks import Check
from arena.planning.openings import way
from arena.planning.openings_spec import RANDOM_OPENINGS, OpeningsSpec
from arena.planning.plan import Plan
from arena.planning.time_controls import default_move_seconds
from arena.reading.agent_tables import Around, in_agents, read_agents
from arena.reading.anchors import anchor_in
from arena.reading.check_tables import Players, read_checks
from arena.reading.consistency import anchor_problem, known_game, pairs_problem, stop_problems
from arena.reading.file_tables import TOP, Settings, read_settings
from arena.reading.key_reader import read_table
from arena.reading.problems import ExperimentError, Problems, Source
from arena.reading.roster import positions_to_survive, with_roster
from arena.reading.toml_text import read
from arena.reading.way_tables import Meets, read_openings, read_schedule
from games import Game
from games.keys import Key, KeyValues

__all__ = ["Experiment", "ExperimentError", "load"]

DEFAULT_PAIRS = 100
MOST_PAIRS = 2000  # of two agents that meet in rounds, which usually end before
MOVES_KEPT_BELOW = 100_000  # games


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a file asks for: the plan, and what is claimed about its result."""

    name: str
    path: Path
    plan: Plan
    checks: tuple[Check, ...] = ()
    standings: str = "elo"  # or "points": what ranks agents, beside ratings


class Setup(NamedTuple):
    """What runs and studies have in common, as far as it is right."""

    values: KeyValues  # as they are written, by the keys of the file
    settings: Settings
    of: Game | None
    agents: dict[str, AgentSpec]
    openings: OpeningsSpec
    base: Path  # where the file lies
    must_survive: tuple[str, ...] = ()  # positions, as lines


def read_setup(source: Source, keys: Sequence[Key], problems: Problems) -> Setup:
    """The part of a file that fits its `keys`; all that does not is said."""
    base = source.path.absolute().parent
    tables = with_roster(source.tables, base, problems)
    values = read_table(tables, (), keys, problems, in_agents)
    settings = read_settings(values, source.path.stem, problems)
    of = known_game(settings, base, problems)
    agents = read_agents(values.get("agents", {}), Around(of, base, problems))
    openings = RANDOM_OPENINGS
    if values["openings"] is not None:
        openings = read_openings(values["openings"], of, problems)
    survive = positions_to_survive(values.get("roster"), of, base, problems)
    return Setup(values, settings, of, agents, openings, base, survive)


def load(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """The experiment in a file, changed by `key=value` overrides; ExperimentError says all."""
    return experiment_in(*read(Path(path), overrides))


def experiment_in(source: Source, problems: Problems) -> Experiment:
    """The experiment that tables describe, whoever wrote them."""
    setup = read_setup(source, TOP, problems)
    settings, values = setup.settings, setup.values
    meets: Meets | None = None
    checks: tuple[Check, ...] = ()
    if "agents" in values:
        names = list(values["agents"])
        meets = read_schedule(values["schedule"], names, problems)
        if meets is not None:
            stop_problems(settings, meets, problems)
        players = Players(names, setup.agents, meets and meets.matches)
        checks = read_checks(values["checks"], players, problems)
        anchor_problem(settings.anchor, names, problems)
    if meets is None or meets.rounds is None:
        pairs_problem(settings.pairs, setup.openings, problems)
    problems.raise_if_any()
    assert meets is not None  # else a problem was said
    plan = plan_of(setup, meets)
    ranked = (values["standings"] or {}).get("by", "elo")
    return Experiment(settings.name, source.path, plan, checks, ranked)


def plan_of(setup: Setup, meets: Meets) -> Plan:
    """The plan of a file without problems."""
    settings, openings = setup.settings, setup.openings
    assert setup.of is not None  # else a problem was said
    known = None if openings.repeat else way(openings.way).count(openings.values)
    usual = DEFAULT_PAIRS if meets.rounds is None else MOST_PAIRS
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
        mixed_machines=settings.mixed_machines,
        anchor=None if settings.anchor is None else anchor_in(settings.anchor, [*setup.agents]),
    )
