"""Has its own process write a slot far outside the board."""
# ends: illegal normal

import struct

from agents.sandbox import bot_server


class Slots:
    size = bot_server.MOVE.size

    def pack(self, kind, number, slot):
        return struct.pack("<BBh", kind, number, -32768 if slot else 32767)


def choose(view, legal, rng):
    bot_server.MOVE = Slots()
    return legal[0]
