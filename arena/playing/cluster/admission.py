"""Admitting workers: each is sent the parcel, then answers whether it matches us."""

import pickle
from concurrent.futures import Future
from functools import partial
from typing import Any

from arena.playing.cluster.connection import (
    REQUIRED_PACKAGES,
    Cluster,
    ClusterLost,
    ClusterUnavailable,
    ClusterWorker,
    version_difference,
)
from arena.playing.cluster.package import WorkPackage
from arena.playing.cluster.remote_worker import AdmissionReply, prepare_worker
from arena.storage import provenance

WAIT_SECONDS = 60.0  # for workers that can play


class WorkerAdmission:
    """Prepares the workers of a cluster for one parcel, including those that join later."""

    def __init__(self, cluster: Cluster, sent: WorkPackage) -> None:
        """Start without workers."""
        self.cluster, self.members, self.digest = cluster, cluster.members, sent.digest
        self.alike = sent.alike
        self.sent, self.sources = pickle.dumps(sent), provenance.code_digest()
        self.asked: set[ClusterWorker] = set()
        self.able: set[ClusterWorker] = set()  # they wait until all are known to be alike
        self.hopeful = self.members.attention.seconds  # when somebody could last be hoped for

    def admit_new_workers(self) -> None:
        """Check new workers; raise errors that no other worker would avoid."""
        for worker in self.members.there.values():
            if worker not in self.asked | self.able and self._unknown(worker):
                self.asked.add(worker)
                # A worker that cannot import a function dies of it: so its versions are read first.
                self.cluster.versions(
                    worker.address, REQUIRED_PACKAGES, partial(self._known, worker)
                )
        self.asked &= set(self.members.there.values())
        self.able &= set(self.members.there.values())
        if self.asked or self.members.ready(self.digest):
            self.hopeful = self.members.attention.seconds
        else:
            self._check_any_usable()

    def _unknown(self, worker: ClusterWorker) -> bool:
        return not worker.refusal and self.digest not in worker.prepared

    def _known(self, worker: ClusterWorker, done: "Future[Any]") -> None:
        """Send the package to a worker whose versions match ours."""
        if self.cluster.cancelled(done) or done.exception() is not None:
            self.asked.discard(worker)  # it is checked again if it is still there
            return
        (said,) = done.result().values()
        if why := version_difference(said):
            self.asked.discard(worker)
            self.members.refuse(worker, why)
            return
        then = partial(self._answered, worker)
        self.cluster.call(worker.address, then, prepare_worker, self.sources, self.sent)

    def _answered(self, worker: ClusterWorker, done: "Future[Any]") -> None:
        """Admit a worker, or report why it cannot play."""
        self.asked.discard(worker)
        if self.cluster.cancelled(done):
            return
        if (error := done.exception()) is not None:
            self.members.count_failure(worker, f"it cannot begin ({error})")
            return
        answer: AdmissionReply = pickle.loads(done.result())
        if answer.calibration is None:
            self.members.refuse(worker, answer.refusal)
            return
        self.members.calibrated(worker, answer.calibration)
        worker.isolation = answer.isolation or worker.isolation
        self.able.add(worker)
        if not self.alike:
            self._admit()
        elif not self.asked:
            self._admit_alike(worker)

    def _admit(self) -> None:
        for worker in self.able:
            worker.prepared.add(self.digest)
        self.able.clear()

    def _admit_alike(self, latest: ClusterWorker) -> None:
        """Admit workers to games by the clock if they are equally fast."""
        if pair := self.members.unequal_pair():
            slow, fast = pair
            factors = self.members.factors()
            ratio = factors[fast.host] / factors[slow.host]
            why = (
                f"{fast.address} is {ratio:.2g} times as fast as {slow.address}, and agents play "
                "by the clock; nodes in place of seconds, or machines of the same speed, help"
            )
            if not self.members.ready(self.digest):
                raise ClusterUnavailable(why)
            self.able.discard(latest)
            self.members.refuse(latest, why)
        self._admit()

    def _check_any_usable(self) -> None:
        """Raise if no worker can play and none joins in time."""
        refused = [each for each in self.members.there.values() if each.refusal]
        if refused and len(refused) == len(self.members.there):
            one = refused[0]
            raise ClusterUnavailable(f"no worker at {self.cluster.address} can play: {one.refusal}")
        if self.members.attention.seconds - self.hopeful > WAIT_SECONDS:
            what = f"has had no workers for {WAIT_SECONDS:g} s"
            raise ClusterLost(self.cluster.address, what)
