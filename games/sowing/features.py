"""Named numbers about a sowing position, each counted for the side to move.

A feature is a function of the rules and a position; the search weighs the
difference between both sides. Names that are not defined here belong to the
family of the state (`packed_cells.py`, `wide_cells.py`) and are bound when kernels are made.
"""

import numpy as np

from games.kernels.bits import ONE, ZERO
from games.kernels.context import RULES, Context
from games.kernels.family import State, count, moves, plies, turned
from games.sowing.packed_cells import (
    end_slot,
    facing_held,
    first_slot,
    held,
    pot_beans,
    reaching,
    row_beans,
)
from games.sowing.rules import PERIOD


def pot(rules: Context, position: State) -> np.int64:
    """Beans in the mover's pot."""
    return np.int64(pot_beans(position))


def in_play(rules: Context, position: State) -> np.int64:
    """Beans in the mover's row."""
    return np.int64(row_beans(position))


def extra_turn(rules: Context, position: State) -> np.int64:
    """Holes of the mover whose last bean would fall in its own pot, laps aside."""
    return np.int64(count(reaching(rules, position)))


def capture(rules: Context, position: State) -> np.int64:
    """The most beans that the mover's next sowing could capture from the other row, laps aside."""
    end, best = end_slot(rules), ZERO
    slot = first_slot(rules)
    while slot < end:
        beans = held(position, slot)
        last = slot + beans
        if beans != ZERO and last < end and held(position, last) == ZERO:
            best = max(best, facing_held(rules, position, last))
        slot += ONE
    return np.int64(best)


def mobility(rules: Context, position: State) -> np.int64:
    """Sowings that the mover could choose from."""
    return np.int64(count(plies(moves(rules, position))))


def far(rules: Context, position: State) -> np.int64:
    """Beans in the mover's hole farthest from its pot, which the other side can hardly take."""
    return np.int64(held(position, first_slot(rules)))


def given_away(rules: Context, position: State) -> np.int64:
    """Beans that the mover's holes would drop in the other row, each sown by itself."""
    row = np.int64(end_slot(rules)) - np.int64(first_slot(rules))
    period, total = rules[RULES + PERIOD], np.int64(0)
    for place in range(row):  # how many beans end in the pot, less one
        beans = np.int64(held(position, end_slot(rules) - ONE - np.uint64(place)))
        beyond = beans % period - (place + 1)
        total += beans // period * row + max(np.int64(0), min(beyond, row))
    return np.int64(total)


TERM = "difference"


def progress(rules: Context, position: State, phases: int) -> int:
    """The phase of the game, from 0 to `phases` - 1, by the beans that are banked."""
    them = turned(position)
    banked = pot_beans(position) + pot_beans(them)
    total = banked + row_beans(position) + row_beans(them)
    return int(np.int64(banked) * phases // (np.int64(total) + 1))
