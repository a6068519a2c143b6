"""Breakthrough: pawns step forward, take slantwise; who reaches the last row wins. 192 moves."""

from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, ZERO, U
from games.kernels.hashing import pair_key
from games.kernels.quad import Quad


class State(NamedTuple):
    own: np.uint64  # 8 bits a row, the mover's home first: seen by the mover, who goes up
    other: np.uint64  # in the same squares


def breakthrough(size=8):
    if not 3 <= size <= 8:
        raise ValueError(f"size must be 3 to 8, got {size}")
    return (size,)


def start(rules):
    size = rules[0]
    row = (1 << size) - 1
    home = row | row << 8 if size > 4 else row
    return State(home, turned_word(U(home), U(8 * (8 - size) + 8 - size)))


def turned_word(word, by):
    """The squares from the other end of the board; `by` bits of 64 are beside the board."""
    made = ZERO
    for square in range(64):
        if word >> U(square) & ONE != ZERO:
            made |= ONE << U(63 - square)
    return made >> by


def slots(rules):
    """Three ways from every square: to the left, ahead, to the right."""
    squares = [8 * row + column for row in range(rules[0]) for column in range(rules[0])]
    return [3 * square + way for square in squares for way in range(3)]


def moves(rules, s):
    size = rules[0]
    low, high, top = ZERO, ZERO, ZERO
    if s.other & ((ONE << U(size)) - ONE) != ZERO:  # the last move has reached my home
        return Quad(ZERO, ZERO, ZERO, ZERO)
    for square in range(8 * (size - 1)):
        if s.own >> U(square) & ONE == ZERO:
            continue
        for way in range(3):
            column = square % 8 + way - 1
            if column < 0 or column >= size:
                continue
            to = ONE << U(square + 7 + way)
            if s.own & to == ZERO and (way != 1 or s.other & to == ZERO):
                slot = 3 * square + way
                if slot < 64:
                    low |= ONE << U(slot)
                elif slot < 128:
                    high |= ONE << U(slot - 64)
                else:
                    top |= ONE << U(slot - 128)
    return Quad(low, high, top, ZERO)


def play(rules, s, slot):
    square = slot // U(3)
    to = ONE << (square + U(7) + slot % U(3))
    own, other = s.own & ~(ONE << square) | to, s.other & ~to
    by = U(9 * (8 - rules[0]))
    return State(turned_word(other, by), turned_word(own, by)), False


def turned(s):
    return State(s.other, s.own)


def key(s):
    return pair_key(s.own, s.other)


def move_text(rules, move):
    square, way = divmod(move, 3)
    row, column = divmod(square, rules[0])
    return f"{'abcdefgh'[column]}{row + 1}{'lmr'[way]}"


def draw(rules, position):
    size = rules[0]
    bits = [8 * row + column for row in reversed(range(size)) for column in range(size)]
    cells = ["X" if position.state.own >> U(b) & ONE else
             "O" if position.state.other >> U(b) & ONE else "." for b in bits]  # fmt: skip
    return "\n".join("".join(cells[at : at + size]) for at in range(0, len(cells), size))
