"""Prints escape codes to both outputs."""
# ends: normal

import sys


def choose(view, legal, rng):
    for stream in (sys.stdout, sys.stderr):
        print("\x1b[2J\x1b]0;mine\x07", file=stream, flush=True)
    return legal[0]
