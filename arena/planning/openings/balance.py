"""Balanced openings: those that a shallow search values about evenly."""

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, build
from arena.planning.openings.lines import Openings, from_lines, kept, moves_of, position_after
from games import Game

BALANCE_DEPTH = 6


def balanced(
    of: Game, openings: Openings, most: float, enough: int | None = None
) -> NDArray[np.bool_]:
    """Which openings a shallow search values within `most` for either side; stop at `enough`."""
    # It loads the compiler, and the reader of files asks for keys only.
    from agents.compiled import decided  # noqa: PLC0415

    agent = build(AgentSpec("alphabeta", depth=BALANCE_DEPTH), of)
    good = np.zeros(len(openings), bool)
    number = 0
    for row, slots in enumerate(openings.slots):
        agent.start(0)
        value = decided(agent, position_after(of, moves_of(of, slots))).value
        good[row] = value is not None and abs(value) <= most
        number += int(good[row])
        if number == enough:
            break
    return good


def all_of(of: Game, lines: list[tuple[int, ...]], balance: float | None) -> Openings:
    """All openings of a finite set, or those of them that are balanced."""
    openings = from_lines(of, lines, finite=True)
    if balance is None:
        return openings
    return kept(openings, balanced(of, openings, balance), all_there_are=True)
