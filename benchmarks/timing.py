"""Time jobs in alternation, so that changes of the machine's load affect all of them."""

import time
from collections.abc import Callable

Job = Callable[[], float]  # does its work and returns the seconds


def timed_job(work: Callable[[], object], repeats: int = 1) -> Job:
    """Return a job that reports the best seconds of `repeats` calls of `work`."""

    def job() -> float:
        return min(_seconds(work) for _ in range(repeats))

    return job


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def best_of(rounds: int, *jobs: Job) -> list[float]:
    """Return the best seconds of each job over rounds that run every job once."""
    taken = [[job() for job in jobs] for _ in range(rounds)]
    return [min(column) for column in zip(*taken, strict=True)]
