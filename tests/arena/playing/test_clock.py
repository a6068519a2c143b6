"""Time controls: the limits of an agent, the clock of a game, and forfeits by time."""

import re
import time

import pytest

from agents.core import AgentSpec, Choice, Limit, limit_on_clock
from agents.registry import build
from arena.config.experiment import load_experiment
from arena.planning.games import LOSS, Termination
from arena.planning.plan import Plan
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing.clock import AgentClock, TimeControl, time_control
from arena.playing.referee import play_game
from arena.playing.worker import Worker
from games import game as load_game
from games.board import Board
from tests.arena.running import experiment_file

SECOND = 1_000_000_000
LIMITS = """
game = "kalah(4,3)"
pairs = 1
{top}
[agents.mine]
kind = "python"
file = "bot.py"
{own}
[agents.own]
kind = "alphabeta"
depth = 2
evaluate = "h.py"
[agents.random]
kind = "random"
"""


@pytest.mark.parametrize(
    ("top", "own", "seconds"),
    [
        ("", "", 5.0),
        ("move_seconds = 20", "", 20.0),
        ("move_seconds = 60", "", 60.0),
        ('game_time = "300"', "", 60.0),
        ("turn_seconds = 30", "", 60.0),
        ("", 'game_time = "300"', 60.0),
    ],
)
def test_bot_without_a_limit_has_five_seconds_a_move(tmp_path, top, own, seconds):
    for name in ("bot", "h"):
        (tmp_path / f"{name}.py").write_text("")
    plan = load_experiment(experiment_file(tmp_path, LIMITS.format(top=top, own=own))).plan
    assert time_control(plan, plan.agents["mine"]).move == seconds
    again = Plan.from_json(plan.to_json(), tmp_path)
    assert time_control(again, again.agents["mine"]).move == seconds
    search = 60.0 if plan.move_seconds is None else plan.move_seconds
    assert time_control(plan, plan.agents["own"]).move == search


def test_plan_without_bots_has_a_limit_of_a_minute(tmp_path):
    text = (
        'game = "kalah(4,3)"\npairs = 1\n[agents.a]\nkind = "random"\n[agents.b]\nkind="greedy"\n'
    )
    plan = load_experiment(experiment_file(tmp_path, text)).plan
    assert plan.to_json()["move_seconds"] == 60.0


def test_the_smallest_of_three_limits_counts():
    clock = AgentClock(TimeControl(5.0, 3.0, 10.0, 1.0))
    assert clock.seconds_left() == 3.0
    clock.charge(2 * SECOND, 0)
    assert clock.seconds_left() == 1.0  # of the turn
    clock.end_turn()
    assert clock.seconds_left() == 3.0
    for _ in range(4):
        clock.charge(3 * SECOND, 0)
        clock.end_turn()
    assert clock.seconds_left() == pytest.approx(10 - 14 + 5)  # of the game, with five increments


def test_lag_is_not_charged():
    clock = AgentClock(TimeControl(5.0, 2.0))
    clock.charge(3 * SECOND, 2 * SECOND)
    assert clock.seconds_left() == 1.0
    assert (clock.nanoseconds, clock.lag, clock.longest) == (SECOND, 2 * SECOND, SECOND)


def test_longest_turn_includes_all_its_moves():
    clock = AgentClock(TimeControl(5.0))
    for taken in (1, 2, 3):
        clock.charge(taken * SECOND, 0)
    clock.end_turn()
    clock.charge(4 * SECOND, 0)
    assert (clock.longest, clock.longest_turn) == (4 * SECOND, 6 * SECOND)


def test_search_leaves_time_for_the_rest_of_a_turn():
    assert AgentClock(TimeControl(5.0)).search_seconds() is None
    clock = AgentClock(TimeControl(5.0, 1.0))
    for _ in range(15):
        assert 0 < clock.search_seconds() <= clock.seconds_left()
        clock.charge(int(clock.search_seconds() * SECOND), 0)


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
    ("limits", "own", "loses"),
    [
        ("move_seconds = 5", "", False),
        ('game_time = "0.3"', "", True),
        ("", 'game_time = "0.3"', True),
        ("turn_seconds = 0.2", "", True),
        ("", "seconds = 0.05", True),
        # On a slow machine, too; the first test of the clock covers increments.
        ('game_time = "5+60"', "", False),
    ],
)
def test_bot_loses_by_each_of_its_clocks(tmp_path, limits, own, loses):
    (tmp_path / "slow.py").write_text(SLOW.format(seconds=0.12 if loses else 0.01))
    path = experiment_file(tmp_path, BOTS.format(limits=limits, own=own))
    games = Worker(make_schedule(load_experiment(path).plan)).play(Task(0, 1, {}))
    assert (Termination.TIMEOUT in games.termination.tolist()) == loses
    for trace in games.traces.values():
        (clock,) = [each for each in ("game", "turn") if each in limits + own] or [""]
        assert re.match(r"did not answer within [\d.e-]{1,6} s", trace)
        assert trace.partition("\n")[0].count(f"s for the {clock}") == bool(clock)


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


