"""Positions written by hand: what a line may say, and one helpful line for what it may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import GameError, Position, game

SOWING_SHAPE = 'a position is written like "S 4 4 4 4 4 4, N 4 4 4 4 4 4, pots 0-0, South to move"'


def refusal(name: str, text: str) -> str:
    """The one line with which a position is refused; it begins with the game."""
    of = game(name)
    with pytest.raises(GameError) as refused:
        of.parse(text)
    message = str(refused.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{of.name}: ")
    return message


# ---------------------------------------------------------------------- sowing


@pytest.mark.parametrize(
    "text",
    [
        "",
        "S 1 1",
        "S 1 1, N 1 1",
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
def test_what_is_not_written_like_a_sowing_position_is_answered_with_an_example(text):
    assert SOWING_SHAPE in refusal("kalah(2,1)", text)


@pytest.mark.parametrize(
    "text",
    [
        "s 1 2 , n 3 4 , POTS 5 - 6 , north TO move",
        "  S 1 2, N 3 4, pots 5-6, North to move  ",
        "S 1  2,N 3\t4,pots 5-6,North  to  move",
        "S 01 2,\nN 3 4,\npots 5-6,\nNorth to move",
    ],
)
def test_case_and_blanks_of_a_sowing_position_are_free(text):
    ours = game("kalah(2,1)")
    assert ours.text(ours.parse(text)) == "S 1 2, N 3 4, pots 5-6, North to move"


@pytest.mark.parametrize(
    ("text", "side", "count"),
    [
        ("S 1 1 1, N 1 1, pots 0-0, South to move", "South", 3),
        ("S 1 1, N 1, pots 0-0, South to move", "North", 1),
    ],
)
def test_a_row_of_another_length_is_refused(text, side, count):
    wanted = f"kalah(2,1): {side}'s row has 2 holes, got {count} numbers"
    assert refusal("kalah(2,1)", text) == wanted


@pytest.mark.parametrize(
    ("name", "most"), [("kalah(2,1)", 255), ("kalah-manchester(2,1)", 255), ("kalah(8,1)", 65535)]
)
def test_more_beans_than_the_state_holds_are_refused(name, most):
    holes = int(name.partition("(")[2][0])
    row = " ".join(["1"] * holes)
    full = f"S {row}, N {row}, pots {most - 2 * holes}-%d, South to move"
    ours = game(name)
    assert ours.text(ours.parse(full % 0)) == full % 0
    wanted = f"{name}: a position holds at most {most} beans, got {most + 1}"
    assert refusal(name, full % 1) == wanted


@pytest.mark.parametrize(
    ("sweep", "score"), [("owner", (4, 8)), ("ender", (4, 8)), ("nobody", (4, 5))]
)
def test_a_side_to_move_without_beans_is_swept(sweep, score):
    ours = game(f"kalah(3,2,sweep={sweep})")
    position = ours.parse("S 0 0 0, N 1 0 2, pots 4-5, South to move")
    assert ours.over(position)
    assert ours.score(position) == score
    assert ours.text(position) == f"S 0 0 0, N 0 0 0, pots {score[0]}-{score[1]}, South to move"


# ------------------------------------------------------- the first turn and the swap

BOARD = "S 4 4, N 4 4, pots 0-0"
MANCHESTER = "kalah-manchester(2,4)"


@pytest.mark.parametrize(
    "words",
    [
        "South to move",
        "North to move",
        "South to move, first ply",
        "South to move, first turn",
        "North to move, swap open",
        "South to move, sides swapped",
        "North to move, sides swapped",
    ],
)
def test_what_can_be_true_of_a_first_turn_is_read_back(words):
    ours = game(MANCHESTER)
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
def test_words_that_contradict_each_other_are_refused(words, whose, got):
    message = refusal(MANCHESTER, f"{BOARD}, {words}")
    assert f"is {whose}'s turn, before any swap; got {got}" in message


@pytest.mark.parametrize(
    "words",
    [
        "South to move, first ply, first turn",
        "North to move, swap open, swap open",
        "South to move, sides swapped, sides swapped",
        "South to move, first",
    ],
)
def test_a_second_phase_or_an_unknown_one_is_refused(words):
    assert f'"{words.split(", ")[-1]}" means nothing here' in refusal(
        MANCHESTER, f"{BOARD}, {words}"
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kalah(2,4)", "South to move, first ply"),
        ("kalah(2,4)", "North to move, swap open"),
        ("kalah(2,4)", "South to move, sides swapped"),
        ("kalah(2,4,extra_turn=not-first)", "South to move, first turn"),
        ("kalah(2,4,extra_turn=not-first)", "North to move, swap open"),
        ("kalah(2,4,extra_turn=not-first)", "North to move, sides swapped"),
        ("kalah(9,4)", "North to move, swap open"),
    ],
)
def test_words_of_rules_that_the_game_has_not_are_refused(name, words):
    row = " ".join(["4"] * game(name).rules.holes)
    text = f"S {row}, N {row}, pots 0-0, {words}"
    assert f'"{words.split(", ")[1]}" means nothing here' in refusal(name, text)


def test_a_first_ply_without_extra_turn_is_all_that_not_first_knows():
    ours = game("kalah(2,4,extra_turn=not-first)")
    assert ours.text(ours.start()).endswith("South to move, first ply")


def test_the_names_in_the_picture_follow_the_players_through_a_swap():
    ours = game(MANCHESTER)
    before, after = ours.replay("1 swap")[1:]
    assert ours.draw(before, ("Ada", "Bo")).split()[0] == "Bo"
    assert ours.draw(after, ("Ada", "Bo")).split()[0] == "Ada"


def test_owari_can_name_its_players():
    drawn = game("owari").draw(game("owari").start(), ("Ada", "Bo")).splitlines()
    assert (drawn[0], drawn[-1].strip()) == ("Bo", "Ada")
    assert len(drawn) == 5


@given(st.text(max_size=60) | st.text("SN 012,pots-uthrmveo\n", max_size=60))
def test_any_text_is_a_sowing_position_or_refused_in_one_line(text):
    try:
        assert isinstance(game("kalah(1,1)").parse(text), Position)
    except GameError as error:
        assert len(str(error).splitlines()) == 1


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
def test_what_is_not_written_like_a_board_is_answered_with_its_size(text, squares, mover):
    assert refusal("othello(4)", text) == (
        "othello(4): a position is 16 squares of X, O and - row by row and then the side to move, "
        f'X or O, got {squares} squares and "{mover}"'
    )


def test_a_square_holds_a_disc_or_nothing():
    assert refusal("othello(4)", "-" * 15 + "? X") == ('othello(4): squares are X, O or -, got "?"')


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
def test_boards_are_read_in_the_letters_of_many_programs(text):
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
def test_the_board_is_drawn_with_letters_above_and_numbers_at_the_side(size):
    ours = game(f"othello({size})")
    position = ours.start()
    head, *rows, foot = ours.draw(position).splitlines()
    assert head.split() == list("abcdefghijklmnop"[:size])
    assert [row.split()[0] for row in rows] == [str(row + 1) for row in range(size)]
    assert "".join("".join(row.split()[1:]) for row in rows) == ours.text(position).split()[0]
    assert foot == "X Black: 2   O White: 2"
    assert len({len(row) for row in rows}) == 1


@pytest.mark.parametrize("word", ["pass", "PASS", "pa", "--"])
def test_a_pass_has_many_words(word):
    ours = game("othello(4)")
    position = ours.parse("XO--" + "-" * 12 + " O")
    assert ours.parse_move(position, word) == 16


def test_squares_may_be_written_without_a_gap():
    ours = game("othello(10)")
    assert ours.replay("d5d4") == ours.replay("d5 d4") == ours.replay("D5,d4")
    assert ours.notation.split("a10b2 pass j10") == ["a10", "b2", "pass", "j10"]


@given(st.text(max_size=30) | st.text("XO- \n", max_size=30))
def test_any_text_is_a_board_or_refused_in_one_line(text):
    try:
        assert isinstance(game("othello(4)").parse(text), Position)
    except GameError as error:
        assert len(str(error).splitlines()) == 1
