"""Worked examples of the sowing rules: numbering, boards, single plies, ends, the swap."""

import re

import pytest

from games import IllegalMove, MoveError, game
from games.perft import perft
from tests.games.written import after, legal, replayed, rows

SOWING = ["kalah", "kalah-2022", "kalah-paper", "kalah-kgp", "kalah-manchester", "owari"]


# --------------------------------------------------------- numbers and boards


@pytest.mark.parametrize(
    ("name", "south", "north"),
    [("kalah", "1 2 3 4 5 6", "6 5 4 3 2 1"), ("owari", "0 1 2 3 4 5", "7 8 9 10 11 12")],
)
def test_holes_have_the_numbers_on_the_board(name, south, north):
    ours = game(name)
    first = ours.start()
    second = ours.play(first, 0)
    assert [ours.move_text(first, move) for move in ours.legal(first)] == south.split()
    assert [ours.move_text(second, move) for move in ours.legal(second)] == north.split()


KALAH_BOARD = """\
North player
    1 2 3 4 5 6
- - - - - - - - - -
    4 4 4 4 4 4
 0               0
    4 4 4 4 4 4
- - - - - - - - - -
    1 2 3 4 5 6
                South player"""
OWARI_BOARD = """\
   3 3 3 3 3 3
0                   0
   3 3 3 3 3 3"""


@pytest.mark.parametrize(("name", "board"), [("kalah", KALAH_BOARD), ("owari", OWARI_BOARD)])
def test_the_board_is_drawn_as_in_the_rules(name, board):
    assert game(name).draw(game(name).start()) == board


def word_ends(line: str) -> list[int]:
    return [word.end() for word in re.finditer(r"\S+", line)]


def test_two_digit_holes_keep_the_columns_aligned():
    ours = game("kalah")
    position = ours.parse("S 10 1 2 3 4 15, N 1 12 3 4 5 6, pots 0-11, South to move")
    _, above, _, north, pots, south, _, below, _ = ours.draw(position).splitlines()
    assert north.split() == ["1", "12", "3", "4", "5", "6"]
    assert south.split() == ["10", "1", "2", "3", "4", "15"]
    assert pots.split() == ["11", "0"]
    assert word_ends(above) == word_ends(north) == word_ends(south) == word_ends(below)


def test_the_board_names_the_players():
    ours = game("kalah")
    first, *_, last = ours.draw(ours.start(), ("Ada", "Bo")).splitlines()
    assert (first.strip(), last.strip()) == ("Bo", "Ada")


# ---------------------------------------------------------------- whole games

TRACE = "S 2 0 0, N 0 1 2, pots 0-0, South to move"


def forced_game(name: str, text: str) -> list[tuple[str, str, tuple[int, int]]]:
    """The game from a position in which every move is the only one: move, rows, pots."""
    ours = game(name)
    position, plies = ours.parse(text), []
    while not ours.over(position):
        (move,) = ours.legal(position)
        side, number = "SN"[ours.mover(position)], ours.move_text(position, move)
        position = ours.play(position, move)
        plies.append((side + number, rows(ours.text(position)), ours.score(position)))
    return plies


LONG = [
    ("S1", "S 0 1 0, N 0 1 0", (3, 0)),
    ("N2", "S 0 1 0, N 1 0 0", (3, 0)),
    ("S2", "S 0 0 1, N 1 0 0", (3, 0)),
    ("N1", "S 0 0 0, N 0 0 0", (4, 1)),
]
WITH_EMPTY_CAPTURES = [LONG[0], ("N2", "S 0 0 0, N 0 0 0", (4, 1))]


@pytest.mark.parametrize(
    ("name", "plies"),
    [
        ("kalah", LONG),
        ("kalah-2022", LONG),
        ("kalah-manchester", LONG),
        ("kalah-kgp", [("S1", "S 0 0 0, N 0 0 0", (4, 1))]),
        ("kalah-paper", WITH_EMPTY_CAPTURES),
    ],
)
def test_a_forced_game_ends_as_in_the_rules(name, plies):
    assert forced_game(f"{name}(3,2)", TRACE) == plies