@pytest.mark.parametrize("limits", ["turn_seconds = 0.01", 'game_time = "0.1"'])
def test_built_in_searches_keep_to_the_clocks_of_turns_and_games(tmp_path, limits):
    path = experiment_file(tmp_path, SEARCH.format(limits=limits))
    schedule = make_schedule(load_experiment(path).plan)
    assert not schedule.plan.is_reproducible
    games = Worker(schedule).play(Task(0, 2, {}))
    column = "turn" if "turn" in limits else "nanoseconds"
    for row in range(len(games)):
        seat = "first" if row % 2 == 0 else "second"
        assert games.columns[f"{seat}_nodes"][row] > 100
        # Not the exact limit, because a busy machine may stop a search in the middle.
        assert games.columns[f"{seat}_{column}"][row] < 5e9


SHORT = """
game = "{game}"
pairs = 10
game_time = "0.2+0.005"
openings = {{ random_plies = 4, repeat = true }}
[agents.mine]
kind = "{kind}"
[agents.other]
kind = "{other}"
"""


@pytest.mark.parametrize("game", ["kalah(6,4)", "othello(6)"])
@pytest.mark.parametrize(
    ("kind", "other"), [("minimax", "alphabeta"), ("smart", "smart_classic"), ("mcts", "perfect")]
)
def test_no_search_loses_on_a_very_short_clock(tmp_path, game, kind, other):
    path = experiment_file(tmp_path, SHORT.format(game=game, kind=kind, other=other))
    worker = Worker(make_schedule(load_experiment(path).plan))
    worker.compile_agents()
    games = worker.play(Task(0, 10, {}))
    assert set(games.termination.tolist()) == {Termination.NORMAL}
    for seat in ("first", "second"):
        taken = games.columns[f"{seat}_nanoseconds"] / SECOND
        assert (taken <= 0.2 + 0.005 * games.columns[f"{seat}_moves"]).all()
        assert taken.mean() > 0.01  # more than a default limit takes on a busy machine


class SlowAgent:
    """An agent of this process that ignores its clock."""

    def __init__(self, game):
        self.spec, self.game, self.limit = AgentSpec("minimax"), game, Limit(depth=1)

    def start(self, seed):
        pass

    def choose(self, position, limit=None):
        since = time.thread_time()
        while time.thread_time() - since < 0.02:
            pass
        return Choice(self.game.legal(position)[0])


def test_agent_of_this_process_that_ignores_its_clock_loses_on_time():
    game = load_game("kalah(4,3)")
    control = TimeControl(60.0, None, 0.05)
    seats = (lambda: SlowAgent(game)), (lambda: SlowAgent(game))
    record = play_game(Board(game), seats, (), (1, 2), controls=(control, TimeControl(60.0)))
    assert (record.termination, record.result) == (Termination.TIMEOUT, LOSS)
    assert "the rest of its 0.05 s for the game" in record.trace
    assert record.clocks[0].moves == 2


@pytest.mark.parametrize(
    ("top", "own", "depth", "nodes"),
    [
        ('game_time = "5"', "", None, None),
        ("", 'game_time = "5"', None, None),
        ('game_time = "5"', "nodes = 20000", None, 20_000),  # the default of smart, but written
        ("", 'game_time = "5"\ndepth = 3', 3, None),
    ],
)
def test_clock_replaces_the_default_limit_of_a_search(tmp_path, top, own, depth, nodes):
    text = f'game = "kalah(6,4)"\n{top}\n[agents.a]\nkind = "smart"\n{own}\n'
    text += '[agents.b]\nkind = "random"\n'
    spec = load_experiment(experiment_file(tmp_path, text)).plan.agents["a"]
    limit = limit_on_clock(spec, Limit(nodes=nodes or 20_000, depth=depth), 0.25)
    assert limit == Limit(depth, nodes if nodes else (20_000 if depth else None), 0.25)


@pytest.mark.parametrize("kind", ["minimax", "alphabeta"])
def test_stopped_search_has_the_move_of_its_last_finished_depth(kind):
    game = load_game("othello(8)")
    agent = build(AgentSpec(kind, depth=60), game)
    agent.start(1)
    agent.choose(game.start(), Limit(depth=2))
    choice = agent.choose(game.start(), Limit(depth=60, seconds=0.05))
    assert 2 < choice.depth < 60
