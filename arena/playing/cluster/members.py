"""The known workers of a cluster: who is there, who may play, how fast each is."""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.playing.cluster.attention import Attention
from arena.playing.cluster.calibration import Calibration
from games.terminal import printable, say

log = logging.getLogger(__name__)

# A worker that the scheduler has not heard from for this long may have stopped.
SILENT_SECONDS = 10.0
# Machines are called alike if their processor seconds differ by less: what the clock itself and
# a busy neighbour make of the same games.
ALIKE = 1.25
MOST_STRIKES = 3
MOST_REASON = 300  # characters


@dataclass(eq=False)
class FarWorker:
    """A Dask worker."""

    address: str
    name: str
    host: str
    slots: int
    attention: Attention
    running: bool = True
    prepared: set[str] = field(default_factory=set)  # digests of parcels
    calibration: Calibration | None = None
    isolation: str = ""  # the walls that its bots play behind
    refusal: str = ""
    strikes: int = 0
    last_seen: float = 0.0  # by the scheduler's clock
    heard: float = 0.0  # when the scheduler last heard it, in seconds of attention

    @property
    def silent(self) -> bool:
        """Whether it may have stopped."""
        return self.attention.seconds - self.heard > SILENT_SECONDS


class Members:
    """All workers ever seen, and those that are there now."""

    def __init__(self) -> None:
        """No worker is known yet."""
        self.there: dict[str, FarWorker] = {}  # by address
        self.ever: list[FarWorker] = []
        self.changes = 0
        self.attention = Attention()

    def update(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        """Update from what the scheduler reports."""
        for address in [each for each in self.there if each not in workers]:
            log.info("worker %s at %s is gone", self.there.pop(address).name, address)
            self.changes += 1
        for address, said in workers.items():
            if address not in self.there:
                name, host = str(said["name"]), str(said["host"])
                slots = int(said["nthreads"])
                self.there[address] = FarWorker(address, name, host, slots, self.attention)
                self.ever.append(self.there[address])
                log.info("worker %s at %s is there, with %s slots", name, address, said["nthreads"])
                self.changes += 1
            worker = self.there[address]
            worker.running = said["status"] == "running"
            if said["last_seen"] != worker.last_seen:
                worker.last_seen, worker.heard = said["last_seen"], self.attention.seconds

    def ready(self, digest: str) -> list[FarWorker]:
        """Those that can be given work of this parcel now."""
        return [
            each
            for each in self.there.values()
            if digest in each.prepared and each.running and not each.refusal and not each.silent
        ]

    def refuse(self, worker: FarWorker, why: str) -> None:
        """Leave a worker out from now on, and print that."""
        worker.refusal = printable(why, MOST_REASON)
        say(f"{worker.address} is left out: {worker.refusal}")
        log.warning("worker %s at %s is left out: %s", worker.name, worker.address, why)

    def strike(self, worker: FarWorker, why: str) -> None:
        """Count a failure of a worker; after too many it is left out."""
        worker.strikes += 1
        log.warning("worker %s at %s failed: %s", worker.name, worker.address, why)
        if worker.strikes >= MOST_STRIKES and not worker.refusal:
            self.refuse(worker, why)

    def calibrated(self, worker: FarWorker, calibration: Calibration) -> None:
        """Note a worker's speed; one that plays other games than most is left out."""
        worker.calibration = calibration
        log.info("worker %s at %s can play", worker.name, worker.address)
        played = Counter(each.calibration.games for each in self.ever if each.calibration)
        usual = played.most_common(1)[0][0]
        for each in self.there.values():
            if each.calibration and each.calibration.games != usual and not each.refusal:
                self.refuse(each, "it plays other games than the others from the same seeds")

    def factors(self) -> dict[str, float]:
        """How fast each machine is, by host: the fastest has 1.

        A machine is as fast as the fastest of its workers: the others were disturbed.
        """
        seconds: dict[str, float] = {}
        for each in self.ever:
            if each.calibration:
                latest = each.calibration.seconds
                seconds[each.host] = min(latest, seconds.get(each.host, latest))
        return {host: min(seconds.values()) / each for host, each in seconds.items()}

    def to_json(self) -> list[dict[str, object]]:
        """Every worker that has played, with its machine and that machine's speed."""
        factors = self.factors()
        return [
            {"worker": each.name, "host": each.host, "slots": each.slots,
             "speed": round(factors[each.host], 3)}
            | ({"isolation": each.isolation} if each.isolation else {})
            for each in self.ever
            if each.calibration
        ]  # fmt: skip

    def unlike(self) -> tuple[FarWorker, FarWorker] | None:
        """A slow and a fast worker that may play, if their machines differ in speed."""
        factors = self.factors()
        known = [each for each in self.there.values() if each.calibration and not each.refusal]
        known.sort(key=lambda each: factors[each.host])
        if not known or factors[known[-1].host] <= ALIKE * factors[known[0].host]:
            return None
        return known[0], known[-1]