def test_first_moves():
    ours = game("kalah(3,2)")
    assert ours.text(ours.start()) == "S 2 2 2, N 2 2 2, pots 0-0, South to move"
    assert replayed("kalah(6,4)", "1 1") == [
        "S 0 5 5 5 5 4, N 4 4 4 4 4 4, pots 0-0, North to move",
        "S 1 6 6 5 5 4, N 0 4 4 4 4 4, pots 0-1, South to move",
    ]
    first = "S 3 3 3 3 0 4, N 3 3 3 3 3 4, pots 1-0"
    assert replayed("owari", "4") == [f"{first}, North to move"]
    captured = "S 3 0 4 4 1 4, N 3 3 3 3 0 4, pots 4-0, North to move"
    assert after("owari", f"{first}, South to move", "1") == captured


def test_only_holes_with_beans_are_legal():
    assert legal("kalah(3,2)", "S 2 0 2, N 2 2 2, pots 0-0, South to move") == ["1", "3"]
    assert legal("kalah(3,2)", "S 2 0 1, N 0 0 0, pots 4-5, South to move") == ["1", "3"]


# ---------------------------------------------------------------- single plies

# Rows in sowing order for their owner; South moves. Other presets have the outcome of `kalah`.
ONE_PLY = {
    "one exact lap": (
        "S 5 1, N 1 1, pots 0-0",
        1,
        {
            "kalah": "S 0 2, N 2 0, pots 4-0, North to move",
            "owari": "S 1 2, N 2 0, pots 3-0, North to move",
        },
    ),
    "a lap passes the start hole": (
        "S 6 1, N 1 1, pots 0-0",
        1,
        {"kalah": "S 1 3, N 2 2, pots 1-0, North to move"},
    ),
    "two exact laps do not capture": (
        "S 10 1, N 1 1, pots 0-0",
        1,
        {"kalah": "S 2 3, N 3 3, pots 2-0, North to move"},
    ),
    "nothing opposite": (
        "S 1 0 3 0, N 2 1 0 3, pots 4-4",
        1,
        {
            "kalah": "S 0 1 3 0, N 2 1 0 3, pots 4-4, North to move",
            "kalah-paper": "S 0 0 3 0, N 2 1 0 3, pots 5-4, North to move",
        },
    ),
    "a capture": (
        "S 1 0 3 0, N 2 0 1 3, pots 4-4",
        1,
        {
            "kalah": "S 0 0 3 0, N 2 0 0 3, pots 6-4, North to move",
            "owari": "S 0 1 3 0, N 2 0 0 3, pots 5-4, North to move",
        },
    ),
    "the mover empties their row": (
        "S 0 0 0 3, N 1 0 2 1, pots 5-5",
        4,
        {
            "kalah": "over 6-11",
            "kalah-2022": "S 0 0 0 0, N 2 1 2 1, pots 6-5, North to move",
        },
    ),
    "the mover empties their row into their pot": (
        "S 0 0 0 1, N 1 0 2 1, pots 5-5",
        4,
        {"kalah": "over 6-9"},
    ),
    "a capture empties the other row": (
        "S 1 0 0 2, N 0 0 3 0, pots 4-4",
        1,
        {"kalah": "over 10-4"},
    ),
    "one bean more than half": (
        "S 0 0 2 1, N 1 1 1 1, pots 8-1",
        4,
        {
            "kalah": "S 0 0 2 0, N 1 1 1 1, pots 9-1, South to move",
            "kalah-kgp": "over 11-5",
            "owari": "S 0 0 2 0, N 1 1 1 1, pots 9-1, North to move",
        },
    ),
    "exactly half": (
        "S 0 2 1, N 1 1 1, pots 5-1",
        3,
        {
            "kalah": "S 0 2 0, N 1 1 1, pots 6-1, South to move",
            "owari": "S 0 2 0, N 1 1 1, pots 6-1, North to move",
        },
    ),
    "the other row is already empty": (
        "S 2 0 1, N 0 0 0, pots 4-5",
        3,
        {"kalah": "over 7-5", "kalah-2022": "S 2 0 0, N 0 0 0, pots 5-5, South to move"},
    ),
}


