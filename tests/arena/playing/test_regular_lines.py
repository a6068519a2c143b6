"""Lines while something takes long."""

import time

from arena.playing import regular_lines as module
from arena.playing.regular_lines import regular_lines


def test_a_line_comes_again_and_again_until_the_block_ends():
    told = []
    with regular_lines(lambda: f"line {len(told)}", told.append, 0.02):
        until = time.monotonic() + 20.0
        while len(told) < 3 and time.monotonic() < until:
            time.sleep(0.01)
    assert told[:3] == ["line 0", "line 1", "line 2"]
    number = len(told)
    time.sleep(0.1)
    assert len(told) == number


def test_what_is_short_says_nothing():
    told = []
    with regular_lines(lambda: "x", told.append, 60.0):
        pass
    assert told == []


def test_the_first_line_comes_sooner_than_the_next(monkeypatch):
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.01)
    told = []
    with regular_lines(lambda: "x", told.append, 60.0):
        until = time.monotonic() + 20.0
        while not told and time.monotonic() < until:
            time.sleep(0.01)
    assert told == ["x"]
