"""The connection to a cluster: what is left busy is no reason to call a run unfinished."""

from arena.playing.cluster.connection import Cluster


class Busy:
    """A client or a cluster that does not answer while it is closed."""

    asked = False

    def close(self, timeout):
        self.asked = True
        raise TimeoutError(f"timed out after {timeout} s.")


def test_a_cluster_that_is_slow_to_close_spoils_nothing():
    cluster = Cluster.__new__(Cluster)
    cluster.client, cluster.own = Busy(), Busy()
    with cluster:
        pass
    assert cluster.client.asked
    assert cluster.own.asked
