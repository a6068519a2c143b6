"""Reports a failure of a kind that there is not, with bytes that are no text."""
# ends: unreadable normal

import os

from agents.sandbox import bot_server


class Failure:
    def pack(self, _, number, slot):
        return bytes([bot_server.FAILED, number, 200]) + b"\xff\x1b[2J\x00" * 500


def choose(view, legal, rng):
    bot_server.MOVE = Failure()
    return legal[0]
