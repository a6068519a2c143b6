"""A person at the terminal: asked until the answer can be played, and never a traceback."""

import io

import pytest

from agents.core import AgentSpec, GameOver
from agents.kinds.human import Dialogue, HumanAgent, Level, Quit, Undo
from agents.registry import build
from games import game
from tests.agents.given import GAMES, forced_passes, positions


def asked(of: str, text: str, *answers: str, draws: bool = False) -> tuple[HumanAgent, object]:
    """A person with these answers, and the position."""
    person = HumanAgent(
        AgentSpec("human"),
        game(of),
        Dialogue(io.StringIO("".join(f"{answer}\n" for answer in answers)), io.StringIO()),
        "Ada",
        draws,
    )
    return person, game(of).parse(text) if text else game(of).start()


def said(person: HumanAgent) -> str:
    """All that the person has seen."""
    return person.dialogue._target.getvalue()


SOUTH = "S 4 0 5 5 5 4, N 4 4 4 4 4 4, pots 1-0, South to move"
NORTH = "S 4 0 5 5 5 4, N 4 4 4 4 0 4, pots 1-4, North to move"
OWARI = "S 3 3 3 0 3 3, N 3 0 3 3 3 3, pots 3-3, North to move"
OTHELLO = "--------" * 3 + "---OX---" + "---XO---" + "--------" * 3 + " X"


@pytest.mark.parametrize(
    ("of", "text", "answer", "move"),
    [
        ("kalah", SOUTH, "3", 2),
        ("kalah", NORTH, "3", 3),
        ("kalah", NORTH, " 06 ", 0),
        ("owari", OWARI, "7", 0),
        ("owari", OWARI, "12", 5),
        ("othello", OTHELLO, "D3", 19),
        ("kalah-manchester", "", "7", 6),
    ],
)
def test_a_move_is_told_by_the_numbers_on_the_board(of, text, answer, move):
    person, position = asked(of, text, answer)
    assert person.choose(position).move == move


def test_the_second_player_may_swap_by_that_word():
    of = game("kalah-manchester")
    person, _ = asked(of.name, "", "Swap")
    position = of.play(of.start(), 3)
    assert person.choose(position).move == of.swap_move
    assert "Ada (North), your hole (1 to 7) or swap: " in said(person)


@pytest.mark.parametrize(
    ("of", "text", "prompt"),
    [
        ("kalah", SOUTH, "Ada (South), your hole (1 to 6): "),
        ("kalah(3,2)", "", "Ada (South), your hole (1 to 3): "),
        ("owari", OWARI, "Ada (North), your pit (7 to 12): "),
        ("owari", "", "Ada (South), your pit (0 to 5): "),
        ("othello", "", "Ada (X), your square (a1 to h8): "),
        ("othello-adjacent(10)", "", "Ada (X), your square (a1 to j10): "),
    ],
)
def test_a_person_is_asked_by_name_and_side(of, text, prompt):
    person, position = asked(of, text)
    with pytest.raises(Quit):
        person.choose(position)
    assert said(person) == prompt + "\n"


@pytest.mark.parametrize(
    ("of", "text", "answer", "why"),
    [
        ("kalah", SOUTH, "x", '"x" is not the number of a hole: choose a hole (1 to 6)'),
        ("kalah", SOUTH, "", '"" is not the number of a hole: choose a hole (1 to 6)'),
        ("kalah", SOUTH, "2.5", '"2.5" is not the number of a hole'),
        ("kalah", SOUTH, "7", "there is no hole 7: choose a hole (1 to 6)"),
        ("kalah", SOUTH, "-1", "there is no hole -1: choose a hole (1 to 6)"),
        ("kalah", SOUTH, "0", "0 is a pot, its beans stay there: choose a hole (1 to 6)"),
        ("kalah", SOUTH, "2", "hole 2 is empty; not empty: 1 3 4 5 6"),
        ("kalah", NORTH, "5", "hole 5 is empty; not empty: 1 2 3 4 6"),
        ("kalah", SOUTH, "swap", '"swap" is not the number of a hole'),
        ("kalah-manchester", "", "swap", "swap is only for North's first turn"),
        ("owari", OWARI, "3", "pit 3 is South's: choose a pit (7 to 12)"),
        ("owari", OWARI, "6", "6 is a pot, its beans stay there"),
        ("owari", OWARI, "13", "13 is a pot, its beans stay there"),
        ("owari", OWARI, "14", "there is no pit 14"),
        ("owari", OWARI, "11", "pit 11 is empty; not empty: 7 8 9 10 12"),
        ("othello", OTHELLO, "z9", '"z9" is not a square (a1 to h8); playable: d3 c4 f5 e6'),
        ("othello", OTHELLO, "i1", '"i1" is not a square (a1 to h8)'),
        ("othello", OTHELLO, "d4", "d4 is taken; playable: d3 c4 f5 e6"),
        ("othello", OTHELLO, "a1", "a disc on a1 turns no disc; playable: d3 c4 f5 e6"),
        ("othello", OTHELLO, "pass", "you may pass only when you have no move"),
        ("othello-adjacent", OTHELLO, "a1", "a disc on a1 touches no disc"),
        ("kalah", SOUTH, "\x1b[A", r'"\x1b[A" is not the number of a hole'),
        ("kalah", SOUTH, "9" * 5000, "is not the number of a hole"),
    ],
)
def test_an_answer_that_cannot_be_played_is_explained_and_asked_again(of, text, answer, why):
    person, position = asked(of, text, *[answer] * 30)
    with pytest.raises(Quit):
        person.choose(position)
    assert said(person).count(why) == 30
    assert said(person).count("Ada (") == 31


