"""Names of games: accepted spellings, and one helpful line for all others."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import NAMES, Game, GameError, game
from games.base.text import quote


def refusal(text: str) -> str:
    with pytest.raises(GameError) as refused:
        game(text)
    message = str(refused.value)
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("kalahh", "kalah"),
        ("mancala(6,4)", "kalah"),
        ("kalah_2022", "kalah-2022"),
        ("kalah-manchestr(7,7)", "kalah-manchester"),
        ("oware", "owari"),
        ("othello-adjecent", "othello-adjacent"),
        ("xyzzy", ""),
    ],
)
def test_an_unknown_game_gets_all_names_and_the_nearest(text, nearest):
    near = f'; did you mean "{nearest}"?' if nearest else ""
    name = text.partition("(")[0]
    assert refusal(text) == f'there is no game "{name}" (there are {", ".join(NAMES)}){near}'


SOWING = (
    "holes, beans, extra_turn, capture, capture_needs_nonempty, end_when, majority_ends, "
    "swap, opponent_pot, skip_start, sweep"
)


@pytest.mark.parametrize(
    ("text", "known", "nearest"),
    [
        ("kalah(6,4,swp=yes)", SOWING, "swap"),
        ("kalah(hole=3)", SOWING, "holes"),
        ("kalah-kgp(6,4,majority=no)", SOWING, "majority_ends"),
        ("owari(captures=both)", SOWING, "capture"),
        ("kalah(extra-turn=no)", SOWING, "extra_turn"),
        ("othello(sise=8)", "size", "size"),
        ("othello(8,adjacency=4)", "size", ""),
        ("othello-adjacent(8,adjacent=4)", "size, adjacency", "adjacency"),
    ],
)
def test_an_unknown_parameter_gets_all_names_and_the_nearest(text, known, nearest):
    name, key = text.partition("(")[0], re.search(r"([\w-]+)=", text)[1]
    near = f'; did you mean "{nearest}"?' if nearest else ""
    assert refusal(text) == f'{name} has no parameter "{key}" (there are {known}){near}'


HOLES = "holes must be a whole number from 1 to 16"
BEANS = "beans must be a whole number from 0 to 16"
SIZE = "size must be an even number from 4 to 16"


@pytest.mark.parametrize(
    ("text", "allowed", "got", "nearest"),
    [
        ("kalah(extra_turn=often)", "extra_turn must be one of yes, no, not-first", "often", ""),
        ("kalah(capture=bth)", "capture must be one of both, opposite, none", "bth", "both"),
        ("kalah(capture_needs_nonempty=1)", "must be one of yes, no", "1", ""),
        ("kalah(end_when=mvoer)", "end_when must be one of either, mover", "mvoer", "mover"),
        ("kalah(majority_ends=half)", "majority_ends must be one of yes, no", "half", ""),
        ("kalah(swap=true)", "swap must be one of yes, no", "true", ""),
        ("kalah(skip_start=)", "skip_start must be one of yes, no", "", ""),
        ("kalah(sweep=own)", "sweep must be one of owner, ender, nobody", "own", "owner"),
        ("othello-adjacent(8,adjacency=5)", "adjacency must be one of 4, 8", "5", ""),
    ],
)
def test_an_unknown_value_gets_all_values_and_the_nearest(text, allowed, got, nearest):
    message = refusal(text)
    assert message.startswith(f"{text.partition('(')[0]}: ")
    assert f'{allowed}, got "{got}"' in message
    assert message.endswith(f'; did you mean "{nearest}"?') == bool(nearest)


@pytest.mark.parametrize(
    ("text", "allowed", "got", "nearest"),
    [
        ("kalah(0,4)", HOLES, "0", 1),
        ("kalah(17)", HOLES, "17", 16),
        ("kalah-2022(-1,4)", HOLES, "-1", 1),
        ("kalah-paper(99999999999999999999,4)", HOLES, "99999999999999999999", 16),
        ("owari(beans=100)", BEANS, "100", 16),
        ("owari(6,-1)", BEANS, "-1", 0),
        ("othello(18)", SIZE, "18", 16),
        ("othello(7)", SIZE, "7", 6),
        ("othello-adjacent(-8)", SIZE, "-8", 4),
        ("othello-adjacent(size=15)", SIZE, "15", 14),
        ("kalah(six,4)", HOLES, "six", None),
        ("kalah(6.0,4)", HOLES, "6.0", None),
        ("kalah(6,)", BEANS, "", None),
        ("kalah(6 4)", HOLES, "6 4", None),
        ("kalah(\uff16,4)", HOLES, "\uff16", None),
        ("kalah(6,1e1)", BEANS, "1e1", None),
        (f"kalah({'9' * 70})", HOLES, "9" * 70, None),
        ("othello(large)", SIZE, "large", None),
    ],
)
def test_a_bad_size_gets_the_range_and_the_nearest(text, allowed, got, nearest):
    near = "" if nearest is None else f"; the nearest is {nearest}"
    assert refusal(text) == f'{text.partition("(")[0]}: {allowed}, got "{got}"{near}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kalah(6,4,5)", 'kalah takes holes, beans and then key=value, got "5" in place 3'),
        ("kalah(6,4,swap)", 'kalah takes holes, beans and then key=value, got "swap" in place 3'),
        ("othello(8,8)", 'othello takes size and then key=value, got "8" in place 2'),
        ("kalah(6,4,holes=3)", 'kalah: holes is given twice, "6" and "3"'),
        ("kalah(swap=yes,swap=no)", 'kalah: swap is given twice, "yes" and "no"'),
    ],
)
def test_too_many_arguments_are_refused(text, message):
    assert refusal(text) == message


@pytest.mark.parametrize(
    "text",
    ["", " ", "()", "(6,4)", "kalah(6,4", "kalah 6 4", "kalah(6,4)x", "kalah((6,4))", "a\nb(6)"],
)
def test_other_text_gets_an_example(text):
    assert refusal(text) == f'a game is written like "kalah(6,4)", got {quote(text)}'


def test_a_message_quotes_the_text_shortened_on_one_line():
    assert quote("a\n\x1b\u2028b") == r'"a\n\x1b\u2028b"'
    assert quote("é") == '"é"'
    assert quote("x" * 1000) == f'"{"x" * 77}..."'


@given(
    st.text(max_size=30)
    | st.text("kalhoewri(),=-0123456789 \n", max_size=30)
    | st.builds(
        "{}({})".format,
        st.sampled_from(NAMES),
        st.text("0123456789,=- yesnowapcturbh_", max_size=30),
    )
)
def test_any_text_is_a_game_or_gets_one_line(text):
    try:
        assert isinstance(game(text), Game)
    except GameError as error:
        assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("kalah", "kalah(6,4)"),
        ("kalah()", "kalah(6,4)"),
        (" KALAH ( 6 , 4 ) ", "kalah(6,4)"),
        ("Kalah\t(06,\n+4)", "kalah(6,4)"),
        ("kalah(3)", "kalah(3,4)"),
        ("kalah(beans=2)", "kalah(6,2)"),
        ("kalah(beans=2,holes=3)", "kalah(3,2)"),
        ("Kalah(3,2,SWAP=Yes, Capture = NONE)", "kalah(3,2,capture=none,swap=yes)"),
        ("kalah(6,4,swap=no)", "kalah(6,4)"),
        ("kalah(6,4,end_when=mover)", "kalah(6,4,end_when=mover)"),
        ("kalah-2022(6,4,end_when=either)", "kalah-2022(6,4,end_when=either)"),
        ("kalah-manchester", "kalah-manchester(7,7)"),
        (
            "kalah-manchester(6,4,swap=no,extra_turn=yes)",
            "kalah-manchester(6,4,extra_turn=yes,swap=no)",
        ),
        ("owari", "owari(6,3)"),
        ("othello( size = 10 )", "othello(10)"),
        ("othello-adjacent(8,adjacency=8)", "othello-adjacent(8)"),
        ("OTHELLO-ADJACENT(8,ADJACENCY=4)", "othello-adjacent(8,adjacency=4)"),
        *((name, name) for name in ("kalah(1,0)", "kalah(16,16)", "othello(4)", "othello(16)")),
    ],
)
def test_all_spellings_of_a_game_have_one_name(text, name):
    made = game(text)
    assert made.name == name
    assert game(made.name) is game(made.name.upper()) is made
