"""Solved positions: the exact value and a best move, as independent solvers found them."""

import csv
import json
from functools import cache, lru_cache

import pytest

from agents.core import Agent, AgentSpec, Limit
from agents.registry import build
from games import Game, Position, game
from games.kernels.jit import INTERPRETED
from tests.agents.given import ROOT, few

GOLDEN = ROOT / "tests" / "golden"
RULESETS = {"cs32_2009": "kalah", "cs32": "kalah-2022", "paper": "kalah-paper"}


@lru_cache(maxsize=1)  # a table is 16 MB, and games come one after the other
def solver(name: str, **changes) -> Agent:
    """Alpha-beta that solves whatever is left, however long it takes."""
    return build(
        AgentSpec("alphabeta", **{"endgame": 256, "table_bits": 20, **changes}), game(name)
    )


def solved(of: Game, position: Position, **changes) -> tuple[int, float | None]:
    """The move and the exact value."""
    choice = solver(of.name, **changes).choose(position)
    assert choice.exact
    return choice.move, choice.value


# ---------------------------------------------------------------------- othello


def othello_lines(file: str) -> list[dict]:
    text = (GOLDEN / "othello" / file).read_text()
    return json.loads(text) if file.endswith(".json") else list(map(json.loads, text.splitlines()))


def check_othello(name: str, expected: dict) -> None:
    """The score is that of the golden file, and the move one of its best."""
    of = game(name)
    position = of.parse(f"{expected['board']} {expected['stm']}")
    move, value = solved(of, position)
    assert value == expected["score"]
    assert of.move_text(position, move) in expected["best_moves"]


@pytest.mark.parametrize("empties", range(8, few(15, 9)))
def test_endings_of_othello(empties):
    found = [each for each in othello_lines("endgame_standard.jsonl") if each["empties"] == empties]
    assert len(found) > 15
    for expected in found[: few(100, 1)]:
        check_othello("othello", expected)


@pytest.mark.parametrize("empties", range(5, few(10, 6)))
def test_endings_of_the_adjacent_rule(empties):
    found = [each for each in othello_lines("endgame_adjacent.jsonl") if each["empties"] == empties]
    assert len(found) > 3
    for expected in found[: few(100, 1)]:
        check_othello("othello-adjacent", expected)


FFO = othello_lines("ffo1_39.json")


def ffo(most: int, least: int = 0) -> list:
    """The positions of the suite with so many empty squares, by number."""
    return [
        pytest.param(each, id=f"{each['ffo']}-{each['empties']}-empties")
        for each in FFO
        if least <= each["empties"] <= most
    ]


@pytest.mark.parametrize("expected", ffo(few(16, 6)))
def test_the_ffo_positions_up_to_16_empties(expected):
    check_othello("othello", expected)


@pytest.mark.slow
@pytest.mark.parametrize("expected", ffo(19, 17))
def test_the_ffo_positions_up_to_19_empties(expected):
    check_othello("othello", expected)


# ------------------------------------------------------------------------ kalah


@cache
def solved_sizes() -> tuple[dict, ...]:
    with (GOLDEN / "kalah" / "solved.csv").open() as file:
        return tuple(row for row in csv.DictReader(file) if row["ruleset"] in RULESETS)


def sizes(least: int, most: int) -> list:
    """Rulesets and sizes by how long they take: beans a side, but rows of three are quick."""
    found = []
    for row in solved_sizes():
        holes, beans = int(row["m"]), int(row["n"])
        cost = holes * beans if holes > 3 else holes * beans // 2
        if least <= cost <= most:
            found.append(pytest.param(row, id=f"{RULESETS[row['ruleset']]}-{holes}-{beans}"))
    return found


def check_kalah(row: dict) -> None:
    """The margin of the start, and of every first move."""
    of = game(f"{RULESETS[row['ruleset']]}({row['m']},{row['n']})")
    start = of.start()
    move, value = solved(of, start)
    assert value == int(row["first_player_margin"])
    by_move = dict(word.split("=") for word in row[FIRST_MOVES].split())
    assert int(by_move[of.move_text(start, move)]) == value
    for text, margin in by_move.items():
        after = of.play(start, of.parse_move(start, text))
        _, value = (None, of.margin(after)) if of.over(after) else solved(of, after)
        assert value * (1 if of.over(after) or of.mover(after) == 0 else -1) == int(margin)


FIRST_MOVES = "value_of_each_first_move(hole=margin)"


@pytest.mark.parametrize("row", sizes(0, few(12, 2)))
def test_small_kalahs_are_worth_what_they_are(row):
    check_kalah(row)


@pytest.mark.slow
@pytest.mark.parametrize("row", sizes(13, 20))
def test_larger_kalahs_are_worth_what_they_are(row):
    check_kalah(row)


# --------------------------------------------------------------- how it is asked


@pytest.mark.skipif(INTERPRETED, reason="half a million nodes")
def test_a_budget_solves_what_little_is_left_and_a_depth_does_not():
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


def test_an_endgame_of_the_spec_holds_at_every_limit():
    of = game("kalah(3,2)")
    agent = build(AgentSpec("alphabeta", endgame=12), of)
    for limit in (None, Limit(depth=1), Limit(nodes=10_000), Limit(seconds=10)):
        choice = agent.choose(of.start(), limit)
        assert (choice.exact, choice.value) == (True, 4)


def test_the_table_makes_no_difference_to_an_exact_value():
    of = game("kalah(3,3)")
    for bits in (1, 4, 12, 20):
        assert solved(of, of.start(), table_bits=bits)[1] == 2
