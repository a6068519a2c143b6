"""The log of a bot: its end is kept, whatever writes how much of it."""

import os
from contextlib import suppress
from threading import Event, Thread

import pytest

from agents.sandbox.usage import KEPT_BYTES, BotLog


@pytest.fixture
def pipe():
    """A log, and where a bot writes."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    yield BotLog(reader), writer
    os.close(reader)


def test_the_end_of_what_was_written_is_kept(pipe):
    log, writer = pipe
    assert log.read() and log.kept == b""  # nothing yet
    os.write(writer, b"first")
    os.write(writer, b"a" * KEPT_BYTES + b"last")
    log.read_rest()
    assert log.kept == b"a" * (KEPT_BYTES - 4) + b"last"
    os.close(writer)
    assert not log.read()


def test_what_says_the_same_all_the_time_is_read_to_its_end(pipe):
    log, writer = pipe
    log.kept = b"y\n" * (KEPT_BYTES // 2)
    os.write(writer, log.kept * 10 + b"z\n")
    log.read_rest()
    assert log.kept.endswith(b"y\nz\n")
    os.close(writer)


def test_what_writes_for_ever_is_not_read_for_ever(pipe):
    log, writer = pipe
    os.set_blocking(writer, False)
    over, left = Event(), ["a piece"] * 4096  # 256 MB, if it were read to its end

    def write():
        while left and not over.is_set():
            with suppress(BlockingIOError):
                os.write(writer, b"y\n" * (1 << 15))
                left.pop()

    thread = Thread(target=write)
    thread.start()
    while left and not log.flooded:  # for a moment nothing was there
        log.read_rest()
    over.set()
    thread.join()
    os.close(writer)
    assert left
