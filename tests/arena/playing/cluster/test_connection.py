"""The connection to a cluster: its clock, and a busy cluster at the end."""

import time

from arena.playing.cluster.connection import LONGEST_SECONDS, Cluster, ListeningClock


class Busy:
    """A client or a cluster that does not answer while it is closed."""

    was_closed = False

    def close(self, timeout):
        self.was_closed = True
        raise TimeoutError(f"timed out after {timeout} s.")


def test_cluster_that_does_not_close_in_time_is_left():
    cluster = Cluster.__new__(Cluster)
    cluster.client, cluster.local_cluster = Busy(), Busy()
    with cluster:
        pass
    assert cluster.client.was_closed
    assert cluster.local_cluster.was_closed


def test_clock_counts_only_the_time_of_listening(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    clock = ListeningClock()
    for listening, busy in ((0.25, 50.0), (0.5, 0.0), (900.0, 0.0)):
        with clock:
            now[0] += listening
        now[0] += busy
    assert clock.seconds == 0.25 + 0.5 + LONGEST_SECONDS
