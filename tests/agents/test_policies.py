"""Agents without search match their definitions, and random choices are uniform."""

from collections import Counter

import pytest

from agents.core import AgentSpec
from agents.registry import build
from games import game
from tests.agents.helpers import GAMES, few, slow_if_wide, spread
from tests.agents.naive.search import in_board_order
from tests.agents.naive_scores import is_sowing, naive_othello
from tests.games.naive import othello as rules_of_othello

SOWING = [name for name in GAMES if is_sowing(game(name))]
OTHELLO = [name for name in GAMES if game(name).pack == "othello"]


def choice(kind: str, name: str, position, **options) -> int:
    return build(AgentSpec(kind, **options), game(name)).choose(position).move


def sowings(of, position) -> list[int]:
    return [move for move in in_board_order(of, position) if move != of.swap_move]


@pytest.mark.parametrize("name", slow_if_wide(GAMES))
def test_first_and_last_play_board_ends(name):
    of = game(name)
    for position in spread(name, few(30, 3)):
        moves = sowings(of, position)
        assert choice("first", name, position) == moves[0]
        assert choice("last", name, position) == moves[-1]


def test_first_plays_lowest_number():
    of = game("kalah(6,4)")
    for position in spread(of.name, few(30, 3)):
        numbers = [int(of.move_text(position, move)) for move in of.legal(position)]
        first = of.move_text(position, choice("first", of.name, position))
        last = of.move_text(position, choice("last", of.name, position))
        assert (int(first), int(last)) == (min(numbers), max(numbers))


@pytest.mark.parametrize("name", slow_if_wide(SOWING))
def test_nearest_pot_and_fewest(name):
    of = game(name)
    for position in spread(name, few(40, 3)):
        moves, row = sowings(of, position), of.plain(position).own
        assert choice("nearest_pot", name, position) == max(moves)
        assert choice("fewest", name, position) == min(moves, key=lambda move: row[move])


@pytest.mark.parametrize("name", slow_if_wide(SOWING))
def test_greedy_in_sowing_games(name):
    of = game(name)
    for position in spread(name, few(40, 3)):
        gains = {}
        for move in in_board_order(of, position):
            after = of.play(position, move)
            # After a swap the player owns the other pot, so scores are compared by player.
            banked = of.raw_score(after)[position.mover] - of.raw_score(position)[position.mover]
            gains[move] = 2 * banked + (after.mover == position.mover)
        assert choice("greedy", name, position) == max(gains, key=lambda move: gains[move])


@pytest.mark.parametrize("name", slow_if_wide(OTHELLO))
def test_greedy_in_othello(name):
    of = game(name)
    for position in spread(name, few(40, 3)):
        if of.legal(position) == (of.pass_move,):
            continue
        state, last = naive_othello(of, position), of.rules.size - 1
        worth = {}
        for square in of.legal(position):
            row, column = divmod(square, of.rules.size)
            borders = (row in (0, last)) + (column in (0, last))
            worth[square] = len(rules_of_othello.flips(state, state.side, square)), borders
        best = max(worth, key=lambda square: worth[square])
        assert choice("greedy", name, position) == best


def test_greedy_plays_move_without_flips():
    of = game("othello-adjacent(4)")
    position = of.parse("---- ---X ---X ---- X")
    assert of.move_text(position, choice("greedy", of.name, position)) == "d1"


def counts(name: str, position, number: int, kind: str, **options) -> Counter:
    agent, found = build(AgentSpec(kind, **options), game(name)), Counter()
    for seed in range(number):
        agent.start(seed)
        found[agent.choose(position).move] += 1
    return found


@pytest.mark.parametrize(
    "name", slow_if_wide(["kalah(6,4)", "kalah(9,3)", "othello", "othello(10)"])
)
def test_random_is_uniform(name):
    of = game(name)
    position = spread(name, 5)[1]
    legal, number = of.legal(position), few(4000, 400)
    found = counts(name, position, number, "random")
    assert set(found) == set(legal)
    expected = number / len(legal)
    chi_square = sum((found[move] - expected) ** 2 / expected for move in legal)
    assert chi_square < len(legal) + 5 * len(legal) ** 0.5 + 5


def test_epsilon_is_share_of_random_moves():
    of, number = game("kalah(6,4)"), few(4000, 400)
    found = counts(of.name, of.start(), number, "first", epsilon=0.3)
    assert found[0] / number == pytest.approx(0.7 + 0.3 / 6, abs=few(30, 100) / 1000)
    assert counts(of.name, of.start(), 50, "first", epsilon=0.0) == {0: 50}
    assert len(counts(of.name, of.start(), few(200, 50), "first", epsilon=1.0)) == 6


@pytest.mark.parametrize(
    ("kind", "number", "options"),
    [("greedy", 4000, {}), ("minimax", 2000, {"depth": 1}), ("alphabeta", 2000, {"depth": 1})],
)
def test_random_ties_are_uniform(kind, number, options):
    of, number = game("othello"), few(number, number // 40)
    found = counts(of.name, of.start(), number, kind, random_ties=True, **options)
    assert set(found) == set(of.legal(of.start()))
    assert max(found.values()) < 1.2 * number / 4 + 20
