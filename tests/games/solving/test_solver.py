"""Values of the solver against naive full search, golden values and one another."""

import csv
import json
import random
from functools import cache
from pathlib import Path

import pytest

from agents.core import AgentSpec
from agents.registry import build
from games import Game, Position, game
from games.solving import Bounds, Budget, Solver, SolverSettings, solver_of
from tests.games.naive import full_search, sowing

GOLDEN = Path(__file__).parents[2] / "golden"
# Boards as small as these fit in; the usual table is 64 MB, and each test would touch all of it.
SMALL = SolverSettings(table_bits=16)
PRESET_OF = {"paper": "kalah-paper", "cs32_2009": "kalah", "cs32": "kalah-2022"}
SIGN = {"W": "win", "D": "draw", "L": "loss"}

EACH_PRESET = [(preset, 3, 2) for preset in sowing.PRESETS] + [
    (preset, 2, 3) for preset in sowing.PRESETS
]
RARE = [
    "kalah(3,2,sweep=nobody)",
    "kalah(2,3,sweep=ender,end_when=mover)",
    "owari(3,2,capture=none)",
    "kalah(3,2,opponent_pot=yes)",
    "kalah(2,3,skip_start=yes,capture=opposite)",
    "kalah-manchester(3,2,majority_ends=yes)",
]


@cache
def solver(name: str) -> Solver:
    """One solver a game: what it remembers must not matter."""
    return solver_of(game(name), SMALL)


@cache
def naive_rules(name: str) -> sowing.Rules:
    """The naive twin's rules of a game."""
    words = {"yes": True, "no": False}
    chosen = {key: getattr(game(name).rules, key) for key in sowing.Rules._fields}
    truths = ("capture_needs_nonempty", "majority_ends", "swap", "opponent_pot", "skip_start")
    return sowing.Rules(**chosen | {key: words[chosen[key]] for key in truths})


def agrees_along_random_games(name: str, games: int) -> None:
    """The values of every move, at every ply of random games."""
    of, random_ = game(name), random.Random(name)
    for _ in range(games):
        position, state = of.start(), sowing.start(naive_rules(name))
        while of.legal(position):
            wanted = full_search.values(state)
            found = solver(name).moves(position)
            assert found == {move: Bounds(value, value) for move, value in wanted.items()}
            best = max(wanted.values())
            assert solver(name).margin(position) == Bounds(best, best)
            move = random_.choice(of.legal(position))
            position, state = of.play(position, move), sowing.play(state, move)


@pytest.mark.parametrize(("preset", "holes", "beans"), EACH_PRESET)
def test_every_move_has_the_value_of_naive_full_search(preset, holes, beans):
    agrees_along_random_games(game(f"{preset}({holes},{beans})").name, 4)


@pytest.mark.parametrize("name", RARE)
def test_rules_that_no_preset_has_are_solved_too(name):
    agrees_along_random_games(game(name).name, 3)


def solved_rows(most: int) -> list[dict[str, str]]:
    """The golden solved sizes with at most so many beans a side."""
    rows = csv.DictReader((GOLDEN / "kalah/solved.csv").read_text().splitlines())
    return [row for row in rows if row["ruleset"] in PRESET_OF and size(row) <= most]


def size(row: dict[str, str]) -> int:
    """Beans of a side."""
    return int(row["m"]) * int(row["n"])


def test_small_boards_have_their_published_values():
    for row in solved_rows(6):
        name = f"{PRESET_OF[row['ruleset']]}({row['m']},{row['n']})"
        bounds = solver(name).margin(game(name).start())
        assert bounds == Bounds(*2 * [int(row["first_player_margin"])]), name
        assert bounds.outcome == SIGN[row["wdl"]], name


def test_a_budget_that_is_not_enough_leaves_true_bounds():
    of = game("kalah(4,2)")
    exact = solver_of(of, SMALL).margin(of.start()).low
    for nodes in (0, 1, 10, 50, 200):
        found = solver_of(of, SMALL).margin(of.start(), Budget(nodes=nodes))
        assert found.low <= exact <= found.high
    assert not solver_of(of, SMALL).margin(of.start(), Budget(nodes=1)).exact


def test_the_same_question_goes_on_where_it_was_left():
    of = game("kalah(3,3)")
    patient, impatient = solver_of(of, SMALL), solver_of(of, SMALL)
    wanted = patient.margin(of.start())
    for _ in range(1000):
        if impatient.margin(of.start(), Budget(nodes=100)).exact:
            break
    assert impatient.margin(of.start()) == wanted


def test_better_than_answers_with_one_question():
    of = game("kalah(3,2)")
    margin = solver("kalah(3,2)").margin(of.start()).low
    assert solver("kalah(3,2)").better_than(of.start(), margin - 1).low > margin - 1
    assert solver("kalah(3,2)").better_than(of.start(), margin).high <= margin


def test_a_finished_game_has_the_margin_of_its_score():
    of = game("kalah(3,2)")
    position = of.parse("S 0 0 0, N 0 0 0, pots 8-4, North to move")
    assert solver("kalah(3,2)").margin(position) == Bounds(-4, -4)
    assert solver("kalah(3,2)").moves(position) == {}


@pytest.mark.parametrize("rule", ["standard", pytest.param("adjacent", marks=pytest.mark.slow)])
def test_othello_4x4_has_its_known_value(rule):
    solved = json.loads((GOLDEN / "othello/solved_small.json").read_text())["solved"]
    value = next(each["wof"] for each in solved if each["rule"] == rule)
    name = "othello(4)" if rule == "standard" else "othello-adjacent(4)"
    assert solver(name).margin(game(name).start()) == Bounds(value, value)


def late(of: Game, empties: int, chance: random.Random) -> Position:
    """A position of a random game with at most so many empty squares; one that is not over."""
    while True:
        position = of.start()
        while of.text(position).count("-") > empties and not of.over(position):
            position = of.play(position, chance.choice(of.legal(position)))
        if not of.over(position):
            return position


@pytest.mark.parametrize("table_bits", [8, 19])  # of a small table little is left
@pytest.mark.parametrize(("name", "most"), [("othello(6)", 13), ("othello(8)", 13)])
def test_late_othello_has_the_value_of_an_independent_search(name, most, table_bits):
    of, chance = game(name), random.Random(7)
    exact = solver_of(of, SolverSettings(table_bits))
    plain = build(AgentSpec("alphabeta", endgame=64, seconds=3600.0), of)
    for empties in range(1, most + 1):
        position = late(of, empties, chance)
        value = round(plain.choose(position).value)
        assert exact.margin(position) == Bounds(value, value), of.text(position)
