"""Newcomers of a ladder: the agents of a file, and how the ladder of an experiment plays."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agents import AgentSpec
from arena.planning.plan import Plan
from arena.planning.schedules import schedule
from arena.reading.agent_tables import Around, read_agents
from arena.reading.experiment_file import MOST_PAIRS, load
from arena.reading.toml_text import read
from games import game
from games.names import quoted
from games.terminal import Mistake


def ladder_plan(path: Path) -> tuple[Plan, Mapping[str, object]]:
    """How a ladder of this experiment plays, and the keys of its races."""
    plan = replace(load(path, ('schedule="round_robin"',)).plan, pairs=MOST_PAIRS)
    return plan, {
        key.name: key.default
        for key in schedule("place").KEYS
        if key.name not in ("place", "order")
    }


def newcomers(path: Path, plan: Plan) -> list[tuple[str, AgentSpec]]:
    """The agents of a file by name: its [agents.NAME] tables, else the file itself is one."""
    source, problems = read(path, ())
    tables = source.tables
    around = Around(plan.of, path.absolute().parent, problems)
    written = tables.get("agents")
    if written is None and "kind" in tables:
        written = {path.stem: tables}
    if not isinstance(written, dict) or not written:
        raise Mistake(f"{path}: no agent: write [agents.NAME], as in docs/experiment-file.md")
    of = tables.get("game", plan.game)
    if not isinstance(of, str) or game(of, path.absolute().parent).name != plan.of.name:
        raise Mistake(f"{path}: game is {quoted(str(of))}, the ladder plays {plan.game}")
    specs = read_agents(written, around)
    problems.raise_if_any()
    return list(specs.items())
