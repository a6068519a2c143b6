"""Reads a file that is not its own."""
# ends: raised

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    open(CANARY).read()
    return legal[0]
