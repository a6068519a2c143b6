"""Dies in some games."""
# ends: normal crashed

import os


def choose(view, legal, rng):
    if rng.random() < 0.02:
        os._exit(1)
    return legal[0]
