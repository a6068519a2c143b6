"""An experiment file read into a plan, with every problem of the file named at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents import AgentSpec
from arena.concluding.checks import Check
from arena.planning.openings import way
from arena.planning.openings_spec import RANDOM_OPENINGS, OpeningsSpec
from arena.planning.plan import Plan
from arena.planning.schedules import Matches
from arena.reading.agent_tables import Around, read_agents
from arena.reading.check_tables import Players, read_checks
from arena.reading.consistency import known_game, pairs_problem, stop_problems
from arena.reading.file_tables import Settings, WholeFile, fitting
from arena.reading.problems import ExperimentError, names_at
from arena.reading.toml_text import read
from arena.reading.way_tables import read_matches, read_openings
from games import game

__all__ = ["Experiment", "ExperimentError", "load"]

DEFAULT_PAIRS = 100
MOVES_KEPT_BELOW = 100_000  # games


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a file asks for: the plan, and what is claimed about its result."""

    name: str
    path: Path
    plan: Plan
    checks: tuple[Check, ...] = ()


def load(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """The experiment in a file, changed by `key=value` overrides; ExperimentError says all."""
    source, problems = read(Path(path), overrides)
    problems.add_schema(WholeFile)
    settings = fitting(Settings, source.tables) or Settings()
    base, top = source.path.absolute().parent, names_at(WholeFile, ())
    of = known_game(settings, base, problems)
    written = source.tables.get("agents")
    agents: dict[str, AgentSpec] = {}
    matches: Matches | None = None
    checks: tuple[Check, ...] = ()
    if isinstance(written, dict):
        agents = read_agents(written, Around(of, base, problems))
        names = list(written)
        matches = read_matches(source.tables.get("schedule", "round_robin"), names, problems, top)
        if matches is not None:
            stop_problems(settings, matches, problems)
        players = Players(names, agents, matches)
        checks = read_checks(source.tables.get("checks", []), players, problems, top)
    openings = RANDOM_OPENINGS
    if "openings" in source.tables:
        openings = read_openings(source.tables["openings"], of, problems, top)
    pairs_problem(settings.pairs, openings, problems)
    problems.raise_if_any()
    assert matches is not None  # else a problem was said
    plan = plan_of(settings, agents, matches, openings, base)
    return Experiment(settings.name or source.path.stem, source.path, plan, checks)


def plan_of(
    settings: Settings,
    agents: dict[str, AgentSpec],
    matches: Matches,
    openings: OpeningsSpec,
    base: Path,
) -> Plan:
    """The plan of a file without problems; `base` is where it lies."""
    known = None if openings.repeat else way(openings.way).count(openings.values)
    pairs = settings.pairs or min(known or DEFAULT_PAIRS, DEFAULT_PAIRS)
    few = 2 * pairs * len(matches) < MOVES_KEPT_BELOW
    return Plan(
        game=game(settings.game, base).name,
        agents=agents,
        matches=matches,
        openings=openings,
        pairs=pairs,
        seed=settings.seed,
        keep_moves=few if settings.keep_moves is None else settings.keep_moves,
        move_seconds=settings.move_seconds,
        stop=settings.stop.sprt.plan() if settings.stop else None,
        base=base,
    )
