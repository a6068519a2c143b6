"""Moves by the numbers printed on the board, as bots see them: side by side with kernels' slots."""

from collections.abc import Mapping
from typing import NamedTuple

from games.core import Game
from games.position import Position

NO_NUMBER = -1  # a move that stands on no board, such as the swap of a game with numbered holes


class Numbers(NamedTuple):
    """The moves of one side of the board."""

    number: Mapping[int, int]  # by slot
    slot: Mapping[int, int]  # by number


def board_numbers(of: Game) -> tuple[Numbers, Numbers]:
    """The numbers of both sides; the rows' own count where the board shows letters."""
    return _of_side(of, 0), _of_side(of, 1)


def _of_side(of: Game, side: int) -> Numbers:
    position = Position(of.start().state, side)
    moves = [move for move in range(len(of.slots)) if move != of.pass_move]
    texts = {move: of.move_text(position, move) for move in moves}
    numbered = any(text.isdecimal() for text in texts.values())
    number = {}
    for move, text in texts.items():
        printed = int(text) if text.isdecimal() else NO_NUMBER
        number[of.slots_of(move)] = printed if numbered else move
    return Numbers(number, {each: slot for slot, each in number.items()})
