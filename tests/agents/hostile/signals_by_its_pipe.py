"""Has its pipes send signals to whoever else may hold them."""
# ends: raised normal

import fcntl
import signal

OWNER = int("@owner@")


def choose(view, legal, rng):
    for descriptor in (3, 4):
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, OWNER)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | 0o20000)
    return legal[0]
