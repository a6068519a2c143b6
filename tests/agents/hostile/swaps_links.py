"""Puts links in the place of directories while they are counted."""
# ends: normal raised

import os

CANARY, PORT, OWNER = "@canary@", int("@port@"), int("@owner@")


def choose(view, legal, rng):
    for at in range(300):
        os.mkdir(f"folder-{at}", 0)
        os.symlink(CANARY, f"link-{at}")
        for _ in range(5):
            os.rename(f"folder-{at}", "aside")
            os.rename(f"link-{at}", f"folder-{at}")
            os.rename(f"folder-{at}", f"link-{at}")
            os.rename("aside", f"folder-{at}")
    return legal[0]
