"""Changes the mode of a file that is not its own."""
# ends: raised

import os

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    os.chmod(CANARY, 0o777)
    os.utime(CANARY, (0, 0))
    return legal[0]
