"""Silence counts only while somebody listens to the cluster."""

import time

from arena.playing.cluster.connection import LONGEST_SECONDS, ListeningClock


def test_only_what_was_listened_counts_and_no_stop_of_ours(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    attention = ListeningClock()
    for listened, busy in ((0.25, 50.0), (0.5, 0.0), (900.0, 0.0)):
        with attention:
            now[0] += listened
        now[0] += busy
    assert attention.seconds == 0.25 + 0.5 + LONGEST_SECONDS
