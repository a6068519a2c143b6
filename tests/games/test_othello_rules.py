"""Facts of both Othello rules: start, flips, passes, ends, scores."""

import pytest

from games import game
from games.core import family_drivers
from games.perft import perft
from tests.games.written import after, legal

START = f"{'-' * 27}OX{'-' * 6}XO{'-' * 27} X"


@pytest.mark.parametrize("name", ["othello", "othello-adjacent"])
def test_othello_starts_with_white_on_d4_e5_and_black_on_e4_d5(name):
    ours = game(name)
    assert ours.text(ours.start()) == START
    assert ours.mover(ours.start()) == 0


def test_black_may_begin_with_d3_c4_f5_or_e6():
    assert legal("othello", START) == ["d3", "c4", "f5", "e6"]


def test_the_adjacent_rule_requires_only_a_neighbour():
    ring = ["c3", "d3", "e3", "f3", "c4", "f4", "c5", "f5", "c6", "d6", "e6", "f6"]
    assert legal("othello-adjacent", START) == ring
    sides = ["d3", "e3", "c4", "f4", "c5", "f5", "d6", "e6"]
    assert legal("othello-adjacent(8,adjacency=4)", START) == sides


def test_all_bracketed_runs_flip():
    # d1 brackets c1 (to b1), d2 d3 (to d4) and no run of row 1 to the right.
    board = "-XO-OO--" + "---O----" + "---O----" + "---XO---" + "-" * 32
    wanted = "-XXXOO--" + "---X----" + "---X----" + "---XO---" + "-" * 32
    assert after("othello", f"{board} X", "d1") == f"{wanted} O"


def test_a_blocked_mover_must_pass():
    board = "XO--" + "-" * 12
    assert legal("othello(4)", f"{board} O") == ["pass"]
    assert after("othello(4)", f"{board} O", "pass") == f"{board} X"


def test_the_game_is_over_when_both_are_blocked():
    ours = game("othello(4)")
    position = ours.parse("X--O" + "-" * 12 + " X")
    assert ours.over(position)
    assert ours.legal(position) == ()
    assert (ours.score(position), ours.raw_score(position)) == ((8, 8), (1, 1))


def finished(first: int, second: int) -> str:
    """An 8x8 position without moves, with these numbers of discs."""
    return "X" * first + "-" * (64 - first - second) + "O" * second + " X"


@pytest.mark.parametrize(
    ("raw", "score"), [((33, 20), (44, 20)), ((20, 0), (64, 0)), ((0, 30), (0, 64))]
)
def test_the_winner_gets_the_empty_squares(raw, score):
    ours = game("othello")
    position = ours.parse(finished(*raw))
    assert ours.over(position)
    assert ours.raw_score(position) == raw
    assert ours.score(position) == score
    assert ours.margin(position) == score[0] - score[1]
    in_searches = family_drivers(ours.family_name).margin(ours.context, position.state)
    assert int(in_searches) == score[0] - score[1]


def test_the_first_4x4_games_end_at_ply_7():
    ours = game("othello(4)")
    assert [ended for _, ended in perft(ours, ours.start(), 8)] == [0, 0, 0, 0, 0, 0, 0, 4]


def test_squares_are_read_in_either_case():
    ours = game("othello")
    move = ours.parse_move(ours.start(), "D3")
    assert ours.move_text(ours.start(), move) == "d3"


def test_the_last_square_of_the_largest_board_is_p16():
    ours = game("othello-adjacent(16)")
    position = ours.parse("-" * 238 + "X" + "-" * 17 + " X")
    assert ours.move_text(position, ours.legal(position)[-1]) == "p16"
