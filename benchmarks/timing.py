"""Seconds of jobs that take turns, so that a change of the machine's load hits them all."""

import time
from collections.abc import Callable

Job = Callable[[], float]  # does its work once and returns the seconds it took


def timed_job(work: Callable[[], object], repeats: int = 1) -> Job:
    """`work` as a job: the best seconds of `repeats` calls."""

    def job() -> float:
        return min(_seconds(work) for _ in range(repeats))

    return job


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def best_of(rounds: int, *jobs: Job) -> list[float]:
    """The best seconds of each job, over rounds in which every job has its turn."""
    taken = [[job() for job in jobs] for _ in range(rounds)]
    return [min(column) for column in zip(*taken, strict=True)]
