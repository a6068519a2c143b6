"""Exact Othello endgames: the FFO positions with 14 to 20 empties, against the last results."""

import json
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

from agents.core import AgentSpec
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent, score_value
from agents.search.context import NODES, VALUE
from benchmarks.table import Row
from games import game

ROOT = Path(__file__).parent.parent
SUITES = [ROOT / "tests/golden/othello" / name for name in ("ffo1_39.json", "ffo40_59.json")]
RESULTS = Path(__file__).with_name("results.md")
EMPTIES = range(14, 21)
TABLE_BITS = 20
SUM = re.compile(r"\| sum +\| +\| +\| +([\d,]+) +\| +([\d.]+) +\|")


class Solution(NamedTuple):
    """The exact solution of one position."""

    number: int
    empties: int
    score: int
    nodes: int
    seconds: float  # processor time, independent of the load of other programs


def othello_endgames(rounds: int) -> Row:
    """Compare the time for all endgames, best of at most three rounds, with the results file."""
    agent = solver()
    suite = [entry for entry in positions() if entry["empties"] in EMPTIES]
    solve(agent, suite[0])
    solutions = [best_solution(agent, entry, min(rounds, 3)) for entry in suite]
    nodes = sum(one.nodes for one in solutions)
    seconds = sum(one.seconds for one in solutions)
    before = previous_result()
    against = "not in benchmarks/results.md" if before is None else nodes_and_seconds(*before)
    ratio = None if before is None else before[1] / seconds
    what = f"{len(solutions)} FFO endgames, {EMPTIES[0]} to {EMPTIES[-1]} empties: results before"
    return Row(
        what,
        nodes_and_seconds(nodes, seconds),
        against,
        ratio,
        detail=positions_table(solutions, nodes, seconds),
    )


def solver() -> CompiledAgent:
    """Return an alpha-beta agent that solves from any number of empties."""
    spec = AgentSpec("alphabeta", seconds=3600.0, endgame=64, table_bits=TABLE_BITS)
    agent = build(spec, game("othello"))
    assert isinstance(agent, CompiledAgent)
    return agent


def positions() -> list[dict[str, Any]]:
    """Return the entries of both suites."""
    return [entry for suite in SUITES for entry in json.loads(suite.read_text())]


def best_solution(agent: CompiledAgent, entry: dict[str, Any], rounds: int) -> Solution:
    """Return the fastest of several rounds; every round searches the same tree."""
    return min((solve(agent, entry) for _ in range(rounds)), key=lambda one: one.seconds)


def solve(agent: CompiledAgent, entry: dict[str, Any]) -> Solution:
    """Solve one position; raise if the score is not the published one."""
    position = agent.game.parse(f"{entry['board']} {entry['stm']}")
    begun = time.process_time()
    agent.kernels.choose(agent.context, position.state, position.side)
    seconds = time.process_time() - begun
    score = round(score_value(int(agent.context[VALUE])))
    if score != entry["score"]:
        raise ValueError(f"FFO {entry['ffo']}: we find {score}, published is {entry['score']}")
    nodes = int(agent.context[NODES])
    return Solution(entry["ffo"], entry["empties"], score, nodes, seconds)


def nodes_and_seconds(nodes: int, seconds: float) -> str:
    """Return both sums as the text of a cell."""
    return f"{nodes / 1e6:.1f} M nodes, {seconds:.2f} s"


def previous_result() -> tuple[int, float] | None:
    """Return nodes and seconds from the results file, `None` if it has none."""
    found = SUM.search(RESULTS.read_text()) if RESULTS.exists() else None
    return None if found is None else (int(found[1].replace(",", "")), float(found[2]))


def positions_table(solutions: list[Solution], nodes: int, seconds: float) -> str:
    """Return the table of positions for the results file; `previous_result` reads its sum."""
    lines = [
        f"| {one.number:>3} | {one.empties:>7} | {one.score:>+5} | "
        f"{one.nodes:>13,} | {one.seconds:>8.4f} |"
        for one in solutions
    ]
    head = "| FFO | empties | score | nodes         | seconds  |"
    rule = "| --- | ------- | ----- | ------------- | -------- |"
    return "\n".join(
        [head, rule, *lines, f"| sum |         |       | {nodes:>13,} | {seconds:>8.3f} |"]
    )
