"""A pack's words for heuristics, run by Python for the bots that ask a view.

Nothing is compiled for them: a bot's clock would pay for it.
"""

from collections.abc import Callable
from functools import cache
from typing import get_type_hints

import numpy as np

from agents.kernels.bind import feature_names, part_names
from agents.kernels.interpreted_words import interpreted_words
from games import Game, Position
from games.board_numbers import NO_NUMBER, Numbers
from games.kernels.jit import unbound
from games.kernels.printed_numbers import PrintedNumber
from games.names import listed
from games.pack import board_words

Sides = tuple[Numbers, Numbers]
Word = Callable[..., object]


def word_names(of: Game) -> tuple[str, ...]:
    """The words that a view of this game answers to."""
    return (*board_words(of.package), *feature_names(of.family_name))


def asked_word(of: Game, name: str, position: Position, numbers: Sides) -> Word:
    """A word about this position, in the numbers that its mover sees on the board."""
    run = interpreted_words(of.family_name)[name]
    hints = printed_arguments(of.family_name, name)
    mine = numbers[position.side]

    def asked(*arguments: int) -> object:
        given = [
            south(of, name, mine, numbers[0], each) if printed else each
            for each, printed in zip(arguments, hints[:-1], strict=False)
        ]
        answer = run(of.context, position.state, *given, *arguments[len(given) :])
        if not hints[-1]:
            return bool(answer) if isinstance(answer, bool | np.bool_) else int(answer)
        return seen(mine, numbers[0], int(answer))

    return asked


def turned_position(of: Game, position: Position) -> Position:
    """The same board with the other side to move."""
    state = unbound(of.family.turned)(position.state)
    return Position(state, 1 - position.mover, position.swapped)


def south(of: Game, name: str, mine: Numbers, souths: Numbers, number: int) -> int:
    """The number that South's seat shows where the mover sees `number`; IndexError if nothing."""
    slot = mine.slot.get(number)
    if slot is None or slot not in souths.number:
        there = sorted(each for each in mine.slot if each != NO_NUMBER)
        raise IndexError(f"{name}: {of} has no {number} here; it has {listed(there)}")
    return souths.number[slot]


def seen(mine: Numbers, souths: Numbers, number: int) -> int:
    """The number that the mover sees where South's seat shows `number`; below 0 as it is."""
    return mine.number[souths.slot[number]] if number >= 0 else number


@cache
def printed_arguments(family_name: str, name: str) -> tuple[bool, ...]:
    """Which arguments of a word stand on the board, and at the end whether its answer does."""
    template = part_names(family_name, "board_words").get(name)
    if template is None or name in feature_names(family_name):
        return (False,)
    hints = get_type_hints(unbound(template), include_extras=True)
    kinds = [hints[each] == PrintedNumber for each in hints if each not in ("rules", "position")]
    return tuple(kinds)
