"""Gives its core away all the time, and so seems to wait for one."""
# ends: timeout

import os


def choose(view, legal, rng):
    while True:
        os.sched_yield()
