"""Makes time stand still and sleeps."""
# ends: timeout

import time

time.monotonic = time.perf_counter = lambda: 0.0
time.monotonic_ns = lambda: 0


def choose(view, legal, rng):
    time.sleep(60)
    return legal[0]
