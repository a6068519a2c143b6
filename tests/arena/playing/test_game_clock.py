"""Clocks of a game: what is left of a move, a turn and a game, and what a search takes of it."""

import pytest

from arena.config.experiment import load
from arena.planning.games import Termination
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing.clock import AgentClock, TimeControl
from arena.playing.worker import Worker
from tests.arena.running import experiment_file

SECOND = 1_000_000_000


def test_the_least_of_three_limits_holds():
    clock = AgentClock(TimeControl(5.0, 3.0, 10.0, 1.0))
    assert clock.rest() == 3.0
    clock.charge(2 * SECOND, 0)
    assert clock.rest() == 1.0  # of the turn
    clock.end_turn()
    assert clock.rest() == 3.0
    for _ in range(4):
        clock.charge(3 * SECOND, 0)
        clock.end_turn()
    assert clock.rest() == pytest.approx(10 - 14 + 5)  # of the game, with five increments


def test_time_in_which_it_could_not_run_is_not_charged():
    clock = AgentClock(TimeControl(5.0, 2.0))
    clock.charge(3 * SECOND, 2 * SECOND)
    assert clock.rest() == 1.0
    assert (clock.nanoseconds, clock.lag, clock.longest) == (SECOND, 2 * SECOND, SECOND)


def test_the_longest_turn_is_that_of_all_its_moves():
    clock = AgentClock(TimeControl(5.0))
    for taken in (1, 2, 3):
        clock.charge(taken * SECOND, 0)
    clock.end_turn()
    clock.charge(4 * SECOND, 0)
    assert (clock.longest, clock.longest_turn) == (4 * SECOND, 6 * SECOND)


def test_a_search_leaves_something_for_the_rest_of_a_turn():
    assert AgentClock(TimeControl(5.0)).think() is None
    clock = AgentClock(TimeControl(5.0, 1.0))
    for _ in range(15):
        assert 0 < clock.think() <= clock.rest()
        clock.charge(int(clock.think() * SECOND), 0)


BOTS = """
game = "kalah(4,3)"
pairs = 4
openings = {{ random_plies = 3 }}
{limits}
[agents.slow]
kind = "python"
file = "slow.py"
{own}
[agents.random]
kind = "random"
"""
SLOW = """
import time
def choose(view, legal, rng):
    time.sleep({seconds})
    return legal[-1]
"""


@pytest.mark.parametrize(
    ("limits", "own", "lost"),
    [
        ("move_seconds = 5", "", False),
        ("game_seconds = 0.3", "", True),
        ("", "game_seconds = 0.3", True),
        ("turn_seconds = 0.2", "", True),
        ("", "seconds = 0.05", True),
        # However slow the machine; that increments count is in the first test.
        ("game_seconds = 5\nincrement = 60", "", False),
    ],
)
def test_a_bot_loses_by_each_of_its_clocks(tmp_path, limits, own, lost):
    (tmp_path / "slow.py").write_text(SLOW.format(seconds=0.12 if lost else 0.01))
    drawn = make_schedule(load(experiment_file(tmp_path, BOTS.format(limits=limits, own=own))).plan)
    games = Worker(drawn).play(Task(0, 1, {}))
    assert (Termination.TIMEOUT in games.termination.tolist()) == lost


SEARCH = """
game = "kalah(6,4)"
pairs = 2
{limits}
openings = {{ random_plies = 4 }}
[agents.smart]
kind = "smart"
nodes = 1000000000
[agents.random]
kind = "random"
"""


@pytest.mark.parametrize("limits", ["turn_seconds = 0.01", "game_seconds = 0.1"])
def test_our_searches_keep_to_the_clocks_of_turns_and_games(tmp_path, limits):
    drawn = make_schedule(load(experiment_file(tmp_path, SEARCH.format(limits=limits))).plan)
    assert not drawn.plan.reproducible
    games = Worker(drawn).play(Task(0, 2, {}))
    column = "turn" if "turn" in limits else "nanoseconds"
    for row in range(len(games)):
        seat = "first" if row % 2 == 0 else "second"
        assert games.columns[f"{seat}_nodes"][row] > 100
        # A busy machine may stop a search in the middle: there is room, if not for so many nodes.
        assert games.columns[f"{seat}_{column}"][row] < 5e9
