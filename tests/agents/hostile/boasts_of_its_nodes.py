"""Says that it has searched more positions than a table can hold."""
# ends: unreadable normal

import struct

from agents.wall import bridge


class Boast:
    size = bridge.MOVE.size

    def pack(self, _, number, slot):
        return struct.pack("<BBhqd", bridge.SEARCHED, number, slot, (1 << 63) - 1, float("inf"))


def choose(view, legal, rng):
    bridge.MOVE = Boast()
    return legal[0]
