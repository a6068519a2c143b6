"""Holes: how many beans lie in each hole of either side."""

from collections.abc import Mapping

import numpy as np

from games.base.text import GameError
from games.kernels.bits import ONE, U
from games.kernels.context import Context
from games.kernels.family import State, turned
from games.kernels.jit import Kernel, inlined
from games.learned_tables import TableGroup, TableLayout, look
from games.sowing.packed_cells import end_slot, first_slot, held, pot_beans
from games.sowing.rules import SowingRules

COUNTS = 16  # a hole with more than 15 beans reads the entry of 15
MOST = U(COUNTS - 1)


def layout(rules: SowingRules, own: Mapping[str, str] | None = None) -> TableLayout:
    """A table a hole of either side."""
    refuse_own(own, "holes")
    return TableLayout("holes", (holes_group(rules.holes),))


def refuse_own(own: Mapping[str, str] | None, kind: str) -> None:
    """Say that only patterns are a user's own."""
    if own and tuple(own) != (kind,):
        raise GameError(f"the tables {kind} are as they are: nothing can be added to them")


def holes_group(holes: int) -> TableGroup:
    """The tables of the holes, the mover's first."""
    words = f"{holes} holes of the mover, then of the other side: 0 to {COUNTS - 1} beans"
    return TableGroup("holes", words, 2 * holes * COUNTS, 2 * holes)


def known(rules: Context, position: State) -> np.int64:
    """The beans that are banked already, the mover's less the other's."""
    return np.int64(pot_beans(position)) - np.int64(pot_beans(turned(position)))


def lookups(of: TableLayout) -> Kernel:
    """The same function for every number of holes."""
    return inlined(hole_lookups)


def hole_lookups(rules: Context, position: State, base: np.int64) -> np.int64:
    """Look up every hole of the mover, then of the other side."""
    total, place = np.int64(0), 0
    them = turned(position)
    slot, end = first_slot(rules), end_slot(rules)
    holes = np.int64(end - slot)
    while slot < end:
        own, other = min(held(position, slot), MOST), min(held(them, slot), MOST)
        total += look(rules, base + COUNTS * place + np.int64(own), place)
        total += look(rules, base + COUNTS * (holes + place) + np.int64(other), holes + place)
        place += 1
        slot += ONE
    return total
