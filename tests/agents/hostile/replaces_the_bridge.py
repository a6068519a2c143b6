"""Has every write of its process say something else."""
# ends: unreadable normal

import os

write = os.write


def shout(descriptor, content):
    return write(descriptor, bytes(content)[:1] * 3000)


def choose(view, legal, rng):
    os.write = shout
    return legal[0]
