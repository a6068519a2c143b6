"""Makes a directory that is hard to remove."""
# ends: raised flooded normal

import os


def choose(view, legal, rng):
    for _ in range(200):
        os.mkdir("in")
        os.chdir("in")
    os.chmod(".", 0)
    return legal[0]
