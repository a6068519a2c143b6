"""Newcomers of a ladder: the agents of a file, and how the ladder of an experiment plays."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agents import AgentSpec
from arena.planning.plan import Plan
from arena.planning.schedules import schedule
from arena.reading.agent_tables import Around, read_agents
from arena.reading.experiment_file import MOST_PAIRS, load
from arena.reading.roster import with_roster
from arena.reading.toml_text import read
from games import game
from games.names import quoted
from games.terminal import Mistake


def ladder_plan(path: Path) -> tuple[Plan, Mapping[str, object]]:
    """How a ladder of this experiment plays, and the keys of its races."""
    plan = load(path, ('schedule="round_robin"',)).plan
    if plan.of.source is not None:
        raise Mistake(f"{plan.game}: a ladder of a game from a file is not kept yet")
    if "pairs" not in read(path, ())[0].tables:
        plan = replace(plan, pairs=MOST_PAIRS)
    return plan, {
        key.name: key.default
        for key in schedule("place").KEYS
        if key.name not in ("place", "order")
    }


def newcomers(path: Path, plan: Plan) -> list[tuple[str, AgentSpec]]:
    """The agents of a file by name: its roster and [agents.NAME], else the file itself is one."""
    source, problems = read(path, ())
    base = path.absolute().parent
    tables = with_roster(source.tables, base, problems)
    around = Around(plan.of, base, problems)
    written = tables.get("agents")
    if written is None and "kind" in tables:
        written = {path.stem: tables}
    if not isinstance(written, dict) or not written:
        problems.raise_if_any()
        raise Mistake(f"{path}: no agent: write [agents.NAME], as in docs/experiment-file.md")
    of = tables.get("game", plan.game)
    if not isinstance(of, str) or game(of, base).name != plan.of.name:
        raise Mistake(f"{path}: game is {quoted(str(of))}, the ladder plays {plan.game}")
    specs = read_agents(written, around)
    problems.raise_if_any()
    return list(specs.items())
