"""Nim: take any number from one heap; whoever takes the last one wins."""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, U
from games.kernels.streams import mixed


class State(NamedTuple):
    heaps: np.uint64


def nim(a=3, b=4, c=5):
    if max(a, b, c) > 15:
        raise ValueError("a heap has at most 15 beans")
    return a, b, c


def start(rules):
    return State(rules[0] | rules[1] << 4 | rules[2] << 8)


def slots(rules):
    return range(48)


def held(s, heap):
    return (s.heaps >> U(4 * heap)) & U(15)


def moves(rules, s):
    found = ZERO
    for heap in range(3):
        found |= ((ONE << held(s, heap)) - ONE) << U(16 * heap)
    return found


def play(rules, s, slot):
    heap, beans = slot // U(16), slot % U(16) + ONE
    return State(s.heaps - (beans << (U(4) * heap))), False


def turned(s):
    return s


def key(s):
    return mixed(s.heaps) | ONE


def move_text(rules, move):
    return "abc"[move // 16] + str(move % 16 + 1)


def parity(rules, s):
    """One if the nim sum is not zero."""
    total = held(s, 0) ^ held(s, 1) ^ held(s, 2)
    return 0 if total == ZERO else 1


FEATURES = ("parity",)
DEFAULTS = {"weights": {"parity": 1.0}, "endgame": 3}


def gain(rules, s, child, same):
    """Beans taken."""
    return np.int64(remaining(rules, s)) - np.int64(remaining(rules, child))


def remaining(rules, s):
    """Beans that are left."""
    return held(s, 0) + held(s, 1) + held(s, 2)
