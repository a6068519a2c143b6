"""A game in progress as one array of words, and the numbers printed on its board."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from games.core import Game, Position
from games.kernels.board_layout import COUNT, LEFT, LOOK, MOVER, STATE
from games.kernels.context import PASS

SWAPPED = 2  # in the word of the mover
WORD_BYTES = 8
NO_NUMBER = -1  # a move that stands on no board, such as the swap of a game with numbered holes


class Board:
    """The state, its mover and the legal slots; a position is made of them when it is asked for."""

    def __init__(self, of: Game) -> None:
        """At the start of the game."""
        self.game = of
        from games.kernels import boards, jit  # noqa: PLC0415  # Numba loads only for a game

        self.kernels = jit.bound(of.family_name, boards.of_family)
        self.context = of.context
        self.fields = tuple(words for _, words in boards.words_of(of.family.State))
        self.first_slot = STATE + sum(self.fields)
        self.words = np.zeros(self.first_slot + len(of.slots), np.uint64)
        self.bytes = memoryview(self.words.data).cast("B")
        self.swap_slot = None if of.swap_move is None else of.slots_of(of.swap_move)
        self.move_count = 0  # legal slots; 0: the mover must pass, -1: the game is over
        self.begin()

    def begin(self) -> None:
        """Go back to the start."""
        self.place(self.game.start())

    def place(self, position: Position) -> None:
        """Set up a position."""
        self.words[:] = 0
        self.words[MOVER] = position.mover | SWAPPED * position.swapped
        words = self.words[STATE : self.first_slot]
        words[:] = np.hstack([np.array(each, np.uint64).ravel() for each in position.state])
        self.move_count = self.kernels.advance(self.context, self.words, self.first_slot, LOOK)

    def play(self, slot: int) -> None:
        """Play a legal slot, or a forced PASS."""
        self.move_count = self.kernels.advance(self.context, self.words, self.first_slot, slot)
        if slot == self.swap_slot:
            self.words[MOVER] ^= np.uint64(SWAPPED)

    @property
    def mover(self) -> int:
        """The player to move: 0 moved first in the game, 1 second."""
        return int(self.words[MOVER]) & 1

    @property
    def side(self) -> int:
        """The side of the board to move, which is not the mover's own after a swap."""
        word = int(self.words[MOVER])
        return (word ^ word >> 1) & 1

    @property
    def slots(self) -> list[int]:
        """The legal slots, ascending; PASS alone if there is nothing else."""
        if self.move_count > 0:
            found: list[int] = self.words[
                self.first_slot : self.first_slot + self.move_count
            ].tolist()
            return found
        return [] if self.move_count < 0 else [PASS]

    @property
    def position(self) -> Position:
        """The position on the board."""
        return decode_position(self.game, self.fields, self.words.tolist())

    def encode(self, left: int = 0) -> memoryview:
        """The board as bytes, with a number for who gets it."""
        self.words[LEFT] = left
        return self.bytes[: WORD_BYTES * (self.first_slot + max(self.move_count, 0))]

    def read(self, size: int) -> bool:
        """Take `size` bytes that were written into `bytes`; whether they are a whole board."""
        self.move_count = int(self.words[COUNT])
        return size == WORD_BYTES * (self.first_slot + self.move_count)


def decode_position(of: Game, fields: tuple[int, ...], words: list[int]) -> Position:
    """The position that the words of a board mean."""
    at, state = STATE, []
    for size in fields:
        state.append(words[at] if size == 1 else words[at : at + size])
        at += size
    mover = words[MOVER]
    return Position(of.family.restored(state), mover & 1, bool(mover & SWAPPED))


class PrintedMoves(NamedTuple):
    """The moves of one side of the board."""

    number: Mapping[int, int]  # by slot
    slot: Mapping[int, int]  # by number


def printed_moves(of: Game) -> tuple[PrintedMoves, PrintedMoves]:
    """The numbers of both sides; the rows' own count where the board shows letters."""
    return _of_side(of, 0), _of_side(of, 1)


def _of_side(of: Game, side: int) -> PrintedMoves:
    position = Position(of.start().state, side)
    moves = [move for move in range(len(of.slots)) if move != of.pass_move]
    texts = {move: of.move_text(position, move) for move in moves}
    numbered = any(text.isdecimal() for text in texts.values())
    number = {}
    for move, text in texts.items():
        printed = int(text) if text.isdecimal() else NO_NUMBER
        number[of.slots_of(move)] = printed if numbered else move
    return PrintedMoves(number, {each: slot for slot, each in number.items()})
