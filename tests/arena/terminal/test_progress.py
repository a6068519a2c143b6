"""Progress lines on the terminal, and standings with anytime-valid intervals."""

import time

import numpy as np
import pytest

from arena.playing.progress import (
    GameProgress,
    GameRate,
    anytime_at_level,
    live_agents,
    live_matches,
    standing_lines,
)
from arena.stats.anytime import anytime_estimate, start_anytime, update_anytime
from arena.stats.sprt import Decision, SprtPlan, start_sprt
from arena.stats.stopping import WidthState
from arena.terminal.progress import open_displays

NAMES = ["weak", "middle", "strong"]
SCORES = {(0, 1): 0.25, (0, 2): 0.0, (1, 2): 0.5}  # of the first of each pair


@pytest.fixture(scope="module")
def progress():
    standings = {
        pair: update_anytime(start_anytime(1000, again=False), np.full(200, score))
        for pair, score in SCORES.items()
    }
    return GameProgress(done=600, total=3000, names=NAMES, pairs_played=600, standings=standings)


def test_the_score_of_an_agent_is_the_mean_of_its_matches_inside_their_common_interval(progress):
    rows = live_agents(progress, live_matches(progress))
    assert [NAMES[row.agent] for row in rows] == ["strong", "middle", "weak"]
    strong = rows[0]
    assert (strong.games, strong.above, strong.below, strong.open) == (800, 1, 0, 1)
    assert strong.score.value == pytest.approx(0.75)
    # Two intervals at 97.5 % hold together at 95 %.
    ends = [anytime_at_level(progress.standings[pair], 0.975) for pair in ((0, 2), (1, 2))]
    highs = [1.0 if end.high is None else end.high for end in ends]
    assert strong.score.low == pytest.approx(1.0 - sum(highs) / 2)
    alone = anytime_estimate(progress.standings[1, 2])
    assert highs[1] > alone.high


def test_the_standings_are_a_table_of_all_agents(progress):
    leader, head, *rows = standing_lines(progress)
    assert leader.startswith("strong leads: 75.0 % [")
    assert head.split() == ["agent", "score", "so", "far", "games", "above", "below", "open"]
    assert [row.split()[:2] for row in rows] == [["1", "strong"], ["2", "middle"], ["3", "weak"]]
    assert rows[-1].split()[-4:] == ["800", "0", "2", "0"]


def test_one_opening_gives_no_interval():
    standings = {(0, 1): update_anytime(start_anytime(1, again=False), [1.0])}
    progress = GameProgress(done=1, total=1, pairs_played=1, standings=standings)
    row = live_agents(progress, live_matches(progress))[0]
    assert (row.score.value, row.score.low, row.score.high) == (1.0, None, None)
    assert "opening" in row.score.reason


class Clock:
    """Displays of progress, and the events of a run on a clock that the test moves."""

    def __init__(self, monkeypatch):
        self.now, self.rate = 100.0, GameRate()
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr("games.base.progress.FIRST_SECONDS", 4.0)  # the suite has no lines

    def event(self, done, total=1000, played=None, **more):
        score = update_anytime(start_anytime(10_000, again=False), np.full(done, 0.75))
        played = done if played is None else played
        self.rate.update(played)
        return GameProgress(
            done=done, total=total, is_last=done == total, names=["a", "b"], pairs_played=played,
            standings={(0, 1): score}, rate=self.rate.games_per_second(played), **more,
        )  # fmt: skip

    def show(self, *steps, quiet=False):
        """Show an event after each wait in seconds."""
        with open_displays(quiet, None) as show:
            for seconds, event in steps:
                self.now += seconds
                show(self.event(**event))


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_plain_lines_come_every_few_seconds_and_at_the_end(clock, capsys):
    clock.show((0, {"done": 50}), *((1, {"done": 50 * second}) for second in range(2, 13)),
               (0, {"done": 1000}))  # fmt: skip
    first, second, last = capsys.readouterr().err.splitlines()
    assert first.startswith("500 of 2,000 games, 100 games/s, 15 s left  a against b: 75.0 % [")
    assert second.startswith("900 of 2,000 games")
    assert last.startswith("2,000 of 2,000 games, 173 games/s  a against b: 75.0 %")


def test_a_line_names_the_pair_that_is_played(clock, capsys):
    clock.show(*((1, {"done": 0, "next_match": (0, 1), "idle_seconds": float(second)})
                 for second in range(13)))  # fmt: skip
    lines = capsys.readouterr().err.splitlines()
    assert len(set(lines)) == 3
    assert all("a v b for" in line for line in lines)


COMPILING = (0, {"done": 0}), (60, {"done": 10})
SPRT = {"stop": start_sprt(SprtPlan(0, 10))}
NARROW = {"stop": WidthState((20, 20, 20, 20, 20), 24.2, 196.0, Decision.RUNNING)}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        # Games of an earlier run do not count for the speed.
        (((3, {"done": 510, "played": 10}), (9, {"done": 600, "played": 100})),
         "1,200 of 2,000 games, 20 games/s, 40 s left"),
        ((*COMPILING, (10, {"done": 110})), "220 of 2,000 games, 20 games/s, 89 s left"),
        (((0, {"done": 1, "total": 10_000}), (10, {"done": 11, "total": 10_000})), "166 min left"),
        (((0, {"done": 1, **NARROW}), (10, {"done": 101, **NARROW})),
         "20 games/s, 10 s left, ± 24 Elo, about 200 pairs needed"),
        (((10, {"done": 10, **SPRT}),), "LLR +0.00 in (-2.94, 2.94)"),
    ],
)  # fmt: skip
def test_speed_time_left_and_test_in_a_line(clock, capsys, steps, expected):
    clock.show(*steps)
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("steps", "quiet"),
    [(((10, {"done": 1000}),), True), (((0, {"done": 1000, "played": 0}),), False)],
)
def test_quiet_and_finished_runs_print_nothing(clock, capsys, steps, quiet):
    clock.show(*steps, quiet=quiet)
    assert capsys.readouterr() == ("", "")


def test_there_is_no_time_left_before_the_first_games(clock, capsys):
    clock.show(*COMPILING)
    assert "left" not in capsys.readouterr().err
