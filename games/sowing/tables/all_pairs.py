"""Table `all_pairs`: holes, all pairs of a side, and all pairs across the sides."""

from collections.abc import Iterator, Mapping

import numpy as np

from games.kernels.bits import U
from games.kernels.family import turned
from games.kernels.jit import Kernel, Scope, inline
from games.learned_tables import TableGroup, TableLayout
from games.sowing.packed import first_slot, held
from games.sowing.rules import SowingRules
from games.sowing.tables.holes import COUNTS, MOST, holes_group, known_score, refuse_own

__all__ = ["known_score", "layout", "lookups"]

BOTH = COUNTS * COUNTS


def layout(rules: SowingRules, own: Mapping[str, str] | None = None) -> TableLayout:
    """Return the layout: tables of the holes and of every pair of them."""
    single, holes = holes_group(rules.holes), rules.holes
    count = holes * (holes - 1)
    together = TableGroup("together", "every two holes of a side", count * BOTH, count)
    across = TableGroup(
        "across", "every hole of the mover with each of the other side", holes**2 * BOTH, holes**2
    )
    groups = tuple(group for group in (single, together, across) if group.entries)
    if own and tuple(own) != tuple(group.name for group in groups):
        refuse_own(own, "all_pairs")
    return TableLayout("all_pairs", groups)


def lookups(layout: TableLayout) -> Kernel:
    """Generate straight-line code: read every hole once, then one lookup per line."""
    holes = layout.groups[0].lookups // 2
    body = ["them = turned(position)", "slot = first_slot(rules)"]
    for hole in range(holes):
        for side, whose in (("own", "position"), ("other", "them")):
            body.append(f"{side}{hole} = np.int64(min(held({whose}, slot + U({hole})), MOST))")
    body.append("total = np.int64(0)")
    for place, index in enumerate(indices(holes)):
        body.append(f"total += look(rules, base + {index}, {place})")
    text = "def lookups(rules, position, base):\n    " + "\n    ".join([*body, "return total"])
    scope: Scope = {
        "np": np,
        "U": U,
        "MOST": MOST,
        "held": held,
        "first_slot": first_slot,
        "turned": turned,
    }
    exec(text, scope)
    made: Kernel = inline(scope["lookups"])
    return made


def indices(holes: int) -> Iterator[str]:
    """Yield the entry of every lookup, as code."""
    names = [f"{side}{hole}" for side in ("own", "other") for hole in range(holes)]
    yield from (f"{COUNTS * place} + {name}" for place, name in enumerate(names))
    start = COUNTS * len(names)
    for first, second in pairs(holes):
        yield f"{start} + {COUNTS} * {names[first]} + {names[second]}"
        start += BOTH


def pairs(holes: int) -> Iterator[tuple[int, int]]:
    """Yield all pairs of the mover's holes, of the opponent's, then one hole of each."""
    for side in (0, holes):
        for first in range(side, side + holes):
            yield from ((first, second) for second in range(first + 1, side + holes))
    for first in range(holes):
        yield from ((first, second) for second in range(holes, 2 * holes))
