"""Signals: the first one stops, between batches while games are played; others do nothing."""

import os
import signal

import pytest

from arena.playing.options import Interrupts


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_raised_and_the_second_does_no_harm(how):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    interrupts = Interrupts()
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.installed():
            os.kill(os.getpid(), how)
        os.kill(os.getpid(), how)
        assert interrupts.arrived
    finally:
        signal.signal(signal.SIGINT, handlers[0])
        signal.signal(signal.SIGTERM, handlers[1])


def test_a_signal_waits_for_the_next_look():
    interrupts = Interrupts()
    interrupts.look()
    with interrupts.wait_for_look():
        interrupts.arrive(signal.SIGINT, None)
        with pytest.raises(KeyboardInterrupt):
            interrupts.look()
    assert not interrupts.patient


def test_handlers_are_given_back():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interrupts().installed():
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Interrupts().installed():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
