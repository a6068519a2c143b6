"""Exact values and best moves of positions that independent solvers solved."""

import csv
import json
from functools import cache, lru_cache

import pytest

from agents.core import Agent, AgentSpec, Limit
from agents.registry import build
from games import Game, Position, game
from games.kernels.jit import INTERPRETED
from tests.agents.helpers import ROOT, few

GOLDEN = ROOT / "tests" / "golden"
RULESETS = {"cs32_2009": "kalah", "cs32": "kalah-2022", "paper": "kalah-paper"}


@lru_cache(maxsize=1)  # a table is 16 MB, and games come one after the other
def solver(name: str, **changes) -> Agent:
    return build(
        AgentSpec("alphabeta", **{"endgame": 256, "table_bits": 20, **changes}), game(name)
    )


def solve(of: Game, position: Position, **changes) -> tuple[int, float | None]:
    choice = solver(of.name, **changes).choose(position)
    assert choice.exact
    return choice.move, choice.value


def othello_lines(file: str) -> list[dict]:
    text = (GOLDEN / "othello" / file).read_text()
    return json.loads(text) if file.endswith(".json") else list(map(json.loads, text.splitlines()))


def check_othello(name: str, expected: dict) -> None:
    of = game(name)
    position = of.parse(f"{expected['board']} {expected['stm']}")
    move, value = solve(of, position)
    assert value == expected["score"]
    assert of.move_text(position, move) in expected["best_moves"]


@pytest.mark.parametrize("empties", range(8, few(15, 9)))
def test_othello_endgames(empties):
    found = [each for each in othello_lines("endgame_standard.jsonl") if each["empties"] == empties]
    assert len(found) > 15
    for expected in found[: few(100, 1)]:
        check_othello("othello", expected)


@pytest.mark.parametrize("empties", range(5, few(10, 6)))
def test_othello_adjacent_endgames(empties):
    found = [each for each in othello_lines("endgame_adjacent.jsonl") if each["empties"] == empties]
    assert len(found) > 3
    for expected in found[: few(100, 1)]:
        check_othello("othello-adjacent", expected)


FFO = othello_lines("ffo1_39.json")


def ffo(most: int, least: int = 0) -> list:
    """Return the positions of the suite with at most this many empty squares."""
    return [
        pytest.param(each, id=f"{each['ffo']}-{each['empties']}-empties")
        for each in FFO
        if least <= each["empties"] <= most
    ]


@pytest.mark.parametrize("expected", ffo(few(16, 6)))
def test_ffo_positions_up_to_16_empties(expected):
    check_othello("othello", expected)


@pytest.mark.slow
@pytest.mark.parametrize("expected", ffo(19, 17))
def test_ffo_positions_up_to_19_empties(expected):
    check_othello("othello", expected)


@cache
def read_sizes() -> tuple[dict, ...]:
    with (GOLDEN / "kalah" / "solved.csv").open() as file:
        return tuple(row for row in csv.DictReader(file) if row["ruleset"] in RULESETS)


def sizes(least: int, most: int) -> list:
    found = []
    for row in read_sizes():
        holes, beans = int(row["m"]), int(row["n"])
        cost = holes * beans if holes > 3 else holes * beans // 2
        if least <= cost <= most:
            found.append(pytest.param(row, id=f"{RULESETS[row['ruleset']]}-{holes}-{beans}"))
    return found


def check_kalah(row: dict) -> None:
    of = game(f"{RULESETS[row['ruleset']]}({row['m']},{row['n']})")
    start = of.start()
    move, value = solve(of, start)
    assert value == int(row["first_player_margin"])
    by_move = dict(word.split("=") for word in row[FIRST_MOVES].split())
    assert int(by_move[of.move_text(start, move)]) == value
    for text, margin in by_move.items():
        after = of.play(start, of.parse_move(start, text))
        _, value = (None, of.margin(after)) if of.over(after) else solve(of, after)
        assert value * (1 if of.over(after) or of.mover(after) == 0 else -1) == int(margin)


FIRST_MOVES = "value_of_each_first_move(hole=margin)"


@pytest.mark.parametrize("row", sizes(0, few(12, 2)))
def test_small_kalah_games(row):
    check_kalah(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", sizes(13, 20))
def test_larger_kalah_games(row):
    check_kalah(row)


@pytest.mark.skipif(INTERPRETED, reason="half a million nodes")
def test_budget_solves_endgame_but_depth_does_not():
    of = game("othello")
    expected = next(each for each in othello_lines("endgame_standard.jsonl") if each["id"] == 0)
    position = of.parse(f"{expected['board']} {expected['stm']}")
    for kind in ("alphabeta", "smart"):
        by_nodes = build(AgentSpec(kind, nodes=500_000), of).choose(position)
        assert (by_nodes.exact, by_nodes.value) == (True, expected["score"])
        by_depth = build(AgentSpec(kind, depth=3), of).choose(position)
        assert (by_depth.exact, by_depth.depth) == (False, 3)
        limited = build(AgentSpec(kind, nodes=500_000), of).choose(position, Limit(depth=3))
        assert (limited.exact, limited.depth) == (False, 3)


def test_endgame_option_applies_at_every_limit():
    of = game("kalah(3,2)")
    agent = build(AgentSpec("alphabeta", endgame=12), of)
    for limit in (None, Limit(depth=1), Limit(nodes=10_000), Limit(seconds=10)):
        choice = agent.choose(of.start(), limit)
        assert (choice.exact, choice.value) == (True, 4)


def test_table_size_does_not_change_exact_value():
    of = game("kalah(3,3)")
    for bits in (1, 4, 12, 20):
        assert solve(of, of.start(), table_bits=bits)[1] == 2
