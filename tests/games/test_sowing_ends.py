"""How a sowing game ends, and the swap: the text of the rules, sentence by sentence."""

import pytest

from games import IllegalMove, MoveError, game
from games.perft import perft
from tests.games.written import after, legal, rows

# ---------------------------------------------------------------------- the end


def test_exactly_half_of_all_beans_is_no_majority():
    text = "S 0 2 1, N 1 1 1, pots 5-1, South to move"
    assert after("kalah-kgp(3,2)", text, "3") == "S 0 2 0, N 1 1 1, pots 6-1, South to move"


def test_a_side_to_move_without_beans_is_over_and_swept_at_once():
    ours = game("kalah(3,2)")
    position = ours.parse("S 0 0 0, N 1 0 2, pots 4-5, South to move")
    assert ours.over(position)
    assert ours.legal(position) == ()
    assert ours.score(position) == (4, 8)


def test_an_empty_opponent_row_can_be_played_from():
    assert legal("kalah(3,2)", "S 2 0 1, N 0 0 0, pots 4-5, South to move") == ["1", "3"]


def test_equal_pots_are_a_tie():
    ours = game("kalah(3,2)")
    position = ours.play(ours.parse("S 0 0 1, N 2 0 0, pots 5-4, South to move"), 2)
    assert ours.over(position)
    assert ours.margin(position) == 0


# --------------------------------------------------------------------- the swap


def test_the_second_player_may_swap_instead_of_his_first_ply():
    ours = game("kalah-manchester")
    start, replied, swapped = ours.replay("1 swap")
    assert 7 not in ours.legal(start)
    assert ours.legal(replied)[-1] == 7
    assert ours.move_text(replied, 7) == "swap"
    assert rows(ours.text(swapped)) == rows(ours.text(replied))


def test_after_a_swap_the_player_of_ply_1_owns_north_and_moves_next():
    ours = game("kalah-manchester")
    swapped = ours.replay("1 swap")[-1]
    assert ours.mover(swapped) == 0
    assert (ours.score(swapped), ours.margin(swapped)) == ((0, 1), -1)
    assert ours.mover(ours.play(swapped, 1)) == 1
    with pytest.raises(IllegalMove):
        ours.play(swapped, 7)


def test_a_swap_is_for_the_first_action_only():
    ours = game("kalah-manchester")
    for position in ours.replay("1 2 2 3")[2:]:
        assert 7 not in ours.legal(position)
    with pytest.raises(MoveError) as refused:
        ours.replay("1 2 swap")
    assert (refused.value.ply, refused.value.move) == (3, "swap")
    assert refused.value.legal == ("1", "2", "3", "4", "5", "6", "7")


def test_a_swap_does_not_turn_the_names_of_the_sides_in_the_picture():
    ours = game("kalah-manchester")
    assert ours.draw(ours.replay("1 swap")[-1]) == ours.draw(ours.replay("1")[-1])


def test_with_extra_turns_the_swap_waits_for_the_turn_to_pass():
    ours = game("kalah(6,4,swap=yes)")
    again, passed = ours.replay("3 1")[1:]
    assert ours.mover(again) == 0
    assert 6 not in ours.legal(again)
    assert 6 in ours.legal(passed)


# ---------------------------------------------------------------- perft by hand


@pytest.mark.parametrize(
    ("name", "depth", "leaves"),
    [
        ("kalah(2,2)", 3, 2),
        ("kalah-2022(2,2)", 3, 4),
        ("kalah(3,2)", 6, 150),
        ("kalah-2022(3,2)", 6, 153),
        ("kalah-paper(3,2)", 6, 148),
        ("kalah(2,3)", 4, 10),
        ("kalah-kgp(2,3)", 4, 9),
        ("kalah(3,3)", 7, 610),
        ("kalah-kgp(3,3)", 7, 602),
    ],
)
def test_small_boards_tell_the_rulesets_apart(name, depth, leaves):
    ours = game(name)
    assert perft(ours, ours.start(), depth)[-1][0] == leaves