def in_display_order(text: str) -> str:
    """A one-line text whose rows are in sowing order, with North's row reversed."""
    south, north, rest = text.split(", ", 2)
    return ", ".join([south, " ".join(["N", *reversed(north.split()[1:])]), rest])


@pytest.mark.parametrize("preset", SOWING)
@pytest.mark.parametrize("what", ONE_PLY)
def test_one_ply(what, preset):
    before, hole, outcomes = ONE_PLY[what]
    outcome = outcomes.get(preset, outcomes["kalah"])
    ours = game(f"{preset}({len(before.split(',')[0].split()) - 1},1)")
    position = ours.play(ours.parse(in_display_order(f"{before}, South to move")), hole - 1)
    if outcome.startswith("over"):
        first, second = ours.score(position)
        assert ours.over(position)
        assert f"over {first}-{second}" == outcome
    else:
        assert not ours.over(position)
        assert ours.text(position) == in_display_order(outcome)


@pytest.mark.parametrize(
    ("name", "side"),
    [("kalah(7,7)", 0), ("kalah-2022(7,7)", 0), ("kalah-paper(7,7)", 0), ("kalah-manchester", 1)],
)
def test_only_manchester_gives_no_extra_turn_on_ply_1(name, side):
    ours = game(name)
    position = ours.play(ours.start(), 0)
    assert rows(ours.text(position)) == "S 0 8 8 8 8 8 8, N 7 7 7 7 7 7 7"
    assert ours.score(position) == (1, 0)
    assert ours.mover(position) == side


# ---------------------------------------------------------------------- the end


def test_a_mover_without_beans_ends_the_game_with_a_sweep():
    ours = game("kalah(3,2)")
    position = ours.parse("S 0 0 0, N 1 0 2, pots 4-5, South to move")
    assert ours.over(position)
    assert ours.legal(position) == ()
    assert ours.score(position) == (4, 8)


def test_equal_pots_are_a_tie():
    ours = game("kalah(3,2)")
    position = ours.play(ours.parse("S 0 0 1, N 2 0 0, pots 5-4, South to move"), 2)
    assert ours.over(position)
    assert ours.margin(position) == 0


# --------------------------------------------------------------------- the swap


def test_the_second_player_may_swap_on_their_first_turn_only():
    ours = game("kalah-manchester")
    start, replied, swapped = ours.replay("1 swap")
    assert 7 not in ours.legal(start)
    assert ours.legal(replied)[-1] == 7
    assert ours.move_text(replied, 7) == "swap"
    assert rows(ours.text(swapped)) == rows(ours.text(replied))
    assert ours.draw(swapped) == ours.draw(replied)
    for position in ours.replay("1 2 2 3")[2:]:
        assert 7 not in ours.legal(position)
    with pytest.raises(MoveError) as refused:
        ours.replay("1 2 swap")
    assert (refused.value.ply, refused.value.move) == (3, "swap")
    assert refused.value.legal == ("1", "2", "3", "4", "5", "6", "7")


def test_after_a_swap_the_first_player_owns_north_and_moves():
    ours = game("kalah-manchester")
    swapped = ours.replay("1 swap")[-1]
    assert ours.mover(swapped) == 0
    assert (ours.score(swapped), ours.margin(swapped)) == ((0, 1), -1)
    assert ours.mover(ours.play(swapped, 1)) == 1
    with pytest.raises(IllegalMove):
        ours.play(swapped, 7)


def test_the_swap_opens_after_the_extra_turns_of_the_first_player():
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
def test_perft_of_small_boards_differs_between_rulesets(name, depth, leaves):
    ours = game(name)
    assert perft(ours, ours.start(), depth)[-1][0] == leaves
