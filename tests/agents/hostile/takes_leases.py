"""Takes leases on files: whoever opens them then waits for 45 seconds."""
# ends: raised

import fcntl
import json


def choose(view, legal, rng):
    for path in (__file__, json.__file__):
        with open(path) as file:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            return legal[0]
