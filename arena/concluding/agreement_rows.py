"""Who plays like whom: the rows of agreement.parquet, from one set of positions."""

from typing import NamedTuple

import numpy as np

from arena.stats.same_moves import Agreement


class AgreementRow(NamedTuple):
    """Two agents: equal moves on the same positions, and what independent ones would share."""

    agent: str
    other: str
    positions: int
    equal: int
    share: float
    expected: float
    excess: float
    same: bool


TABLE = "agreement.parquet"


def agreement_rows(found: list[Agreement], names: tuple[str, ...]) -> list[AgreementRow]:
    """One row a pair, the ones that agree most beyond expectation first."""
    rows = [
        AgreementRow(
            names[each.a],
            names[each.b],
            each.positions,
            each.equal,
            each.share,
            each.expected,
            each.share - each.expected,
            each.same,
        )
        for each in found
    ]
    order = np.lexsort(([-row.excess for row in rows], [not row.same for row in rows]))
    return [rows[place] for place in order]
