"""Makes whoever asks it wait."""
# ends: raised

import os

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    os.setpriority(os.PRIO_PROCESS, OWNER, 19)
    return legal[0]
