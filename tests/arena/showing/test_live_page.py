"""The live page: what it says in the middle of a run, and that its line never stands still."""

import numpy as np
import pytest

from arena.planning.rounds import IN, OUT, Row, TournamentStanding
from arena.playing.play import Tick
from arena.report import live
from arena.report.live import LiveView
from arena.showing.live_page import LivePage
from arena.stats.anytime import begun, observe
from arena.terminal.progress_line import Pace
from tests.arena.played import experiment

HOSTILE = "<script>alert(1)</script>"
AGENTS = (HOSTILE, "b", "c")
CHECKS = (
    {"that": "b beats c", "score_at_least": 0.5},
    {"that": f"{HOSTILE} beats b", "score_at_least": 0.5},
    {"that": "all", "no_forfeits": True},
)


@pytest.fixture
def page():
    asked = experiment(AGENTS, *CHECKS)
    return LivePage("demo", asked.plan, asked.checks)


def standing_of(*quarters):
    return observe(begun(10_000, again=False), np.array(quarters) / 4)


def tick(done=120, total=600, told=None):
    seen = {(0, 1): standing_of(*[4, 3] * 40), (1, 2): standing_of(4, 4, 2)}
    return Tick(done, total, done, seen, None, {}, told)


def test_a_state_says_where_every_check_and_agent_stands(page):
    state = page.parts(tick())
    assert state["answer"] == f"So far {HOSTILE} is ahead of b."
    for verdict in ('badge open">', "SO FAR HOLDS", 'badge holds">', "so far HOLDS", "AT THE END"):
        assert verdict in state["checks"]
    assert "score at least 50\u00a0%" in state["checks"]
    assert state["standings"].count("<tr>") == 4
    assert "87.5" in state["matrix"]
    assert "12.5" in state["matrix"]  # seen from both sides
    assert HOSTILE not in "".join(map(str, state.values())).replace(state["answer"], "")
    assert state["rounds"] is None


def test_every_cell_that_changes_is_named_once(page):
    state = page.parts(tick())
    for part, cells in (("standings", 3 * 6), ("matrix", 9)):
        named = [piece.partition('"')[0] for piece in state[part].split('data-of="')[1:]]
        assert len(named) == len(set(named)) == cells


def told(over=False):
    rows = (
        Row(1, "best" if over else IN, "above all" if over else "", None),
        Row(2, OUT, f"beaten by {HOSTILE}", None, 3, 1),
    )
    return TournamentStanding("best", 4, over, rows, "best: b" if over else "1 of 3 is still in")


def test_a_tournament_shows_who_is_in_and_why_the_others_are_out(page):
    state = page.parts(tick(told=told()))
    assert state["answer"] == "So far 1 of 3 is still in."
    assert "After round 4" in state["rounds"]
    assert "In: b." in state["rounds"]
    assert "beaten by &lt;script&gt;" in state["rounds"]
    assert page.parts(tick(told=told(over=True)))["answer"] == "Best: b."


def test_the_bar_of_a_tournament_does_not_say_how_far_it_is(page):
    pace = Pace()
    assert page.line(tick(), 10.0, pace)["bar"] == 0.2
    assert page.line(tick(told=told()), 10.0, pace)["bar"] is None
    last = page.line(tick(600, told=told(over=True)), 10.0, pace)
    assert last["bar"] == 1.0
    assert last["now"].endswith("summing up")


class Listener:
    """Takes what a view publishes."""

    def __init__(self):
        self.states, self.followers = [], 1

    @property
    def state(self):
        return self.states

    def publish(self, state):
        self.states.append(state)


def test_the_line_goes_on_though_tables_take_long_to_make(page, monkeypatch):
    now, busy = [100.0], [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(live.time, "thread_time", lambda: busy[0])
    made = []

    def parts(shown):
        made.append(shown.done)
        busy[0] += 0.5
        return {"standings": str(shown.done)}

    monkeypatch.setattr(page, "parts", parts)
    view = LiveView(page, Listener())
    for second in range(40):
        now[0] = 100.0 + second
        view.show(tick(10 * second))
    lines = [state["now"] for state in view.server.states]
    assert len(set(lines)) == 40
    assert made == [0, 250]  # 0.5 s of work may be done every 25 s
    assert view.server.states[-1]["standings"] == "250"
    view.show(tick(600))
    assert view.server.states[-1]["standings"] == "600"  # the last state is whole, at once
