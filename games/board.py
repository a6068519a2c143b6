"""A game in progress as one array of words, and the numbers printed on its board."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from games.core import Game, Position
from games.kernels.context import COUNT, LEFT, LOOK, MOVER, PASS, STATE

SWAPPED = 2  # in the word of the mover
WORD_BYTES = 8
NO_NUMBER = -1  # of a move without a printed number, such as a swap where holes are numbered


class Board:
    """The state, its mover and the legal slots of a game in progress."""

    def __init__(self, game: Game) -> None:
        self.game = game
        from games.kernels import drivers, jit  # noqa: PLC0415  # Numba loads only for a game

        self.kernels = jit.family_kernels(game.family_name, drivers.bind_boards)
        self.context = game.context
        self.fields = tuple(words for _, words in drivers.field_words(game.family.State))
        self.first_slot = STATE + sum(self.fields)
        self.words = np.zeros(self.first_slot + len(game.slots), np.uint64)
        self.bytes = memoryview(self.words.data).cast("B")
        self.swap_slot = None if game.swap_move is None else game.slots_of(game.swap_move)
        self.move_count = 0  # legal slots; 0: the mover must pass, -1: the game is over
        self.reset()

    def reset(self) -> None:
        """Return to the start."""
        self.set_position(self.game.start())

    def set_position(self, position: Position) -> None:
        """Set up a position."""
        self.words[:] = 0
        self.words[MOVER] = position.mover | SWAPPED * position.swapped
        words = self.words[STATE : self.first_slot]
        words[:] = np.hstack([np.array(field, np.uint64).ravel() for field in position.state])
        self.move_count = self.kernels.advance(self.context, self.words, self.first_slot, LOOK)

    def play(self, slot: int) -> None:
        """Play a legal slot, or a forced PASS."""
        self.move_count = self.kernels.advance(self.context, self.words, self.first_slot, slot)
        if slot == self.swap_slot:
            self.words[MOVER] ^= np.uint64(SWAPPED)

    @property
    def mover(self) -> int:
        """Return the player to move: 0 moved first in the game, 1 second."""
        return int(self.words[MOVER]) & 1

    @property
    def side(self) -> int:
        """Return the side of the board to move; after a swap it differs from the mover."""
        word = int(self.words[MOVER])
        return (word ^ word >> 1) & 1

    @property
    def slots(self) -> list[int]:
        """Return the legal slots, ascending; only PASS if there is no other."""
        if self.move_count > 0:
            end = self.first_slot + self.move_count
            slots: list[int] = self.words[self.first_slot : end].tolist()
            return slots
        return [] if self.move_count < 0 else [PASS]

    @property
    def position(self) -> Position:
        """Return the position on the board."""
        return decode_position(self.game, self.fields, self.words.tolist())

    def encode(self, left: int = 0) -> memoryview:
        """Return the board as bytes, with a number for the receiver, such as the time left."""
        self.words[LEFT] = left
        return self.bytes[: WORD_BYTES * (self.first_slot + max(self.move_count, 0))]

    def decode(self, size: int) -> bool:
        """Read `size` bytes that were written into `bytes`; return whether they are complete."""
        self.move_count = int(self.words[COUNT])
        return size == WORD_BYTES * (self.first_slot + self.move_count)


def decode_position(game: Game, fields: tuple[int, ...], words: list[int]) -> Position:
    """Return the position of the words of a board."""
    at, state = STATE, []
    for size in fields:
        state.append(words[at] if size == 1 else words[at : at + size])
        at += size
    mover = words[MOVER]
    return Position(game.family.from_words(state), mover & 1, bool(mover & SWAPPED))


class PrintedMoves(NamedTuple):
    """The printed moves of one side of the board."""

    number: Mapping[int, int]  # by slot
    slot: Mapping[int, int]  # by number


def board_numbers(game: Game) -> tuple[PrintedMoves, PrintedMoves]:
    """Return the printed numbers of both sides; lettered squares are numbered row by row."""
    return _numbers_of_side(game, 0), _numbers_of_side(game, 1)


def _numbers_of_side(game: Game, side: int) -> PrintedMoves:
    position = Position(game.start().state, side)
    moves = [move for move in range(len(game.slots)) if move != game.pass_move]
    texts = {move: game.move_text(position, move) for move in moves}
    numbered = any(text.isdecimal() for text in texts.values())
    number = {}
    for move, text in texts.items():
        printed = int(text) if text.isdecimal() else NO_NUMBER
        number[game.slots_of(move)] = printed if numbered else move
    return PrintedMoves(number, {printed: slot for slot, printed in number.items()})
