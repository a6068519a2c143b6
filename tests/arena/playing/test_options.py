"""Signals while games are played, and workers that are pinned to cores."""

import os
import signal

import pytest

from arena.playing.options import Interrupts
from arena.playing.process_pool import PINNED, pin_to_core, pinning_text


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_is_raised_and_the_second_is_ignored(how):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    interrupts = Interrupts()
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.handle_signals():
            os.kill(os.getpid(), how)
        os.kill(os.getpid(), how)
        assert interrupts.arrived
    finally:
        signal.signal(signal.SIGINT, handlers[0])
        signal.signal(signal.SIGTERM, handlers[1])


def test_deferred_signal_waits_for_the_next_check():
    interrupts = Interrupts()
    interrupts.check()
    with interrupts.defer():
        interrupts.handle(signal.SIGINT, None)
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert not interrupts.is_deferred


def test_handlers_are_restored():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interrupts().handle_signals():
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Interrupts().handle_signals():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system cannot pin processes")
def test_workers_are_pinned_if_there_is_a_core_for_each():
    enough = len(os.sched_getaffinity(0))
    assert pinning_text(enough, keeps=True) == PINNED
    assert pinning_text(enough + 1, keeps=True) == (
        f"bots move between cores: there are fewer cores than workers ({enough + 1})"
    )
    assert pinning_text(1, keeps=False) == "bots move between cores"


def test_other_processes_are_not_pinned():
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    assert pin_to_core(1) == ()
    assert before is None or os.sched_getaffinity(0) == before
