"""Table `pairs`: holes, adjacent holes of a side, and opposite holes."""

from collections.abc import Mapping

import numpy as np

from games.kernels.bits import ONE
from games.kernels.context import Context
from games.kernels.family import State, turned
from games.kernels.jit import Kernel, inline
from games.learned_tables import TableGroup, TableLayout, look
from games.sowing.packed import end_slot, facing_held, first_slot, held
from games.sowing.rules import SowingRules
from games.sowing.tables.holes import COUNTS, MOST, holes_group, known_score, refuse_own

__all__ = ["known_score", "layout", "lookups"]

BOTH = COUNTS * COUNTS


def layout(rules: SowingRules, own: Mapping[str, str] | None = None) -> TableLayout:
    """Return the layout: tables of the holes, the adjacent pairs and the opposite pairs."""
    single, holes = holes_group(rules.holes), rules.holes
    adjacent = TableGroup(
        "adjacent", "two holes of a side, one beside the other", 2 * (holes - 1) * BOTH,
        2 * (holes - 1),
    )  # fmt: skip
    facing = TableGroup(
        "facing", "a hole of the mover and the one that faces it", holes * BOTH, holes
    )
    groups = tuple(group for group in (single, adjacent, facing) if group.entries)
    if own and tuple(own) != tuple(group.name for group in groups):
        refuse_own(own, "pairs")
    return TableLayout("pairs", groups)


def lookups(layout: TableLayout) -> Kernel:
    """Return the lookup function, which is the same for every number of holes."""
    return inline(pair_lookups)


def pair_lookups(rules: Context, position: State, base: np.int64) -> np.int64:
    """Look up holes and pairs, from the hole farthest from the pot to the nearest."""
    total, hole = np.int64(0), 0
    them = turned(position)
    first, end = first_slot(rules), end_slot(rules)
    slot, holes = first, np.int64(end - first)
    adjacent = 2 * holes * COUNTS
    facing = adjacent + 2 * (holes - 1) * BOTH
    own_before, other_before = np.int64(0), np.int64(0)
    while slot < end:
        own = np.int64(min(held(position, slot), MOST))
        other = np.int64(min(held(them, slot), MOST))
        opposite = np.int64(min(facing_held(rules, position, slot), MOST))
        total += look(rules, base + COUNTS * hole + own, hole)
        total += look(rules, base + COUNTS * (holes + hole) + other, holes + hole)
        at = base + facing + BOTH * hole + COUNTS * own + opposite
        total += look(rules, at, 4 * holes - 2 + hole)
        if slot > first:
            at = base + adjacent + BOTH * (hole - 1) + COUNTS * own_before + own
            total += look(rules, at, 2 * holes + hole - 1)
            at = base + adjacent + BOTH * (holes + hole - 2) + COUNTS * other_before + other
            total += look(rules, at, 3 * holes + hole - 2)
        own_before, other_before = own, other
        hole += 1
        slot += ONE
    return total
