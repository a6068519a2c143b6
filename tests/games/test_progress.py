"""The progress line: nothing for quick work, then a line now and then, and none when quiet."""

import io
import sys

import pytest

from games.base import progress
from games.base.progress import Progress, ProgressLine, watch


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "FIRST_SECONDS", 2.0)
    return now


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """It is one."""
        return True


class Work(Progress):
    """Work that has two lines."""

    def lines(self, seconds):
        return [f"at {seconds:.1f}", "more"]


def shown(clock, quiet=False):
    """What is written by ten seconds of work that is asked four times a second."""
    with ProgressLine(quiet) as line:
        for _ in range(40):
            line.show(Work())
            clock[0] += 0.25


def test_plain_lines_begin_after_two_seconds(clock, capsys):
    shown(clock)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["at 2.0  more", "at 6.0  more"]


def test_quiet_work_shows_nothing(clock, capsys):
    shown(clock, quiet=True)
    assert capsys.readouterr().err == ""


def test_a_terminal_has_one_line_which_goes_away(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    shown(clock)
    written = terminal.getvalue()
    assert "\n" not in written
    assert written.startswith("\rat 2.0  more")
    assert written.endswith("\r\x1b[K")


def test_names_cannot_forge_a_line(clock, capsys):
    with ProgressLine() as line:
        clock[0] += 3
        line.show(Progress("a\nforged"))
    assert capsys.readouterr().err == "a\\nforged, 3 s\n"


def test_a_watched_block_is_shown_though_it_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.01)
    seen = []
    with ProgressLine() as line, watch(line.show, lambda: seen.append(1) or Progress("working")):
        while not seen:
            pass
    assert capsys.readouterr().err == "working, 0 s\n"


def test_the_last_event_is_shown_though_the_line_is_not_due(clock, capsys):
    with ProgressLine() as line:
        line.show(Progress("half"))
        line.show(Progress("all", is_last=True))
    assert capsys.readouterr().err == "all, 0 s\n"
