"""The type, its filters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.registry import build
from arena.planning.seeds import hash64
from games import Game, Position
from games.base.errors import UserError
from games.core import kernels
from games.kernels.context import PASS

NO_MOVE = -3  # fills the rows of openings that are shorter than others
AT_ONCE = 1 << 16  # openings whose moves are copied together
BALANCE_DEPTH = 6


class OpeningsError(UserError, ValueError):
    """Such openings do not exist; one line gives the numbers and what to change."""


@dataclass(frozen=True, slots=True, eq=False)
class Openings:
    """Opening moves as kernel slots, one row each, with a key of the position each leads to."""

    slots: NDArray[np.int16]
    keys: NDArray[np.uint64]
    finite: bool  # whether these are all that there are: playing them all is a census

    def __len__(self) -> int:
        """The number of openings."""
        return len(self.keys)

    @property
    def plies(self) -> NDArray[np.int64]:
        """The length of each opening."""
        plies: NDArray[np.int64] = (self.slots != NO_MOVE).sum(axis=1)
        return plies


def kept(openings: Openings, which: NDArray[np.bool_], all_there_are: bool) -> Openings:
    """The openings marked in `which`; a sample of a finite set is no longer finite."""
    if which.all():
        return openings
    finite = openings.finite and all_there_are
    return Openings(openings.slots[which], openings.keys[which], finite)


def first_openings(openings: Openings, number: int) -> Openings:
    """The first openings, at most `number`."""
    return kept(openings, np.arange(len(openings)) < number, all_there_are=False)


def position_after(of: Game, moves: Sequence[int]) -> Position:
    """The position that moves from the start lead to."""
    position = of.start()
    for move in moves:
        position = of.play(position, move)
    return position


def from_lines(of: Game, lines: list[tuple[int, ...]], finite: bool) -> Openings:
    """Openings from move numbers."""
    slots = np.full((len(lines), max(map(len, lines), default=0)), NO_MOVE, np.int16)
    keys = np.empty(len(lines), np.uint64)
    for row, line in enumerate(lines):
        slots[row, : len(line)] = of.slots_of(line)
        keys[row] = hash64(of.name, *line)
    return Openings(slots, keys, finite)


def first_sides(of: Game, openings: Openings) -> NDArray[np.int8]:
    """Return the side to move after each opening, which is the side of the first mover.

    Side 0 made the first move of the game, which may belong to the opening. After extra turns or
    an odd number of moves the other side can be to move.
    """
    sides = np.zeros(len(openings), np.int8)
    if not openings.slots.shape[1]:
        return sides
    for at in range(0, len(openings), AT_ONCE):
        slots = openings.slots[at : at + AT_ONCE]
        # The kernel writes the side before each move, so one more move follows every opening.
        slots = np.column_stack([slots, np.full(len(slots), NO_MOVE, np.int16)])
        plies = (slots != NO_MOVE).sum(axis=1, dtype=np.int32)
        slots[np.arange(len(slots)), plies] = PASS
        moves = slots[slots != NO_MOVE]
        moving = np.empty(len(moves), np.int16)
        kernels(of.family_name).sides_moving(
            of.context, of.start().state, NO_MOVE, moves, plies + np.int32(1), moving
        )
        sides[at : at + AT_ONCE] = moving[np.cumsum(plies + 1) - 1]
    return sides


def moves_of(of: Game, slots: NDArray[np.int16]) -> list[int]:
    """The move numbers of one opening."""
    moves: list[int] = of.moves_of(slots[slots != NO_MOVE]).tolist()
    return moves


def balance_mask(
    of: Game, openings: Openings, most: float, enough: int | None = None
) -> NDArray[np.bool_]:
    """Return which openings a shallow search values within `most` for either side."""
    # It loads the compiler, and the reader of files asks for keys only.
    from agents.search.compiled_agent import decided  # noqa: PLC0415

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


def finite_openings(of: Game, lines: list[tuple[int, ...]], balance: float | None) -> Openings:
    """All openings of a finite set, or those of them that are balanced."""
    openings = from_lines(of, lines, finite=True)
    if balance is None:
        return openings
    return kept(openings, balance_mask(of, openings, balance), all_there_are=True)
