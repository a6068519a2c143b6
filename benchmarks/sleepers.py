"""Workers that sleep in place of playing, for what a cluster itself costs."""

import pickle
import time
from typing import Any, NamedTuple

from arena.playing import executor, in_process
from arena.playing.cluster.package import WorkPackage

PARCEL = WorkPackage("benchmarks.sleepers:sleepers", pickle.dumps(((), ())), {}, False, {})


class Nap(NamedTuple):
    """An item: so many seconds of sleep, so many bytes of result."""

    seconds: float
    bytes: int


def sleep(nap: Nap) -> bytes:
    """Do as the item says."""
    time.sleep(nap.seconds)
    return bytes(nap.bytes)


class Sleepers:
    """The crew of the far side, whose items cost no processor time."""

    name = isolation = ""

    def get_ready(self) -> None:
        """Nothing is built."""

    def begin(self, _workers: int | None = None) -> executor.Executor[Nap, bytes]:
        """A backend that sleeps in the player itself."""
        return in_process.InProcessExecutor(sleep)

    def look(self) -> None:
        """Nothing can hang."""

    def split(self, item: Nap) -> list[Nap]:
        """Nothing smaller is slept."""
        return [item]

    def excused(self, _item: Nap) -> bool:
        """No failure is expected."""
        return False

    def mend(self) -> None:
        """Nothing breaks."""

    def whole(self, _item: Nap, parts: list[bytes]) -> bytes:
        """An item has one part."""
        return parts[-1]


def sleepers(_plans: tuple[Any, ...]) -> Sleepers:
    """The crew; what the parcel names."""
    return Sleepers()
