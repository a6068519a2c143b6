"""Functions that users call in evaluations and bots."""

import numpy as np

from games.kernels.bits import ONE, ZERO, Truth, U
from games.kernels.context import RULES, Context
from games.kernels.family import State
from games.parts import PrintedNumber
from games.sowing.packed import end_slot, facing_held, first_slot, held
from games.sowing.rules import CAPTURES, FIRST_NUMBER, PERIOD, SKIPS_POT

# Results of `last_lands_in` when the last bean does not fall into one of the mover's holes.
OWN_POT, OTHER_ROW, OTHER_POT, NOWHERE = -1, -2, -3, -4


def slot_at(rules: Context, n: int) -> np.uint64:
    """Return the slot of hole `n`."""
    place = np.int64(n) - rules[RULES + FIRST_NUMBER]
    if place < 0 or place >= np.int64(end_slot(rules)) - np.int64(first_slot(rules)):
        raise IndexError("the mover has no hole with this number")
    return first_slot(rules) + U(place)


def last_cell(rules: Context, position: State, slot: np.uint64) -> np.int64:
    """Return the ring cell of the last bean, counted from the mover's first hole; -1 for none."""
    beans = np.int64(held(position, slot))
    if beans == 0:
        return np.int64(-1)
    row = np.int64(end_slot(rules)) - np.int64(first_slot(rules))
    place = np.int64(slot) - np.int64(first_slot(rules))
    step = (beans - 1) % rules[RULES + PERIOD] + 1
    if rules[RULES + SKIPS_POT] != 0 and place + step > 2 * row:
        step += 1
    return np.int64((place + step) % (2 * row + 2))


def holes(rules: Context, position: State) -> np.int64:
    """Number of holes per side."""
    return np.int64(end_slot(rules)) - np.int64(first_slot(rules))


def hole(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Beans in the mover's hole `n`."""
    return np.int64(held(position, slot_at(rules, n)))


def empty(rules: Context, position: State, n: PrintedNumber) -> Truth:
    """Return whether the mover's hole `n` is empty."""
    return held(position, slot_at(rules, n)) == ZERO


def facing(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Beans in the opponent's hole opposite the mover's hole `n`."""
    return np.int64(facing_held(rules, position, slot_at(rules, n)))


def near_pot(rules: Context, position: State, place: int) -> np.int64:
    """Beans in the mover's hole that is 1, 2, ... places from its pot, whatever its number."""
    if place < 1 or place > np.int64(end_slot(rules)) - np.int64(first_slot(rules)):
        raise IndexError("the mover has no hole at this distance from its pot")
    return np.int64(held(position, end_slot(rules) - U(place)))


def distance(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Beans that a sowing from hole `n` needs to end in the mover's pot: 1 for the nearest hole."""
    return np.int64(end_slot(rules)) - np.int64(slot_at(rules, n))


def last_lands_in(rules: Context, position: State, n: PrintedNumber) -> PrintedNumber:
    """The mover's hole that receives the last bean from hole `n`; negative if it is not a hole.

    Negative results are OWN_POT, OTHER_ROW, OTHER_POT and, for an empty hole, NOWHERE.
    """
    cell = last_cell(rules, position, slot_at(rules, n))
    row = np.int64(end_slot(rules)) - np.int64(first_slot(rules))
    if cell < 0:
        return NOWHERE
    if cell < row:
        return int(cell + rules[RULES + FIRST_NUMBER])
    if cell == row:
        return OWN_POT
    return OTHER_POT if cell == 2 * row + 1 else OTHER_ROW


def ends_in_pot(rules: Context, position: State, n: PrintedNumber) -> Truth:
    """Return whether the last bean from hole `n` falls into the mover's pot."""
    row = np.int64(end_slot(rules)) - np.int64(first_slot(rules))
    return last_cell(rules, position, slot_at(rules, n)) == row


def captures(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Beans of the other row that a sowing from hole `n` would capture."""
    slot = slot_at(rules, n)
    cell, first = last_cell(rules, position, slot), np.int64(first_slot(rules))
    within_a_lap = np.int64(held(position, slot)) <= rules[RULES + PERIOD]
    own = cell >= 0 and cell < np.int64(end_slot(rules)) - first
    if rules[RULES + CAPTURES] == 0 or not own or not within_a_lap:
        return np.int64(0)
    last = U(cell + first)
    if last != slot and held(position, last) != ZERO:
        return np.int64(0)
    # A sowing that comes back to the mover's row has dropped a bean in every hole of the other.
    passed = ONE if last <= slot else ZERO
    return np.int64(facing_held(rules, position, last) + passed)


def gives_away(rules: Context, position: State, n: PrintedNumber) -> np.int64:
    """Beans that a sowing from hole `n` would drop in the other row."""
    slot = slot_at(rules, n)
    row = np.int64(end_slot(rules)) - np.int64(first_slot(rules))
    beans, period = np.int64(held(position, slot)), rules[RULES + PERIOD]
    beyond = beans % period - (np.int64(end_slot(rules)) - np.int64(slot))
    return np.int64(beans // period * row + max(0, min(beyond, row)))


HEURISTIC_HELPERS = (slot_at, last_cell)
