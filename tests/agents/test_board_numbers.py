"""Bots are asked and answer in the numbers and squares printed on the board."""

import pytest

from agents.core import AgentSpec
from agents.kinds.python import PythonAgent
from agents.protocols.conversation import Question
from agents.protocols.lines import format_question, parse_answer
from agents.view import View
from games import game
from tests.agents.helpers import positions
from tests.games.table import each_preset

GAMES = tuple(each_preset("(6)"))
SWAP = -1  # which has no number on the board
TAKES = """
def choose(view, legal, rng):
    assert legal == view.legal
    return {answer}
"""


def choice_positions(name: str) -> list:
    """Return positions of both sides with a choice."""
    of = game(name)
    return [p for p in positions(name, 3)[:-1] if of.legal(p) != (of.pass_move,)][:20]


@pytest.mark.parametrize("name", GAMES)
def test_line_protocol_uses_board_numbers(name):
    of = game(name)
    assert {position.side for position in choice_positions(name)} == {0, 1}
    for position in choice_positions(name):
        legal = of.legal(position)
        printed = [of.move_text(position, move) for move in legal]
        question = Question(position, legal, (), 1.0)
        assert format_question(of, question, 1).split(";")[1].split() == printed
        assert [parse_answer(of, question, text) for text in printed] == list(legal)


@pytest.mark.parametrize("name", [name for name in GAMES if game(name).pack == "sowing"])
@pytest.mark.parametrize("answer", ["legal[-1]", "view.move_text(legal[-1])", "str(legal[-1])"])
def test_python_bot_uses_board_numbers(tmp_path, name, answer):
    (tmp_path / "b.py").write_text(TAKES.format(answer=answer))
    of = game(name)
    bot = PythonAgent(AgentSpec("python", file=str(tmp_path / "b.py")), of)
    for position in choice_positions(name):
        numbers = View(of, position).legal
        texts = [of.move_text(position, move) for move in of.legal(position)]
        printed = ["swap" if number == SWAP else str(number) for number in numbers]
        assert printed == texts
        if answer != "str(legal[-1])" or numbers[-1] != SWAP:
            assert of.move_text(position, bot.choose(position).move) == texts[-1]
