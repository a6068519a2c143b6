"""Table `holes`: the number of beans in each hole of either side."""

from collections.abc import Mapping

import numpy as np

from games.base.text import GameError
from games.kernels.bits import ONE, U
from games.kernels.context import Context
from games.kernels.family import State, turned
from games.kernels.jit import Kernel, inline
from games.learned_tables import TableGroup, TableLayout, look
from games.sowing.packed import end_slot, first_slot, held, pot_beans
from games.sowing.rules import SowingRules

COUNTS = 16  # a hole with more than 15 beans reads the entry of 15
MOST = U(COUNTS - 1)


def layout(rules: SowingRules, own: Mapping[str, str] | None = None) -> TableLayout:
    """Return the layout: a table for each hole of either side."""
    refuse_own(own, "holes")
    return TableLayout("holes", (holes_group(rules.holes),))


def refuse_own(own: Mapping[str, str] | None, kind: str) -> None:
    """Raise a GameError if a user adds groups: only patterns allow them."""
    if own and tuple(own) != (kind,):
        raise GameError(f"tables of kind {kind} have fixed groups: remove yours or use patterns")


def holes_group(holes: int) -> TableGroup:
    """Return the tables of the holes, the mover's first."""
    words = f"{holes} holes of the mover, then of the other side: 0 to {COUNTS - 1} beans"
    return TableGroup("holes", words, 2 * holes * COUNTS, 2 * holes)


def known_score(rules: Context, position: State) -> np.int64:
    """Return the banked beans, the mover's minus the opponent's."""
    return np.int64(pot_beans(position)) - np.int64(pot_beans(turned(position)))


def lookups(layout: TableLayout) -> Kernel:
    """Return the lookup function, which is the same for every number of holes."""
    return inline(hole_lookups)


def hole_lookups(rules: Context, position: State, base: np.int64) -> np.int64:
    """Look up every hole of the mover, then of the opponent."""
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
