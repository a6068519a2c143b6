"""m,n,k: rows of k on a board of m by n, tic-tac-toe as it is; written with plain numbers."""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, U
from games.kernels.hashing import pair_key


class State(NamedTuple):
    own: np.uint64
    other: np.uint64


def start(rules):
    return State(0, 0)


def mnk(m=3, n=3, k=3):
    return m, n, k


def slots(rules):
    return range(rules[0] * rules[1])


def line(discs, rules):
    m, n, k = rules[0], rules[1], rules[2]
    for row in range(n):
        for col in range(m):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1)):
                x, y, run = col, row, 0
                while 0 <= x < m and y < n and run < k and discs >> U(y * m + x) & ONE != 0:
                    x, y, run = x + dx, y + dy, run + 1
                if run == k:
                    return True
    return False


def moves(rules, s):
    if line(s.other, rules):
        return 0
    return ((1 << (rules[0] * rules[1])) - 1) & ~(s.own | s.other)


def play(rules, s, slot):
    return State(s.other, s.own | 1 << slot), False


def turned(s):
    return State(s.other, s.own)


def key(s):
    return pair_key(s.own, s.other)


def final(rules, s):
    return -1 if line(s.other, rules) else 0
