"""An experiment file read into a plan, with every problem of the file named at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents import AgentSpec
from arena.concluding.checks import Check
from arena.planning.plan import Plan
from arena.reading.agent_tables import Around, read_agents
from arena.reading.check_tables import Players, read_checks
from arena.reading.consistency import (
    known_game,
    known_matches,
    opening_problems,
    stop_problems,
)
from arena.reading.file_tables import Settings, WholeFile, fitting
from arena.reading.problems import ExperimentError, Problems, Source, names_at
from arena.reading.toml_text import read
from games import Game, game

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
    of = known_game(settings, source.path.absolute().parent, problems)
    agents, checks = agents_and_checks(source, settings, of, problems)
    opening_problems(settings, of, problems)
    problems.raise_if_any()
    whole = WholeFile.model_validate(source.tables)
    plan = plan_of(whole, agents, source.path.absolute().parent)
    return Experiment(whole.name or source.path.stem, source.path, plan, checks)


def plan_of(whole: WholeFile, agents: dict[str, AgentSpec], base: Path) -> Plan:
    """The plan of a file without problems; `base` is where it lies."""
    matches = whole.schedule.matches(list(agents))
    known = None if whole.openings.repeat else whole.openings.known
    pairs = whole.pairs or min(known or DEFAULT_PAIRS, DEFAULT_PAIRS)
    few = 2 * pairs * len(matches) < MOVES_KEPT_BELOW
    return Plan(
        game=game(whole.game, base).name,
        agents=agents,
        matches=matches,
        openings=whole.openings.spec,
        pairs=pairs,
        seed=whole.seed,
        keep_moves=few if whole.keep_moves is None else whole.keep_moves,
        move_seconds=whole.move_seconds,
        stop=whole.stop.sprt.plan() if whole.stop else None,
        base=base,
    )


def agents_and_checks(
    source: Source, settings: Settings, of: Game | None, problems: Problems
) -> tuple[dict[str, AgentSpec], tuple[Check, ...]]:
    """The agents by name and the checks on them; schedule and stop rule are looked at too."""
    written = source.tables.get("agents")
    if not isinstance(written, dict):
        return {}, ()
    agents = read_agents(written, Around(of, source.path.absolute().parent, problems))
    names = list(written)
    # A schedule that does not fit its table is a problem already; nothing follows from it.
    fits = "schedule" not in source.tables or "schedule" in settings.model_fields_set
    matches = known_matches(settings.schedule, names, problems) if fits else None
    if matches is not None:
        stop_problems(settings, matches, problems)
    players, top = Players(names, agents, matches), names_at(WholeFile, ())
    return agents, read_checks(source.tables.get("checks", []), players, problems, top)
