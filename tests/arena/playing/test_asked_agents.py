"""Agents of every kind are asked about positions in the middle of games."""

import random

import pytest

from agents.core import AgentSpec
from arena.playing.asked_agents import asked
from tests.agents.hosted import GAMES, game_for, other

pytestmark = pytest.mark.slow  # programs are started


def ways_of(of, number):
    """Ways to positions with a choice, by random moves."""
    dice, ways = random.Random(5), []
    while len(ways) < number:
        way = [of.start()]
        for _ in range(dice.randrange(2, 12)):
            way.append(of.play(way[-1], dice.choice(of.legal(way[-1]))))
        if len(of.legal(way[-1])) > 1:
            ways.append(way)
    return ways


@pytest.mark.parametrize("kind", GAMES)
def test_engines_that_follow_games_are_told_the_way_to_a_position(kind):
    of = game_for(kind)
    ways = ways_of(of, 6)
    spec = AgentSpec(kind, {"command": other(kind), "start_seconds": 60.0})
    positions = [way[-1] for way in ways]
    moves = asked(of, {"engine": spec}, positions, 1, 60.0, ways)["engine"]
    lowest = [min(of.legal(each), key=of.slots_of) for each in positions]
    assert moves == lowest
    if kind == "gtp":
        (why,) = asked(of, {"engine": spec}, positions, 1, 60.0).values()
        assert "follows games move by move" in why
