"""Gives whoever asks it a second to live."""
# ends: raised

import resource

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    resource.prlimit(OWNER, resource.RLIMIT_CPU, (1, 1))
    return legal[0]
