"""Positions as text: accepted lines, and one helpful line for all others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import GameError, Position, game


def refusal(name: str, text: str) -> str:
    """The one-line message, without the name of the game."""
    of = game(name)
    with pytest.raises(GameError) as refused:
        of.parse(text)
    message = str(refused.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{of.name}: ")
    return message.removeprefix(f"{of.name}: ")


# ---------------------------------------------------------------------- sowing

FORMAT = 'a position is written like "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move"'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "S 1 1",
        "S 1 1, N 1 1, pots 0-0",
        "S 1 1, N 1 1, pots 0-0, East to move",
        "S 1 1, N 1 1, pots 0, South to move",
        "S 1 -1, N 1 1, pots 0-0, South to move",
        "S 1 x, N 1 1, pots 0-0, South to move",
        "N 1 1, S 1 1, pots 0-0, South to move",
        "S 1 1, N 1 1, pots 0-0, South to move,",
        "S 1 1, N 1 1, pots 0-0, South to move, 3",
        f"S 1 1, N 1 1, pots {'9' * 5000}-0, South to move",
        f"S {'9' * 5000} 1, N 1 1, pots 0-0, South to move",
        "S 1 1,\nN 1 1,\npots 0-0,\nEast to move",
    ],
)
def test_other_text_gets_an_example_of_a_sowing_position(text):
    assert FORMAT in refusal("kalah(2,1)", text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("S 1 1 1, N 1 1, pots 0-0", "South's row has 2 holes, got 3 numbers"),
        ("S 1 1, N 1, pots 0-0", "North's row has 2 holes, got 1 numbers"),
    ],
)
def test_a_row_of_the_wrong_length_is_refused(text, message):
    assert refusal("kalah(2,1)", f"{text}, South to move") == message


@pytest.mark.parametrize(
    "text",
    [
        "s 1 2 , n 3 4 , POTS 5 - 6 , north TO move",
        "  S 1 2, N 3 4, pots 5-6, North to move  ",
        "S 1  2,N 3\t4,pots 5-6,North  to  move",
        "S 01 2,\nN 3 4,\npots 5-6,\nNorth to move",
    ],
)
def test_case_and_spaces_of_a_sowing_position_do_not_matter(text):
    ours = game("kalah(2,1)")
    assert ours.text(ours.parse(text)) == "S 1 2, N 3 4, pots 5-6, North to move"


@pytest.mark.parametrize(
    ("name", "most"), [("kalah(2,1)", 255), ("kalah-manchester(2,1)", 255), ("kalah(8,1)", 65535)]
)
def test_more_beans_than_the_state_holds_are_refused(name, most):
    holes = int(name.partition("(")[2][0])
    row = " ".join(["1"] * holes)
    full = f"S {row}, N {row}, pots {most - 2 * holes}-%d, South to move"
    ours = game(name)
    assert ours.text(ours.parse(full % 0)) == full % 0
    assert refusal(name, full % 1) == f"a position holds at most {most} beans, got {most + 1}"


@pytest.mark.parametrize(
    ("sweep", "score"), [("owner", (4, 8)), ("ender", (4, 8)), ("nobody", (4, 5))]
)
def test_a_side_to_move_without_beans_is_swept(sweep, score):
    ours = game(f"kalah(3,2,sweep={sweep})")
    position = ours.parse("S 0 0 0, N 1 0 2, pots 4-5, South to move")
    assert ours.over(position)
    assert ours.score(position) == score
    assert ours.text(position) == f"S 0 0 0, N 0 0 0, pots {score[0]}-{score[1]}, South to move"


BOARD = "S 4 4, N 4 4, pots 0-0"
MANCHESTER, NOT_FIRST = "kalah-manchester(2,4)", "kalah(2,4,extra_turn=not-first)"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (MANCHESTER, "South to move"),
        (MANCHESTER, "North to move"),
        (MANCHESTER, "South to move, first ply"),
        (MANCHESTER, "South to move, first turn"),
        (MANCHESTER, "North to move, swap open"),
        (MANCHESTER, "South to move, sides swapped"),
        (MANCHESTER, "North to move, sides swapped"),
        (NOT_FIRST, "South to move, first ply"),
    ],
)
def test_phases_and_swaps_are_read_back(name, words):
    ours = game(name)
    assert ours.text(ours.parse(f"{BOARD}, {words}")) == f"{BOARD}, {words}"


@pytest.mark.parametrize(
    ("words", "whose", "got"),
    [
        ("North to move, first ply", "South", "North to move"),
        ("North to move, first turn", "South", "North to move"),
        ("South to move, swap open", "North", "South to move"),
        ("South to move, first ply, sides swapped", "South", "South to move, sides swapped"),
        ("South to move, sides swapped, first turn", "South", "South to move, sides swapped"),
        ("North to move, sides swapped, swap open", "North", "North to move, sides swapped"),
    ],
)
def test_contradictions_are_refused(words, whose, got):
    message = refusal(MANCHESTER, f"{BOARD}, {words}")
    assert f"needs {whose} to move and no swap before, got {got}" in message


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (MANCHESTER, "South to move, first ply, first turn"),
        (MANCHESTER, "North to move, swap open, swap open"),
        (MANCHESTER, "South to move, sides swapped, sides swapped"),
        (MANCHESTER, "South to move, first"),
        ("kalah(2,4)", "South to move, first ply"),
        ("kalah(2,4)", "North to move, swap open"),
        ("kalah(2,4)", "South to move, sides swapped"),
        (NOT_FIRST, "South to move, first turn"),
        (NOT_FIRST, "North to move, swap open"),
        (NOT_FIRST, "North to move, sides swapped"),
        ("kalah(9,4)", "North to move, swap open"),
    ],
)
def test_unknown_and_repeated_phases_are_refused(name, words):
    row = " ".join(["4"] * game(name).rules.holes)
    message = refusal(name, f"S {row}, N {row}, pots 0-0, {words}")
    assert f'"{words.split(", ")[-1]}" is not a phase of this game' in message


def test_the_names_on_the_board_follow_a_swap():
    ours = game(MANCHESTER)
    before, after = ours.replay("1 swap")[1:]
    assert ours.draw(before, ("Ada", "Bo")).split()[0] == "Bo"
    assert ours.draw(after, ("Ada", "Bo")).split()[0] == "Ada"
    drawn = game("owari").draw(game("owari").start(), ("Ada", "Bo")).splitlines()
    assert (drawn[0], drawn[-1].strip(), len(drawn)) == ("Bo", "Ada", 5)


# --------------------------------------------------------------------- Othello


@pytest.mark.parametrize(
    ("text", "squares", "mover"),
    [
        ("", 0, ""),
        ("X", 0, "X"),
        ("-" * 16, 0, "-" * 16),
        ("-" * 15 + " X", 15, "X"),
        ("-" * 17 + " X", 17, "X"),
        ("-" * 16 + " -", 16, "-"),
        ("-" * 16 + " black", 16, "black"),
    ],
)
def test_other_text_gets_the_size_of_the_board(text, squares, mover):
    assert refusal("othello(4)", text) == (
        "a position is 16 squares of X, O and - row by row and then the side to move, X or O, "
        f'got {squares} squares and "{mover}"'
    )


def test_unknown_squares_are_refused():
    assert refusal("othello(4)", "-" * 15 + "? X") == 'squares are X, O or -, got "?"'


@pytest.mark.parametrize(
    "text",
    [
        "-----OX--XO----- X",
        "---- -OX- -XO- ---- X",
        "----\n-OX-\n-XO-\n----\nX",
        ".....ox..xo..... x",
        "-----WB--BW----- B",
        "-----0*--*0----- *",
    ],
)
def test_boards_of_other_programs_are_read(text):
    ours = game("othello(4)")
    assert ours.parse(text) == ours.start()


@pytest.mark.parametrize("name", ["othello(4)", "othello-adjacent(4)", "othello(10)"])
def test_an_empty_board_is_over_and_a_tie(name):
    ours = game(name)
    cells = ours.rules.cells
    position = ours.parse("-" * cells + " X")
    assert ours.over(position)
    assert (ours.score(position), ours.raw_score(position)) == ((cells // 2,) * 2, (0, 0))


@pytest.mark.parametrize("size", [4, 8, 16])
def test_the_board_is_drawn_with_letters_and_numbers(size):
    ours = game(f"othello({size})")
    position = ours.start()
    head, *rows, foot = ours.draw(position).splitlines()
    assert head.split() == list("abcdefghijklmnop"[:size])
    assert [row.split()[0] for row in rows] == [str(row + 1) for row in range(size)]
    assert "".join("".join(row.split()[1:]) for row in rows) == ours.text(position).split()[0]
    assert foot == "X Black: 2   O White: 2"
    assert len({len(row) for row in rows}) == 1


def test_moves_have_several_spellings():
    ours = game("othello(4)")
    position = ours.parse("XO--" + "-" * 12 + " O")
    assert {ours.parse_move(position, word) for word in ("pass", "PASS", "pa", "--")} == {16}
    ours = game("othello(10)")
    assert ours.replay("d5d4") == ours.replay("d5 d4") == ours.replay("D5,d4")
    assert ours.notation.split("a10b2 pass j10") == ["a10", "b2", "pass", "j10"]


@pytest.mark.parametrize("name", ["kalah(1,1)", "othello(4)"])
@given(text=st.text(max_size=60) | st.text("SN 012,pots-uthrmveoXO\n", max_size=60))
def test_any_text_is_a_position_or_gets_one_line(name, text):
    try:
        assert isinstance(game(name).parse(text), Position)
    except GameError as error:
        assert len(str(error).splitlines()) == 1
