"""Names of games: what is tolerated, and one helpful line for everything else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import GAMES, NAMES, Game, GameError, game
from games.base.text import quote

SOWING_PARAMETERS = (
    "holes, beans, extra_turn, capture, capture_needs_nonempty, end_when, majority_ends, "
    "swap, opponent_pot, skip_start, sweep"
)


def refusal(text: str) -> str:
    """The one line with which a name is refused."""
    with pytest.raises(GameError) as refused:
        game(text)
    message = str(refused.value)
    assert len(message.splitlines()) == 1
    return message


# -------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("kalahh", "kalah"),
        ("mancala(6,4)", "kalah"),
        ("kalah_2022", "kalah-2022"),
        ("kalah-manchestr(7,7)", "kalah-manchester"),
        ("kalah-kpg", "kalah-kgp"),
        ("oware", "owari"),
        ("otello(8)", "othello"),
        ("othello-adjecent", "othello-adjacent"),
    ],
)
def test_an_unknown_game_is_answered_with_the_nearest_and_with_all(text, nearest):
    name = text.partition("(")[0]
    assert refusal(text) == (
        f'there is no game "{name}" (there are {", ".join(NAMES)}); did you mean "{nearest}"?'
    )


def test_a_name_like_no_other_is_answered_with_all_names():
    assert refusal("xyzzy").endswith(f"(there are {', '.join(GAMES)})")


@pytest.mark.parametrize(
    ("text", "known", "nearest"),
    [
        ("kalah(6,4,swp=yes)", SOWING_PARAMETERS, "swap"),
        ("kalah(hole=3)", SOWING_PARAMETERS, "holes"),
        ("kalah-kgp(6,4,majority=no)", SOWING_PARAMETERS, "majority_ends"),
        ("owari(captures=both)", SOWING_PARAMETERS, "capture"),
        ("kalah(extra-turn=no)", SOWING_PARAMETERS, "extra_turn"),
        ("othello(sise=8)", "size", "size"),
        ("othello-adjacent(8,adjacent=4)", "size, adjacency", "adjacency"),
    ],
)
def test_an_unknown_parameter_is_answered_with_the_nearest_and_with_all(text, known, nearest):
    key = re.search(r"([\w-]+)=", text)[1]
    assert refusal(text) == (
        f'{text.partition("(")[0]} has no parameter "{key}" (there are {known}); '
        f'did you mean "{nearest}"?'
    )


def test_only_the_adjacent_rule_has_an_adjacency():
    assert refusal("othello(8,adjacency=4)") == (
        'othello has no parameter "adjacency" (there are size)'
    )


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("kalah(6,4,extra_turn=often)", "extra_turn must be one of yes, no, not-first"),
        ("kalah(6,4,capture=all)", "capture must be one of both, opposite, none"),
        ("kalah(capture_needs_nonempty=1)", "capture_needs_nonempty must be one of yes, no"),
        ("kalah(end_when=both)", "end_when must be one of either, mover"),
        ("kalah(majority_ends=half)", "majority_ends must be one of yes, no"),
        ("kalah(swap=true)", "swap must be one of yes, no"),
        ("kalah(opponent_pot=2)", "opponent_pot must be one of yes, no"),
        ("kalah(skip_start=)", "skip_start must be one of yes, no"),
        ("kalah(sweep=me)", "sweep must be one of owner, ender, nobody"),
        ("othello-adjacent(8,adjacency=5)", "adjacency must be one of 4, 8"),
    ],
)
def test_a_value_that_does_not_exist_is_answered_with_those_that_do(text, allowed):
    value = re.search(r"=([^)]*)\)", text)[1]
    assert f'{text.partition("(")[0]}: {allowed}, got "{value}"' in refusal(text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("kalah(capture=bth)", "both"),
        ("kalah(extra_turn=not-frst)", "not-first"),
        ("kalah(sweep=own)", "owner"),
        ("kalah(end_when=mvoer)", "mover"),
    ],
)
def test_a_misspelt_value_is_answered_with_the_nearest(text, nearest):
    assert refusal(text).endswith(f'; did you mean "{nearest}"?')


HOLES = "holes must be a whole number from 1 to 16"
BEANS = "beans must be a whole number from 0 to 16"
SIZE = "size must be an even number from 4 to 16"


@pytest.mark.parametrize(
    ("text", "allowed", "got", "nearest"),
    [
        ("kalah(0,4)", HOLES, "0", 1),
        ("kalah(17)", HOLES, "17", 16),
        ("kalah-2022(-1,4)", HOLES, "-1", 1),
        ("kalah-paper(99999999999999999999,4)", HOLES, "99999999999999999999", 16),
        ("kalah-kgp(6,17)", BEANS, "17", 16),
        ("owari(6,-1)", BEANS, "-1", 0),
        ("owari(beans=100)", BEANS, "100", 16),
        ("othello(2)", SIZE, "2", 4),
        ("othello(18)", SIZE, "18", 16),
        ("othello(7)", SIZE, "7", 6),
        ("othello-adjacent(-8)", SIZE, "-8", 4),
        ("othello-adjacent(size=15)", SIZE, "15", 14),
    ],
)
def test_a_size_out_of_range_is_answered_with_the_range_and_the_nearest(
    text, allowed, got, nearest
):
    name = text.partition("(")[0]
    assert refusal(text) == f'{name}: {allowed}, got "{got}"; the nearest is {nearest}'


@pytest.mark.parametrize(
    ("text", "allowed", "got"),
    [
        ("kalah(six,4)", HOLES, "six"),
        ("kalah(6.0,4)", HOLES, "6.0"),
        ("kalah(6,)", BEANS, ""),
        ("kalah(6 4)", HOLES, "6 4"),
        ("kalah(0x6,4)", HOLES, "0x6"),
        ("kalah(\uff16,4)", HOLES, "\uff16"),
        ("kalah(6,1e1)", BEANS, "1e1"),
        (f"kalah({'9' * 70})", HOLES, "9" * 70),
        ("othello(large)", SIZE, "large"),
    ],
)
def test_a_size_that_is_no_number_is_answered_with_the_range(text, allowed, got):
    assert refusal(text) == f'{text.partition("(")[0]}: {allowed}, got "{got}"'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kalah(6,4,5)", 'kalah takes holes, beans and then key=value, got "5" in place 3'),
        ("kalah(6,4,swap)", 'kalah takes holes, beans and then key=value, got "swap" in place 3'),
        ("othello(8,8)", 'othello takes size and then key=value, got "8" in place 2'),
        ("kalah(6,4,holes=3)", 'kalah: holes is given twice, "6" and "3"'),
        ("kalah(beans=2,3)", 'kalah: beans is given twice, "2" and "3"'),
        ("kalah(swap=yes,swap=no)", 'kalah: swap is given twice, "yes" and "no"'),
    ],
)
def test_too_many_arguments_are_refused(text, wanted):
    assert refusal(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["", " ", "()", "(6,4)", "kalah(6,4", "kalah 6 4", "kalah(6,4)x", "kalah((6,4))", "a\nb(6)"],
)
def test_what_is_not_written_like_a_game_is_answered_with_an_example(text):
    assert refusal(text) == f'a game is written like "kalah(6,4)", got {quote(text)}'


def test_a_message_repeats_what_was_written_on_one_line_but_not_without_end():
    assert quote("a\n\x1b\u2028b") == r'"a\n\x1b\u2028b"'
    assert quote("é") == '"é"'
    assert quote("x" * 1000) == f'"{"x" * 77}..."'


@given(st.text(max_size=30) | st.text("kalhoewri(),=-0123456789 \n", max_size=30))
def test_any_text_is_a_game_or_refused_in_one_line(text):
    try:
        assert isinstance(game(text), Game)
    except GameError as error:
        assert len(str(error).splitlines()) == 1


@given(st.sampled_from(NAMES), st.text("0123456789,=- yesnowapcturbh_", max_size=30))
def test_any_arguments_make_a_game_or_are_refused_in_one_line(name, arguments):
    try:
        assert game(f"{name}({arguments})").name.startswith(f"{name}(")
    except GameError as error:
        assert len(str(error).splitlines()) == 1


# ------------------------------------------------------------ what is tolerated


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
        ("kalah-2022", "kalah-2022(6,4)"),
        ("kalah-2022(6,4,end_when=either)", "kalah-2022(6,4,end_when=either)"),
        ("kalah-manchester", "kalah-manchester(7,7)"),
        ("kalah-manchester(6,4,swap=no,extra_turn=yes)", None),
        ("owari", "owari(6,3)"),
        ("Othello", "othello(8)"),
        ("othello( size = 10 )", "othello(10)"),
        ("othello-adjacent(6)", "othello-adjacent(6)"),
        ("othello-adjacent(8,adjacency=8)", "othello-adjacent(8)"),
        ("OTHELLO-ADJACENT(8,ADJACENCY=4)", "othello-adjacent(8,adjacency=4)"),
    ],
)
def test_a_game_has_one_name_however_it_is_written(text, name):
    made = game(text)
    assert made.name == (name or "kalah-manchester(6,4,extra_turn=yes,swap=no)")
    assert game(made.name) is made
    assert game(made.name.upper()) is made


@pytest.mark.parametrize("name", ["kalah(1,0)", "kalah(16,16)", "othello(4)", "othello(16)"])
def test_the_ends_of_the_ranges_are_allowed(name):
    assert game(name).name == name
