"""The worked examples of the sowing rules, as a reader would play them through by hand."""

import re

import pytest

from games import game
from tests.games.written import after, legal, replayed, rows

SOWING = ["kalah", "kalah-2022", "kalah-paper", "kalah-kgp", "kalah-manchester", "owari"]


# --------------------------------------------------------------- the numberings


def test_display_numbers_run_left_to_right_on_both_rows():
    ours = game("kalah")
    south = ours.start()
    north = ours.play(south, 0)
    assert [ours.move_text(south, move) for move in ours.legal(south)] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
    ]
    assert [ours.move_text(north, move) for move in ours.legal(north)] == [
        "6",
        "5",
        "4",
        "3",
        "2",
        "1",
    ]


def test_owari_pits_run_around_the_board():
    ours = game("owari")
    south = ours.start()
    north = ours.play(south, 0)
    assert [ours.move_text(south, move) for move in ours.legal(south)] == [
        str(pit) for pit in range(6)
    ]
    assert [ours.move_text(north, move) for move in ours.legal(north)] == [
        str(pit) for pit in range(7, 13)
    ]


# ----------------------------------------------------------------- the pictures


def test_kalah_is_drawn_with_names_and_numbers():
    ours = game("kalah")
    assert ours.draw(ours.start()) == "\n".join(
        [
            "North player",
            "    1 2 3 4 5 6",
            "- - - - - - - - - -",
            "    4 4 4 4 4 4",
            " 0               0",
            "    4 4 4 4 4 4",
            "- - - - - - - - - -",
            "    1 2 3 4 5 6",
            "                South player",
        ]
    )


def test_owari_is_drawn_without_numbers():
    ours = game("owari")
    assert ours.draw(ours.start()) == "\n".join(
        [
            "   3 3 3 3 3 3",
            "0                   0",
            "   3 3 3 3 3 3",
        ]
    )


def ends(line: str) -> list[int]:
    """The columns in which the words of a line end."""
    return [word.end() for word in re.finditer(r"\S+", line)]


def test_two_digit_holes_keep_the_columns_of_the_picture_straight():
    ours = game("kalah")
    position = ours.parse("S 10 1 2 3 4 15, N 1 12 3 4 5 6, pots 0-11, South to move")
    _, above, _, north, pots, south, _, below, _ = ours.draw(position).splitlines()
    assert north.split() == ["1", "12", "3", "4", "5", "6"]
    assert south.split() == ["10", "1", "2", "3", "4", "15"]
    assert pots.split() == ["11", "0"]
    assert ends(above) == ends(north) == ends(south) == ends(below)


def test_names_can_be_given():
    ours = game("kalah")
    first, *_, last = ours.draw(ours.start(), ("Ada", "Bo")).splitlines()
    assert (first.strip(), last.strip()) == ("Bo", "Ada")


# ------------------------------------------------------- board operations (3,2)


def test_new_board():
    ours = game("kalah(3,2)")
    assert ours.text(ours.start()) == "S 2 2 2, N 2 2 2, pots 0-0, South to move"


def test_sowing_hole_3_after_hole_2_was_moved_to_the_pot():
    before = "S 1 0 2, N 2 2 2, pots 2-0, South to move"
    assert after("kalah(3,2)", before, "3") == "S 1 0 0, N 2 2 3, pots 3-0, North to move"


def test_with_hole_2_empty_south_must_answer_1_or_3():
    assert legal("kalah(3,2)", "S 2 0 2, N 2 2 2, pots 0-0, South to move") == ["1", "3"]


# ----------------------------------------------------------- a game, ply by ply

TRACE = "S 2 0 0, N 0 1 2, pots 0-0, South to move"


def only_moves(name: str, text: str) -> list[tuple[str, str, tuple[int, int]]]:
    """The game from a position in which every move is the only one: move, rows, pots."""
    ours = game(name)
    position, plies = ours.parse(text), []
    while not ours.over(position):
        (move,) = ours.legal(position)
        side, number = "SN"[ours.mover(position)], ours.move_text(position, move)
        position = ours.play(position, move)
        plies.append((side + number, rows(ours.text(position)), ours.score(position)))
    return plies


@pytest.mark.parametrize("name", ["kalah", "kalah-2022", "kalah-manchester"])
def test_a_game_of_only_moves(name):
    assert only_moves(f"{name}(3,2)", TRACE) == [
        ("S1", "S 0 1 0, N 0 1 0", (3, 0)),
        ("N2", "S 0 1 0, N 1 0 0", (3, 0)),
        ("S2", "S 0 0 1, N 1 0 0", (3, 0)),
        ("N1", "S 0 0 0, N 0 0 0", (4, 1)),
    ]


def test_under_majority_it_ends_after_ply_1():
    assert only_moves("kalah-kgp(3,2)", TRACE) == [("S1", "S 0 0 0, N 0 0 0", (4, 1))]


def test_with_empty_captures_it_ends_after_ply_2():
    assert only_moves("kalah-paper(3,2)", TRACE) == [
        ("S1", "S 0 1 0, N 0 1 0", (3, 0)),
        ("N2", "S 0 0 0, N 0 0 0", (4, 1)),
    ]


# ------------------------------------------------------------ first moves (6,4)


def test_first_moves_of_kalah():
    assert replayed("kalah(6,4)", "1 1") == [
        "S 0 5 5 5 5 4, N 4 4 4 4 4 4, pots 0-0, North to move",
        "S 1 6 6 5 5 4, N 0 4 4 4 4 4, pots 0-1, South to move",
    ]


def test_first_moves_of_owari():
    first = "S 3 3 3 3 0 4, N 3 3 3 3 3 4, pots 1-0"
    assert replayed("owari", "4") == [f"{first}, North to move"]
    captured = "S 3 0 4 4 1 4, N 3 3 3 3 0 4, pots 4-0, North to move"
    assert after("owari", f"{first}, South to move", "1") == captured


# ---------------------------------------------------------------- one-ply cases

# Rows in sowing order for their owner; South moves. Presets that are not named do as `kalah`.
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
    "the mover empties his row": (
        "S 0 0 0 3, N 1 0 2 1, pots 5-5",
        4,
        {
            "kalah": "over 6-11",
            "kalah-2022": "S 0 0 0 0, N 2 1 2 1, pots 6-5, North to move",
        },
    ),
    "the mover empties his row into his pot": (
        "S 0 0 0 1, N 1 0 2 1, pots 5-5",
        4,
        {"kalah": "over 6-9"},
    ),
    "a capture empties the other row": (
        "S 1 0 0 2, N 0 0 3 0, pots 4-4",
        1,
        {"kalah": "over 10-4"},
    ),
    "a bean more than half": (
        "S 0 0 2 1, N 1 1 1 1, pots 8-1",
        4,
        {
            "kalah": "S 0 0 2 0, N 1 1 1 1, pots 9-1, South to move",
            "kalah-kgp": "over 11-5",
            "owari": "S 0 0 2 0, N 1 1 1 1, pots 9-1, North to move",
        },
    ),
    "the other row is empty already": (
        "S 2 0 1, N 0 0 0, pots 4-5",
        3,
        {"kalah": "over 7-5", "kalah-2022": "S 2 0 0, N 0 0 0, pots 5-5, South to move"},
    ),
}


def in_display_order(text: str) -> str:
    """A one-line text whose rows are in sowing order, with North's row turned round."""
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
