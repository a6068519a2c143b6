"""Whole games in the numbers that players use, fast enough for every game of a run."""

import threading
from collections.abc import Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from games import Game, Position
from games.kernels.bits import U
from games.kernels.context import Context
from games.kernels.drivers import PASS
from games.kernels.family import State, play, turned
from games.kernels.jit import specialise


class Written(NamedTuple):
    """Moves as places in a short list of words, one after the other."""

    places: NDArray[np.int16]
    words: list[str]


def sides_moving(
    ctx: Context,
    start: State,
    swap_slot: int,
    slots: NDArray[np.int16],
    plies: NDArray[np.int32],
    sides: NDArray[np.int16],
) -> int:
    """Write which side of the board makes each move of the games; how many moves there were."""
    at = 0
    for game in range(plies.size):
        s, side = start, 0
        for _ in range(plies[game]):
            slot = slots[at]
            sides[at] = side
            at += 1
            if slot == PASS:
                s, same = turned(s), U(0) == U(1)
            else:
                s, same = play(ctx, s, U(slot))
            # After a swap the other player moves for the same side of the board.
            side = side if same or slot == swap_slot else 1 - side
    return at


def written(of: Game, moves: NDArray[np.int16], plies: NDArray[np.int32]) -> Written:
    """The moves of games that follow one another, `plies` long, as words.

    How a move is written depends on the side of the board at most; games are played again
    only where it does.
    """
    by_side = words_by_side(of)
    if by_side[0] == by_side[1]:
        return Written(moves, by_side[0])
    sides = np.empty(len(moves), np.int16)
    no_slot = PASS - 1
    slots = np.array([*of.slots, PASS], np.int16)[moves]
    swap = no_slot if of.swap_move is None else of.slots[of.swap_move]
    kernel = _kernels(of.family_name).sides_moving
    kernel(of.context, of.start().state, swap, slots, np.ascontiguousarray(plies), sides)
    return Written(moves + sides * np.int16(len(by_side[0])), by_side[0] + by_side[1])


def words_by_side(of: Game) -> tuple[list[str], list[str]]:
    """How each move number is written, for either side of the board."""
    count = len(of.slots) + (of.pass_move is not None)
    state = of.start().state
    south, north = (
        [of.move_text(Position(state, side), move) for move in range(count)] for side in (0, 1)
    )
    return south, north


def move_texts(of: Game, moves: Sequence[int]) -> list[str]:
    """The words of one game."""
    found = written(of, np.array(moves, np.int16), np.array([len(moves)], np.int32))
    return [found.words[place] for place in found.places.tolist()]


_binding = threading.Lock()
_bound: dict[str, SimpleNamespace] = {}


def _kernels(family_name: str) -> SimpleNamespace:
    """The kernel for one family of states; bound once, whichever thread asks first."""
    with _binding:
        if family_name not in _bound:
            family = import_module(family_name)
            names = {"play": family.play, "turned": family.turned}
            _bound[family_name] = specialise(family.FAMILY, [sides_moving], **names)
        return _bound[family_name]
