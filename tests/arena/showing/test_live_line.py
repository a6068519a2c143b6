"""What is said while games are played: not too often, and nothing when quiet."""

import contextlib
import time

import numpy as np
import pytest

from arena.playing.progress import GameProgress, GameRate
from arena.stats.anytime import start_anytime, update_anytime
from arena.stats.sprt import SprtPlan, begin
from arena.terminal.progress import open_displays


@contextlib.contextmanager
def shown_by(quiet):
    with open_displays(quiet, None) as show:
        yield show


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def event():
    """Events as a run sends them, one after the other."""
    rate = GameRate()

    def made(done, total=1000, played=None, **more):
        seen = update_anytime(start_anytime(10_000, again=False), np.full(done, 0.75))
        played = done if played is None else played
        rate.take(played)
        return GameProgress(
            done=done, total=total, is_last=done == total, names=["a", "b"], played=played,
            standings={(0, 1): seen}, rate=rate.games_per_second(played), **more,
        )  # fmt: skip

    return made


def test_plain_lines_come_every_few_seconds_and_at_the_end(clock, event, capsys):
    with shown_by(quiet=False) as show:
        for second in range(12):
            clock[0] = 100.0 + second
            show(event(50 * (second + 1)))
        show(event(1000))
    first, second, last = capsys.readouterr().err.splitlines()
    assert first.startswith("500 of 2,000 games, 100 games/s, 15 s left  a against b: 75.0 % [")
    assert second.startswith("900 of 2,000 games")
    assert last.startswith("2,000 of 2,000 games, 173 games/s  a against b: 75.0 %")


def test_a_line_comes_though_no_game_is_finished_and_names_who_plays(clock, event, capsys):
    with shown_by(quiet=False) as show:
        for second in range(13):
            clock[0] = 100.0 + second
            show(event(0, awaited=(0, 1), still=float(second)))
    lines = capsys.readouterr().err.splitlines()
    assert len(set(lines)) == 3
    assert all("a v b for" in line for line in lines)


def test_games_of_an_earlier_run_do_not_count_for_the_speed(clock, event, capsys):
    with shown_by(quiet=False) as show:
        clock[0] += 3
        show(event(510, played=10))
        clock[0] += 9
        show(event(600, played=100))
    assert "1,200 of 2,000 games, 20 games/s, 40 s left" in capsys.readouterr().err


def test_the_time_before_the_first_games_is_not_counted_in_the_time_left(clock, event, capsys):
    with shown_by(quiet=False) as show:
        show(event(0))
        clock[0] += 60  # it compiles
        show(event(10))
        assert "left" not in capsys.readouterr().err
        clock[0] += 10
        show(event(110))
    assert "220 of 2,000 games, 20 games/s, 89 s left" in capsys.readouterr().err


def test_long_waits_are_told_in_minutes(clock, event, capsys):
    with shown_by(quiet=False) as show:
        show(event(1, total=10_000))
        clock[0] += 10
        show(event(11, total=10_000))
    assert "166 min left" in capsys.readouterr().err


def test_a_sequential_test_is_shown_between_its_bounds(clock, event, capsys):
    with shown_by(quiet=False) as show:
        clock[0] += 10
        show(event(10, sprt=begin(SprtPlan(0, 10))))
    assert "LLR +0.00 in (-2.94, 2.94)" in capsys.readouterr().err


def test_quiet_is_quiet(clock, event, capsys):
    with shown_by(quiet=True) as show:
        clock[0] += 10
        show(event(1000))
    assert capsys.readouterr() == ("", "")


def test_a_finished_run_has_nothing_to_say(clock, event, capsys):
    with shown_by(quiet=False) as show:
        show(event(1000, played=0))
    assert capsys.readouterr().err == ""
