"""Plays by how often it was asked in its life."""
# ends: normal

count = [0]


def choose(view, legal, rng):
    count[0] += 1
    return legal[count[0] % len(legal)]
