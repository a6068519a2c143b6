"""Cores that workers keep to with their bots, so that no clock runs for who waits for a core."""

import multiprocessing
import os

PINNED = "each worker keeps to a core of its own with its bots; --no-pinning lets them move"


def pinning_words(workers: int, keeps: bool) -> str:
    """What becomes of the cores, in one line; `keeps`: they could be kept to."""
    if keeps and cores_for(workers):
        return PINNED
    why = f": there are fewer cores than workers ({workers})" if keeps else ""
    return f"bots move between cores{why}"


def cores_for(workers: int) -> bool:
    """Whether each of so many workers can keep to a core of its own."""
    return hasattr(os, "sched_setaffinity") and workers <= len(os.sched_getaffinity(0))


def own_core(workers: int) -> tuple[int, ...]:
    """Keep this process to a core, for it waits while its bots think; they get the same one.

    Where there are fewer cores than workers, and in a process that is no worker, nothing is kept.
    """
    number = multiprocessing.current_process()._identity  # counts the children of one parent
    if not number or not workers or not cores_for(workers):
        return ()
    cores = sorted(os.sched_getaffinity(0))
    core = cores[(os.getppid() + number[-1]) % len(cores)]
    os.sched_setaffinity(0, (core,))
    return (core,)
