"""Changes directory, mask, environment and limits."""
# ends: normal

import os
import resource


def choose(view, legal, rng):
    os.chdir("/")
    os.umask(0)
    os.environ.clear()
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    return legal[0]
