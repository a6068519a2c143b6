"""Has its own process write a slot far outside the board."""
# ends: illegal normal

import struct

from agents.wall import bridge


class Slots:
    size = bridge.MOVE.size

    def pack(self, kind, number, slot):
        return struct.pack("<BBh", kind, number, -32768 if slot else 32767)


def choose(view, legal, rng):
    bridge.MOVE = Slots()
    return legal[0]
