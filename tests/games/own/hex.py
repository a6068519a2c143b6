"""Hex on up to 121 cells, two words a side: each side sees its own borders left and right."""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, U
from games.kernels.quad import Quad
from games.kernels.streams import mixed


class State(NamedTuple):
    low: np.uint64  # the mover's stones
    high: np.uint64
    their_low: np.uint64
    their_high: np.uint64
    size: np.uint64  # of the board: `turned` knows no rules


SIZE = 0


def start(rules):
    return State(0, 0, 0, 0, rules[SIZE])


def slots(rules):
    return range(rules[SIZE] ** 2)


def bit(low, high, cell):
    """Whether there is a stone in the cell."""
    return (low >> U(cell) if cell < 64 else high >> U(cell - 64)) & ONE


def linked(low, high, size):
    """Whether a chain of stones leads from the left to the right."""
    seen_low, seen_high = ZERO, ZERO
    grown = True
    while grown:
        grown = False
        for cell in range(size * size):
            if bit(low, high, cell) == ZERO or bit(seen_low, seen_high, cell) != ZERO:
                continue
            x, y = cell % size, cell // size
            reached = x == 0
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)):
                if 0 <= x + dx < size and 0 <= y + dy < size:
                    at = (y + dy) * size + x + dx
                    reached = reached or bit(seen_low, seen_high, at) != ZERO
            if reached:
                grown = True
                if x == size - 1:
                    return True
                if cell < 64:
                    seen_low |= ONE << U(cell)
                else:
                    seen_high |= ONE << U(cell - 64)
    return False


def moves(rules, s):
    cells = rules[SIZE] * rules[SIZE]
    if linked(s.their_low, s.their_high, rules[SIZE]):
        return Quad(ZERO, ZERO, ZERO, ZERO)
    low, high = ZERO, ZERO
    for cell in range(cells):
        if bit(s.low | s.their_low, s.high | s.their_high, cell) == ZERO:
            if cell < 64:
                low |= ONE << U(cell)
            else:
                high |= ONE << U(cell - 64)
    return Quad(low, high, ZERO, ZERO)


def across(low, high, size):
    """The board with rows and columns changed."""
    made_low, made_high = ZERO, ZERO
    for cell in range(size * size):
        if bit(low, high, cell) != ZERO:
            to = cell % size * size + cell // size
            if to < 64:
                made_low |= ONE << U(to)
            else:
                made_high |= ONE << U(to - 64)
    return made_low, made_high


def play(rules, s, slot):
    low, high = s.low, s.high
    if slot < U(64):
        low |= ONE << slot
    else:
        high |= ONE << (slot - U(64))
    return turned(State(low, high, s.their_low, s.their_high, s.size)), False


def turned(s):
    low, high = across(s.low, s.high, np.int64(s.size))
    their_low, their_high = across(s.their_low, s.their_high, np.int64(s.size))
    return State(their_low, their_high, low, high, s.size)


def key(s):
    word = mixed(s.low + mixed(s.high + mixed(s.their_low + mixed(s.their_high))))
    return word | ONE
