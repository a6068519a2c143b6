"""Faults that forked workers report before their games are finished."""

import os

from arena.playing.referee_loop import EarlyFault, EarlyFaults


def test_the_first_fault_of_each_agent_arrives_from_a_fork():
    early = EarlyFaults()
    assert list(early.receive()) == []
    child = os.fork()
    if child == 0:
        early.send(EarlyFault(1, 4, "raised é" * 500))
        early.send(EarlyFault(1, 5, "again"))
        early.send(EarlyFault(0, 6, "x"))
        os._exit(0)
    os.waitpid(child, 0)
    first, second = early.receive()
    assert (first.place, first.game, second) == (1, 4, EarlyFault(0, 6, "x"))
    assert first.text.startswith("raised é")
    assert list(early.receive()) == []


def test_a_full_pipe_stops_nobody():
    early = EarlyFaults()
    for place in range(10_000):
        early.send(EarlyFault(place, 0, "x" * 800))
    assert len(list(early.receive())) > 10
