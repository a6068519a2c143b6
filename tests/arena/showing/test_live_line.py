"""What is said while games are played: not too often, and nothing when quiet."""

import contextlib

import numpy as np
import pytest

from arena.playing.play import Tick
from arena.stats.anytime import start_anytime, update_anytime
from arena.stats.sprt import SprtPlan, begin
from arena.terminal import progress_line
from arena.terminal.progress_line import LiveLine, run_progress


@contextlib.contextmanager
def shown_by(quiet):
    with LiveLine(quiet) as line:
        yield run_progress(line, ["a", "b"])


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: now[0])
    return now


def tick(done, total=1000, played=None, sprt=None):
    seen = update_anytime(start_anytime(10_000, again=False), np.full(done, 0.75))
    return Tick(done, total, done if played is None else played, {(0, 1): seen}, sprt, {})


def test_plain_lines_come_every_few_seconds_and_at_the_end(clock, capsys):
    with shown_by(quiet=False) as show:
        for second in range(12):
            clock[0] = 100.0 + second
            show(tick(50 * (second + 1)))
        show(tick(1000))
    first, second, last = capsys.readouterr().err.splitlines()
    assert first.startswith("500 of 2,000 games, 100 games/s, 15 s left  a against b: 75.0 % [")
    assert second.startswith("900 of 2,000 games")
    assert last.startswith("2,000 of 2,000 games, 173 games/s  a against b: 75.0 %")


def test_a_line_comes_though_no_game_is_finished_and_names_who_plays(clock, capsys):
    with shown_by(quiet=False) as show:
        for second in range(13):
            clock[0] = 100.0 + second
            show(tick(0)._replace(awaited=(0, 1)))
    lines = capsys.readouterr().err.splitlines()
    assert len(set(lines)) == 3
    assert all("a v b for" in line for line in lines)


def test_games_of_an_earlier_run_do_not_count_for_the_speed(clock, capsys):
    with shown_by(quiet=False) as show:
        clock[0] += 3
        show(tick(510, played=10))
        clock[0] += 9
        show(tick(600, played=100))
    assert "1,200 of 2,000 games, 20 games/s, 40 s left" in capsys.readouterr().err


def test_the_time_before_the_first_games_is_not_counted_in_the_time_left(clock, capsys):
    with shown_by(quiet=False) as show:
        show(tick(0))
        clock[0] += 60  # it compiles
        show(tick(10))
        assert "left" not in capsys.readouterr().err
        clock[0] += 10
        show(tick(110))
    assert "220 of 2,000 games, 20 games/s, 89 s left" in capsys.readouterr().err


def test_long_waits_are_told_in_minutes(clock, capsys):
    with shown_by(quiet=False) as show:
        show(tick(1, total=10_000))
        clock[0] += 10
        show(tick(11, total=10_000))
    assert "166 min left" in capsys.readouterr().err


def test_a_sequential_test_is_shown_between_its_bounds(clock, capsys):
    with shown_by(quiet=False) as show:
        clock[0] += 10
        show(tick(10, sprt=begin(SprtPlan(0, 10))))
    assert "LLR +0.00 in (-2.94, 2.94)" in capsys.readouterr().err


def test_quiet_is_quiet(clock, capsys):
    with shown_by(quiet=True) as show:
        clock[0] += 10
        show(tick(1000))
    assert capsys.readouterr() == ("", "")


def test_a_finished_run_has_nothing_to_say(clock, capsys):
    with shown_by(quiet=False) as show:
        show(tick(1000, played=0))
    assert capsys.readouterr().err == ""
