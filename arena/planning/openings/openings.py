"""Openings as kernel slots, and the filter for balanced ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.registry import build
from arena.planning.seeds import hash64
from games import Game, Position
from games.base.errors import UserError
from games.core import family_drivers
from games.kernels.context import PASS

NO_MOVE = -3  # fills the rows of shorter openings
CHUNK = 1 << 16  # openings whose moves are copied together
BALANCE_DEPTH = 6


class OpeningsError(UserError, ValueError):
    """The openings of a plan do not exist; the message says how to change it."""


@dataclass(frozen=True, slots=True, eq=False)
class Openings:
    """Opening moves as kernel slots, one row each, with a key of the position each leads to."""

    slots: NDArray[np.int16]
    keys: NDArray[np.uint64]
    finite: bool  # whether these are all there are, so that playing them all is a census

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def plies(self) -> NDArray[np.int64]:
        """The length of each opening."""
        plies: NDArray[np.int64] = (self.slots != NO_MOVE).sum(axis=1)
        return plies


def select_openings(openings: Openings, which: NDArray[np.bool_], all_there_are: bool) -> Openings:
    """Return the openings marked in `which`; a sample of a finite set is not finite."""
    if which.all():
        return openings
    finite = openings.finite and all_there_are
    return Openings(openings.slots[which], openings.keys[which], finite)


def first_openings(openings: Openings, number: int) -> Openings:
    """Return the first openings, at most `number`."""
    return select_openings(openings, np.arange(len(openings)) < number, all_there_are=False)


def position_after(game: Game, moves: Sequence[int]) -> Position:
    """Return the position after these moves from the start."""
    position = game.start()
    for move in moves:
        position = game.play(position, move)
    return position


def openings_from_lines(game: Game, lines: list[tuple[int, ...]], finite: bool) -> Openings:
    """Return openings from move numbers."""
    slots = np.full((len(lines), max(map(len, lines), default=0)), NO_MOVE, np.int16)
    keys = np.empty(len(lines), np.uint64)
    for row, line in enumerate(lines):
        slots[row, : len(line)] = game.slots_of(line)
        keys[row] = hash64(game.name, *line)
    return Openings(slots, keys, finite)


def first_sides(game: Game, openings: Openings) -> NDArray[np.int8]:
    """Return the side to move after each opening, which is the side of the first mover.

    Side 0 makes the first move of a game, which may belong to the opening. After extra turns or
    an odd number of moves the other side can be to move.
    """
    sides = np.zeros(len(openings), np.int8)
    if not openings.slots.shape[1]:
        return sides
    for at in range(0, len(openings), CHUNK):
        slots = openings.slots[at : at + CHUNK]
        # The kernel writes the side before each move, so one more move follows every opening.
        slots = np.column_stack([slots, np.full(len(slots), NO_MOVE, np.int16)])
        plies = (slots != NO_MOVE).sum(axis=1, dtype=np.int32)
        slots[np.arange(len(slots)), plies] = PASS
        moves = slots[slots != NO_MOVE]
        moving = np.empty(len(moves), np.int16)
        family_drivers(game.family_name).sides_moving(
            game.context, game.start().state, NO_MOVE, moves, plies + np.int32(1), moving
        )
        sides[at : at + CHUNK] = moving[np.cumsum(plies + 1) - 1]
    return sides


def opening_moves(game: Game, slots: NDArray[np.int16]) -> list[int]:
    """Return the move numbers of one opening."""
    moves: list[int] = game.moves_of(slots[slots != NO_MOVE]).tolist()
    return moves


def balance_mask(
    game: Game, openings: Openings, most: float, enough: int | None = None
) -> NDArray[np.bool_]:
    """Return which openings a shallow search values within `most` for either side.

    The search ends when it has found `enough` of them.
    """
    # It loads the compiler; the reader of files needs only the keys.
    from agents.search.compiled_agent import choose_fast  # noqa: PLC0415

    agent = build(AgentSpec("alphabeta", depth=BALANCE_DEPTH), game)
    good = np.zeros(len(openings), bool)
    number = 0
    for row, slots in enumerate(openings.slots):
        agent.start(0)
        value = choose_fast(agent, position_after(game, opening_moves(game, slots))).value
        good[row] = value is not None and abs(value) <= most
        number += int(good[row])
        if number == enough:
            break
    return good


def finite_openings(game: Game, lines: list[tuple[int, ...]], balance: float | None) -> Openings:
    """Return all openings of a finite set, or those of them that are balanced."""
    openings = openings_from_lines(game, lines, finite=True)
    if balance is None:
        return openings
    mask = balance_mask(game, openings, balance)
    return select_openings(openings, mask, all_there_are=True)
