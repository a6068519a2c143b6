"""A small sowing game with extra turns and forced passes."""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, U


class State(NamedTuple):
    own: np.uint64  # three holes and the pot, a byte each
    other: np.uint64


HOLES = 3
ROW = U(0xFFFFFF)


def laps(beans=2):
    return (beans,)


def start(rules):
    row = sum(rules[0] << 8 * hole for hole in range(HOLES))
    return State(row, row)


def slots(rules):
    return range(HOLES)


def moves(rules, s):
    found = ZERO
    for hole in range(HOLES):
        if (s.own >> U(8 * hole)) & U(255) != ZERO:
            found |= ONE << U(hole)
    return found


def over(rules, s):
    return s.other & ROW == ZERO


def play(rules, s, slot):
    own, other = s.own, s.other
    beans = (own >> (U(8) * slot)) & U(255)
    own -= beans << (U(8) * slot)
    at = slot
    while beans > ZERO:
        at = (at + ONE) % U(7)
        if at <= U(3):
            own += ONE << (U(8) * at)
        else:
            other += ONE << (U(8) * (at - U(4)))
        beans -= ONE
    if at == U(3):
        return State(own, other), True
    return State(other, own), False


def turned(s):
    return State(s.other, s.own)


def key(s):
    return (s.own * U(0x9E3779B97F4A7C15)) ^ (s.other * U(0xD6E8FEB86659FD93)) | ONE


def final(rules, s):
    return np.int64(s.own >> U(24)) - np.int64(s.other >> U(24))
