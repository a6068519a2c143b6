"""Makes time stand still, for itself only."""
# ends: normal

import time

time.monotonic = time.perf_counter = time.time = lambda: 0.0
time.monotonic_ns = time.perf_counter_ns = lambda: 0


def choose(view, legal, rng):
    return legal[0]
