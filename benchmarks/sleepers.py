"""Workers that sleep instead of playing, to measure the overhead of a cluster."""

import pickle
import time
from typing import Any, NamedTuple

from arena.playing.cluster.package import WorkPackage
from arena.playing.executor import Job

PACKAGE = WorkPackage("benchmarks.sleepers:sleepers", pickle.dumps(((), ())), {}, False, {})


class Nap(NamedTuple):
    """An item: the seconds of sleep and the bytes of the result."""

    seconds: float
    bytes: int


def sleep(nap: Nap) -> bytes:
    """Sleep and return the bytes of the item."""
    time.sleep(nap.seconds)
    return bytes(nap.bytes)


def sleepers(_site: Any, _plans: tuple[Any, ...]) -> Job[Nap, bytes]:
    """Return the job that the package names; its items use no processor time."""
    return Job(sleep)
