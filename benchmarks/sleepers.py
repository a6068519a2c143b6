"""Workers that sleep in place of playing, for what a cluster itself costs."""

import pickle
import time
from typing import Any, NamedTuple

from arena.playing.cluster.package import WorkPackage
from arena.playing.executor import Job

PARCEL = WorkPackage("benchmarks.sleepers:sleepers", pickle.dumps(((), ())), {}, False, {})


class Nap(NamedTuple):
    """An item: so many seconds of sleep, so many bytes of result."""

    seconds: float
    bytes: int


def sleep(nap: Nap) -> bytes:
    """Do as the item says."""
    time.sleep(nap.seconds)
    return bytes(nap.bytes)


def sleepers(_site: Any, _plans: tuple[Any, ...]) -> Job[Nap, bytes]:
    """The job that the package names; its items cost no processor time."""
    return Job(sleep)
