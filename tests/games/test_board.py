"""A board plays as the game does; its moves have the numbers that people see."""

from itertools import pairwise

import numpy as np
import pytest

from games import game
from games.board import NO_NUMBER, Board, board_numbers
from games.kernels import drivers
from games.kernels.context import PASS
from games.kernels.jit import family_kernels
from tests.agents.helpers import positions


@pytest.mark.parametrize(
    "name",
    ["kalah(6,4)", "othello(6)", pytest.param("kalah(9,3)", marks=pytest.mark.slow),
     pytest.param("othello(10)", marks=pytest.mark.slow),
     pytest.param("kalah-manchester", marks=pytest.mark.slow)],
)  # fmt: skip
def test_a_board_plays_as_the_game_does(name):
    of = game(name)
    board, twin = Board(of), Board(of)
    history = positions(name, 4)
    for before, after in pairwise(history):
        assert board.position == before
        assert [of.moves_of(slot) for slot in board.slots] == list(of.legal(before))
        assert (board.mover, board.side, board.move_count < 0) == (before.mover, before.side, False)
        move = next(m for m in of.legal(before) if of.play(before, m) == after)
        message = bytes(board.encode(7))
        twin.bytes[: len(message)] = message
        assert twin.decode(len(message))
        assert twin.position == before
        board.play(of.slots_of(move))
    assert board.position == history[-1]
    board.set_position(history[1])
    assert board.position == history[1]


def test_games_are_replayed_until_a_move_is_not_legal():
    of = game("kalah(6,4)")
    history = positions("kalah(6,4)", 4)
    moves = [next(m for m in of.legal(a) if of.play(a, m) == b) for a, b in pairwise(history)]
    slots = of.slots_of(moves)
    wrong = slots.copy()
    wrong[5] = PASS
    results = np.zeros((2, 4), np.int64)
    plies = np.array([len(slots)] * 2, np.int32)
    family_kernels(of.family_name, drivers.bind_boards).replay(
        of.context, of.start().state, np.concatenate([slots, wrong]), plies, results
    )
    assert results[0, : drivers.GAME_ID].tolist() == [len(slots), 1, of.margin(history[-1])]
    assert results[1, : drivers.MARGIN].tolist() == [5, 0]


def test_numbers_are_those_printed_on_the_board():
    kalah, ring, letters = (game(name) for name in ("kalah(6,4)", "owari", "othello(6)"))
    for of in (kalah, ring):
        for side, numbers in enumerate(board_numbers(of)):
            position = of.start()._replace(mover=side)
            texts = [of.move_text(position, move) for move in of.legal(position)]
            slots = map(of.slots_of, of.legal(position))
            assert [str(numbers.number[slot]) for slot in slots] == texts
    assert board_numbers(letters)[0].slot[14] == letters.slots_of(14)


def test_a_swap_has_no_number():
    of = game("kalah(6,4,swap=yes)")
    assert of.swap_move is not None
    numbers = board_numbers(of)[1]
    assert numbers.number[of.slots_of(of.swap_move)] == NO_NUMBER
    assert numbers.slot[6] == of.slots_of(0)
