"""Reports a failure of a kind that there is not, with bytes that are no text."""
# ends: unreadable normal

import os

from agents.wall import bridge


class Failure:
    def pack(self, _, number, slot):
        return bytes([bridge.FAILED, number, 200]) + b"\xff\x1b[2J\x00" * 500


def choose(view, legal, rng):
    bridge.MOVE = Failure()
    return legal[0]
