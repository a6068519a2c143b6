"""Wants more memory than it may have."""
# ends: raised

import resource


def choose(view, legal, rng):
    resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
    return legal[0]
