"""Scores of the classroom's players, near those of the reference; seeds fixed here."""

import random

import pytest

from agents.core import AgentSpec
from agents.registry import build
from games import Game, game
from tests.agents.whole_games import play_games

pytestmark = pytest.mark.slow

GAMES = 2000


def openings(of: Game, plies: int, number: int) -> list[list[int]]:
    """Unfinished lines of random plies."""
    dice, found = random.Random(f"{of.name} {plies}"), []
    while len(found) < number:
        position, moves = of.start(), []
        while len(moves) < plies and not of.over(position):
            moves.append(dice.choice(of.legal(position)))
            position = of.play(position, moves[-1])
        if not of.over(position):
            found.append(moves)
    return found


def score(name: str, ours: AgentSpec, theirs: AgentSpec, plies: int, games: int) -> float:
    """Points per game of `ours` in percent; every opening is played with both colours."""
    of = game(name)
    both = build(ours, of), build(theirs, of)
    lines = openings(of, plies, games // 2) if plies else [[]] * (games // 2)
    points = 0.0
    for seat in (0, 1):
        agents = both if seat == 0 else both[::-1]
        seeds = [
            (place, games + place) for place in range(seat * games // 2, (seat + 1) * games // 2)
        ]
        for played in play_games(of, *agents, lines, seeds):
            margin = played.margin if seat == 0 else -played.margin
            points += 1.0 if margin > 0 else 0.5 if margin == 0 else 0.0
    return 100 * points / games


@pytest.mark.parametrize(
    ("name", "expected", "off"), [("othello", 68.7, 2.5), ("othello-adjacent", 95.7, 1.5)]
)
def test_greedy_against_random(name, expected, off):
    found = score(name, AgentSpec("greedy"), AgentSpec("random"), 0, GAMES)
    print(f"greedy v random, {name}: {found:.1f} %")
    assert found == pytest.approx(expected, abs=off)


@pytest.mark.parametrize(
    ("depth", "theirs", "expected", "off"),
    [(1, "random", 96.1, 2.5), (1, "greedy", 76.5, 4.5), (3, "greedy", 97.3, 1.5),
     (5, "greedy", 99.0, 1.0)],
)  # fmt: skip
def test_unit_weights_at_a_depth(depth, theirs, expected, off):
    plies = 0 if theirs == "random" else 6
    ours = AgentSpec("alphabeta", depth=depth)
    found = score("othello", ours, AgentSpec(theirs), plies, GAMES)
    print(f"alphabeta depth {depth} v {theirs}: {found:.1f} %")
    assert found == pytest.approx(expected, abs=off)


# The classroom's Kalah players under `kalah-2022`, 4000 games: percent won by the reference. The
# text's player takes an empty row for the end of the game; ours knows the rules and loses less.
KALAH = {
    "whole turns, depth 2": ({"depth": 2, "collapse_turns": True}, 96.7),
    "whole turns, depth 4": ({"depth": 4, "collapse_turns": True}, 97.7),
    "whole turns, depth 6": ({"depth": 6, "collapse_turns": True}, 99.4),
    "plies, depth 2": ({"depth": 2, "weights": {"pot": 1.0}}, 99.0),
    "plies, depth 4": ({"depth": 4, "weights": {"pot": 1.0}}, 99.1),
    "plies, depth 6": ({"depth": 6, "weights": {"pot": 1.0}}, 99.6),
}


@pytest.mark.parametrize("player", KALAH)
def test_the_classrooms_kalah_players_against_random(player):
    options, expected = KALAH[player]
    weights = options.get("weights", {"pot": 2.0, "in_play": 1.0})
    ours = AgentSpec("minimax", **{**options, "weights": weights})
    found = score("kalah-2022(6,4)", ours, AgentSpec("random"), 0, GAMES)
    print(f"{player} v random: {found:.2f} %")
    assert found == pytest.approx(expected, abs=2.0)
