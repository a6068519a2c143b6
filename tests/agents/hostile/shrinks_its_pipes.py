"""Makes its pipes small and does not block on them."""
# ends: normal crashed

import fcntl
import os


def choose(view, legal, rng):
    for descriptor in (3, 4):
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 4096)
        os.set_blocking(descriptor, False)
    return legal[0]
