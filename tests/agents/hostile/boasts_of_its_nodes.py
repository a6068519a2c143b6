"""Says that it has searched more positions than a table can hold."""
# ends: unreadable normal

import struct

from agents.sandbox import bot_server


class Boast:
    size = bot_server.MOVE.size

    def pack(self, _, number, slot):
        return struct.pack("<BBhqd", bot_server.SEARCHED, number, slot, (1 << 63) - 1, float("inf"))


def choose(view, legal, rng):
    bot_server.MOVE = Boast()
    return legal[0]
