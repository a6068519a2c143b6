"""Wants to be first on all cores."""
# ends: normal

import os


def choose(view, legal, rng):
    try:
        os.sched_setaffinity(0, range(os.cpu_count()))
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except OSError:
        pass
    return legal[0]