def test_the_answer_after_many_bad_ones_is_played():
    person, position = asked("kalah", SOUTH, *"xyz02", "6")
    assert person.choose(position).move == 5


@pytest.mark.parametrize("word", ["help", "HELP", "?"])
def test_help_tells_the_moves_and_the_commands(word):
    person, position = asked("kalah", SOUTH, word, "1")
    assert person.choose(position).move == 0
    assert "now you can choose 1 3 4 5 6." in said(person)
    assert all(command in said(person) for command in ("undo", "level 6", "quit", "help"))


@pytest.mark.parametrize(
    ("word", "wish"), [("undo", Undo), ("UNDO", Undo), ("quit", Quit), ("exit", Quit)]
)
def test_a_wish_is_passed_on_to_whoever_runs_the_game(word, wish):
    person, position = asked("othello", OTHELLO, word)
    with pytest.raises(wish):
        person.choose(position)


def test_a_level_is_passed_on_with_its_depth():
    person, position = asked("kalah", SOUTH, "level 9")
    with pytest.raises(Level) as wish:
        person.choose(position)
    assert wish.value.depth == 9


@pytest.mark.parametrize(
    "word", ["level", "level x", "level 0", "level 101", "level -3", "level 6 7"]
)
def test_a_level_that_is_none_is_explained(word):
    person, position = asked("kalah", SOUTH, word, "1")
    assert person.choose(position).move == 0
    assert "level needs a number from 1 to 100, such as: level 6" in said(person)


@pytest.mark.parametrize("name", GAMES)
def test_the_board_is_drawn_as_it_always_is(name):
    of = game(name)
    for position in positions(name, 0)[:-1:7]:
        person, _ = asked(name, "", of.move_text(position, of.legal(position)[0]), draws=True)
        assert person.choose(position).move == of.legal(position)[0]
        assert said(person).startswith(of.draw(position))


def test_a_forced_pass_is_told_and_not_asked():
    (position,) = forced_passes("othello(6)", 1)
    person, _ = asked("othello(6)", "")
    assert person.choose(position).move == game("othello(6)").pass_move
    assert said(person) == "Ada cannot move and passes.\n"


def test_nobody_is_asked_in_a_finished_game():
    person, _ = asked("kalah", "", "1")
    with pytest.raises(GameOver):
        person.choose(positions("kalah(6,4)", 0)[-1])
    assert said(person) == ""


def test_a_person_of_a_spec_sits_at_the_terminal_of_the_moment(monkeypatch, capsys):
    person = build(AgentSpec("human"), game("kalah"))
    monkeypatch.setattr("sys.stdin", io.StringIO("4\n"))
    assert person.choose(game("kalah").start()).move == 3
    shown = capsys.readouterr().out
    assert game("kalah").draw(game("kalah").start()) in shown
    assert shown.endswith("human (South), your hole (1 to 6): 4\n")


class Silent(io.StringIO):
    """A source that shows what is typed, as a terminal does."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_an_answer_is_not_shown_twice():
    person = HumanAgent(
        AgentSpec("human"), game("kalah"), Dialogue(Silent("4\n"), io.StringIO()), "Ada", False
    )
    assert person.choose(game("kalah").start()).move == 3
    assert said(person) == "Ada (South), your hole (1 to 6): "
