"""Ends whoever asks it."""
# ends: raised

import os

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    os.kill(OWNER, 9)
    return legal[0]
