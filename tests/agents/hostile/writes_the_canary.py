"""Writes into a file that is not its own."""
# ends: raised

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    open(CANARY, "r+").write("mine")
    return legal[0]
