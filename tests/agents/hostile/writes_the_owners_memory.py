"""Opens the memory of whoever asks it."""
# ends: raised

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    open(f"/proc/{OWNER}/mem", "r+b")
    return legal[0]
