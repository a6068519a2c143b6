"""A person at the terminal."""

import io

import pytest

from agents.core import AgentSpec, GameOver
from agents.kinds.human import Dialogue, HumanAgent, Level, Quit, Undo
from agents.registry import build
from games import game
from tests.agents.helpers import GAMES, pass_positions, positions


def make_person(
    of: str, text: str, *answers: str, draws: bool = False
) -> tuple[HumanAgent, object]:
    person = HumanAgent(
        AgentSpec("human"),
        game(of),
        Dialogue(io.StringIO("".join(f"{answer}\n" for answer in answers)), io.StringIO()),
        "Ada",
        draws,
    )
    return person, game(of).parse(text) if text else game(of).start()


def output(person: HumanAgent) -> str:
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
def test_move_is_read_by_board_number(of, text, answer, move):
    person, position = make_person(of, text, answer)
    assert person.choose(position).move == move


def test_swap_is_read():
    of = game("kalah-manchester")
    person, _ = make_person(of.name, "", "Swap")
    position = of.play(of.start(), 3)
    assert person.choose(position).move == of.swap_move
    assert "Ada (North), your hole (1 to 7) or swap: " in output(person)


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
def test_prompt_has_name_and_side(of, text, prompt):
    person, position = make_person(of, text)
    with pytest.raises(Quit):
        person.choose(position)
    assert output(person) == prompt + "\n"


@pytest.mark.parametrize(
    ("of", "text", "answer", "why"),
    [
        ("kalah", SOUTH, "x", '"x" is not the number of a hole: choose a hole (1 to 6)'),
        ("kalah", SOUTH, "", '"" is not the number of a hole: choose a hole (1 to 6)'),
        ("kalah", SOUTH, "2.5", '"2.5" is not the number of a hole'),
        ("kalah", SOUTH, "7", "there is no hole 7: choose a hole (1 to 6)"),
        ("kalah", SOUTH, "-1", "there is no hole -1: choose a hole (1 to 6)"),
        ("kalah", SOUTH, "0", "0 is a pot, whose beans cannot be sown: choose a hole (1 to 6)"),
        ("kalah", SOUTH, "2", "hole 2 is empty: choose from 1 3 4 5 6"),
        ("kalah", NORTH, "5", "hole 5 is empty: choose from 1 2 3 4 6"),
        ("kalah", SOUTH, "swap", '"swap" is not the number of a hole'),
        ("kalah-manchester", "", "swap", "swap is only for North's first turn"),
        ("owari", OWARI, "3", "pit 3 is South's: choose a pit (7 to 12)"),
        ("owari", OWARI, "6", "6 is a pot, whose beans cannot be sown"),
        ("owari", OWARI, "13", "13 is a pot, whose beans cannot be sown"),
        ("owari", OWARI, "14", "there is no pit 14"),
        ("owari", OWARI, "11", "pit 11 is empty: choose from 7 8 9 10 12"),
        ("othello", OTHELLO, "z9", '"z9" is not a square (a1 to h8); playable: d3 c4 f5 e6'),
        ("othello", OTHELLO, "i1", '"i1" is not a square (a1 to h8)'),
        ("othello", OTHELLO, "d4", "d4 is taken; playable: d3 c4 f5 e6"),
        ("othello", OTHELLO, "a1", "a disc on a1 flips no disc; playable: d3 c4 f5 e6"),
        ("othello", OTHELLO, "pass", "you may pass only when you have no move"),
        ("othello-adjacent", OTHELLO, "a1", "a disc on a1 touches no disc"),
        ("kalah", SOUTH, "\x1b[A", r'"\x1b[A" is not the number of a hole'),
        ("kalah", SOUTH, "9" * 5000, "is not the number of a hole"),
    ],
)
def test_invalid_answer_is_explained(of, text, answer, why):
    person, position = make_person(of, text, *[answer] * 30)
    with pytest.raises(Quit):
        person.choose(position)
    assert output(person).count(why) == 30
    assert output(person).count("Ada (") == 31


def test_valid_answer_after_invalid_ones():
    person, position = make_person("kalah", SOUTH, *"xyz02", "6")
    assert person.choose(position).move == 5


@pytest.mark.parametrize("word", ["help", "HELP", "?"])
def test_help_lists_moves_and_commands(word):
    person, position = make_person("kalah", SOUTH, word, "1")
    assert person.choose(position).move == 0
    assert "now you can choose 1 3 4 5 6." in output(person)
    assert all(command in output(person) for command in ("undo", "level 6", "quit", "help"))


@pytest.mark.parametrize(
    ("word", "wish"), [("undo", Undo), ("UNDO", Undo), ("quit", Quit), ("exit", Quit)]
)
def test_command_is_raised(word, wish):
    person, position = make_person("othello", OTHELLO, word)
    with pytest.raises(wish):
        person.choose(position)


def test_level_has_depth():
    person, position = make_person("kalah", SOUTH, "level 9")
    with pytest.raises(Level) as wish:
        person.choose(position)
    assert wish.value.depth == 9


@pytest.mark.parametrize(
    "word", ["level", "level x", "level 0", "level 101", "level -3", "level 6 7"]
)
def test_invalid_level_is_explained(word):
    person, position = make_person("kalah", SOUTH, word, "1")
    assert person.choose(position).move == 0
    assert "level needs a number from 1 to 100, such as: level 6" in output(person)


@pytest.mark.parametrize("name", GAMES)
def test_board_is_drawn(name):
    of = game(name)
    for position in positions(name, 0)[:-1:7]:
        person, _ = make_person(name, "", of.move_text(position, of.legal(position)[0]), draws=True)
        assert person.choose(position).move == of.legal(position)[0]
        assert output(person).startswith(of.draw(position))


def test_forced_pass_is_announced():
    (position,) = pass_positions("othello(6)", 1)
    person, _ = make_person("othello(6)", "")
    assert person.choose(position).move == game("othello(6)").pass_move
    assert output(person) == "Ada cannot move and passes.\n"


def test_finished_game_asks_no_question():
    person, _ = make_person("kalah", "", "1")
    with pytest.raises(GameOver):
        person.choose(positions("kalah(6,4)", 0)[-1])
    assert output(person) == ""


def test_default_dialogue_uses_current_streams(monkeypatch, capsys):
    person = build(AgentSpec("human"), game("kalah"))
    monkeypatch.setattr("sys.stdin", io.StringIO("4\n"))
    assert person.choose(game("kalah").start()).move == 3
    shown = capsys.readouterr().out
    assert game("kalah").draw(game("kalah").start()) in shown
    assert shown.endswith("human (South), your hole (1 to 6): 4\n")


class Silent(io.StringIO):
    """A source that echoes input, as a terminal does."""

    def isatty(self) -> bool:
        return True


def test_terminal_answer_is_not_echoed():
    person = HumanAgent(
        AgentSpec("human"), game("kalah"), Dialogue(Silent("4\n"), io.StringIO()), "Ada", False
    )
    assert person.choose(game("kalah").start()).move == 3
    assert output(person) == "Ada (South), your hole (1 to 6): "
