"""Has a signal raise an error wherever its process is."""
# ends: normal crashed raised unreadable timeout

import signal


def ring(*_):
    raise ValueError("now")


def choose(view, legal, rng):
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    return legal[0]
