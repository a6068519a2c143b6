"""The end of a bot's log is kept, however much it writes."""

import os
from contextlib import suppress
from threading import Event, Thread

import pytest

from agents.sandbox.usage import TAIL_BYTES, BotLog


@pytest.fixture
def pipe():
    """A log, and the descriptor that its bot writes."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    yield BotLog(reader), writer
    os.close(reader)


def test_the_end_of_the_log_is_kept(pipe):
    log, writer = pipe
    assert log.take() and log.tail == b""  # nothing yet
    os.write(writer, b"first")
    os.write(writer, b"a" * TAIL_BYTES + b"last")
    log.take_rest()
    assert log.tail == b"a" * (TAIL_BYTES - 4) + b"last"
    os.close(writer)
    assert not log.take()


def test_a_repetitive_log_is_read_to_its_end(pipe):
    log, writer = pipe
    log.tail = b"y\n" * (TAIL_BYTES // 2)
    os.write(writer, log.tail * 10 + b"z\n")
    log.take_rest()
    assert log.tail.endswith(b"y\nz\n")
    os.close(writer)


def test_an_endless_log_is_not_read_without_end(pipe):
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
    while left and not log.is_too_long:  # for a moment nothing was there
        log.take_rest()
    over.set()
    thread.join()
    os.close(writer)
    assert left
