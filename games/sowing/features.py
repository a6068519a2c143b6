"""Numbers about a sowing position that evaluations weigh, each counted for the side to move.

A feature is a function of the rules and a position; the search weighs the difference between
both sides. The cell functions imported here are those of the packed family; kernels of other
families bind theirs instead.
"""

import numpy as np

from games.kernels.bits import ONE, ZERO
from games.kernels.context import RULES, Context
from games.kernels.family import State, count, moves, plies, turned
from games.sowing.packed import (
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
    """Holes of the mover whose last bean would fall into its pot, laps ignored."""
    return np.int64(count(reaching(rules, position)))


def capture(rules: Context, position: State) -> np.int64:
    """The most beans that the mover's next sowing could capture, laps ignored."""
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
    """Legal sowings of the mover."""
    return np.int64(count(plies(moves(rules, position))))


def far(rules: Context, position: State) -> np.int64:
    """Beans in the mover's hole farthest from its pot, which are hard to capture."""
    return np.int64(held(position, first_slot(rules)))


def given_away(rules: Context, position: State) -> np.int64:
    """Beans that the mover's holes would drop in the other row, each hole sown alone."""
    row = np.int64(end_slot(rules)) - np.int64(first_slot(rules))
    period, total = rules[RULES + PERIOD], np.int64(0)
    for place in range(row):  # `place` + 1 beans end in the pot
        beans = np.int64(held(position, end_slot(rules) - ONE - np.uint64(place)))
        beyond = beans % period - (place + 1)
        total += beans // period * row + max(np.int64(0), min(beyond, row))
    return np.int64(total)


TERM = "difference"


def progress(rules: Context, position: State, phases: int) -> int:
    """Return the phase of the game, from 0 to `phases` - 1, by the share of beans in pots."""
    them = turned(position)
    banked = pot_beans(position) + pot_beans(them)
    total = banked + row_beans(position) + row_beans(them)
    return int(np.int64(banked) * phases // (np.int64(total) + 1))
