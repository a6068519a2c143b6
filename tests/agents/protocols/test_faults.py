"""Whose fault: every way in which a bot can fail, in every protocol, ends as it should."""

import re

import pytest

from agents.core import Resignation, SpecError
from agents.protocols import PROTOCOLS
from games import game
from tests.agents.protocols.wire import (
    DEATH,
    FLOOD,
    SILENCE,
    Ours,
    Script,
    Table,
    Wire,
    fault_of,
    protocol,
)

GAMES = {
    "lines": "kalah(6,4)",
    "gtp": "othello(8)",
    "nboard": "othello(8)",
    "kgp": "kalah(6,4)",
}
# What an answer begins with, then answers of the protocol with another move.
ANSWERS = {
    "lines": (r".", "{}\n"),
    "gtp": (r"= [a-h][1-8]", "= {}\n\n"),
    "nboard": (r"=== ", "=== {}\n"),
    "kgp": (r"[0-9]+@[0-9]+ move", "99 move {}\r\n"),
}
ILLEGAL = {"lines": "99", "gtp": "a1", "nboard": "A1", "kgp": "7"}
HALF = {
    "lines": "3",
    "gtp": "= d3\n",
    "nboard": "=== D3",
    "kgp": "99 move 3",
}


class Spoiled:
    """Lets some answers through, then writes another text instead."""

    def __init__(self, name: str, instead: str, after: int = 2) -> None:
        self.answer, self.instead, self.left = re.compile(ANSWERS[name][0]), instead, after

    def __call__(self, text: str) -> str:
        if not self.answer.match(text):
            return text
        self.left -= 1
        return text if self.left >= 0 else self.instead


def table(name: str, instead: str, after: int = 2, player: int = 0) -> Table:
    of = game(GAMES[name])
    bot = Ours(name, of, spoil=Spoiled(name, instead, after))
    return Table(of, Wire(bot, protocol(name).conversation(of, {})), player)


def test_the_protocols_that_are_tried_are_in_the_table():
    assert set(GAMES) == set(ANSWERS) == set(ILLEGAL) == set(HALF) <= set(PROTOCOLS)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_a_move_that_is_not_legal_here_is_illegal(name, player):
    instead = ANSWERS[name][1].format(ILLEGAL[name])
    assert fault_of(table(name, instead, player=player).play) == "illegal"


@pytest.mark.parametrize("name", [name for name in GAMES if name != "kgp"])
@pytest.mark.parametrize("said", ["hello", "3,4", "\x00\ufffd", "-", "z99"])
def test_what_is_no_move_is_unreadable(name, said):
    assert fault_of(table(name, ANSWERS[name][1].format(said)).play) == "unreadable"


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("after", [0, 2])
def test_silence_is_a_timeout(name, after):
    assert fault_of(table(name, SILENCE, after).play) == "timeout"


@pytest.mark.parametrize("name", GAMES)
def test_half_a_line_is_a_timeout(name):
    assert fault_of(table(name, HALF[name]).play) == "timeout"


@pytest.mark.parametrize("name", GAMES)
def test_a_bot_that_dies_instead_of_answering_has_crashed(name):
    assert fault_of(table(name, DEATH).play) == "crashed"


@pytest.mark.parametrize("name", GAMES)
def test_a_flood_instead_of_an_answer_is_a_flood(name):
    assert fault_of(table(name, FLOOD).play) == "flooded"


class Twice:
    """Writes every answer two times."""

    def __init__(self, name: str) -> None:
        self.answer = re.compile(ANSWERS[name][0])

    def __call__(self, text: str) -> str:
        return text * 2 if self.answer.match(text) else text


@pytest.mark.parametrize("name", GAMES)
def test_a_second_answer_is_never_taken_for_the_next(name):
    of = game(GAMES[name])
    moves = []
    for spoil in (Twice(name), lambda text: text):
        bot = Ours(name, of, spoil=spoil)
        played = Table(of, Wire(bot, protocol(name).conversation(of, {})), 0).play()
        moves.append([ply.move for ply in played.plies])
    assert moves[0] == moves[1]


@pytest.mark.parametrize("name", GAMES)
def test_death_after_the_last_move_changes_no_result_and_the_next_game_is_played(name):
    of = game(GAMES[name])
    wire = Wire(Ours(name, of), protocol(name).conversation(of, {}))
    first = Table(of, wire, 0)
    wire.open(0, of.start())
    while not of.over(first.positions[-1]):
        now, legal = first.positions[-1], of.legal(first.positions[-1])
        asked = now.mover == 0 and legal != (of.pass_move,)
        first.place(wire.run(wire.talk.choose(first.question())) if asked else legal[0])
    wire.alive = False
    assert fault_of(lambda: wire.run(wire.talk.game_over(tuple(first.plies)))) == ""
    assert of.over(Table(of, wire, 0).play().positions[-1])


@pytest.mark.parametrize(("name", "said"), [("lines", "resign\n"), ("gtp", "= resign\n\n")])
def test_who_resigns_loses_without_a_fault(name, said):
    with pytest.raises(Resignation):
        table(name, said).play()


@pytest.mark.parametrize("name", ["gtp", "nboard"])
def test_a_pass_where_there_are_moves_is_illegal(name):
    assert fault_of(table(name, ANSWERS[name][1].format("pass")).play) in ("illegal", "unreadable")


@pytest.mark.parametrize("name", [name for name in GAMES if name != "lines"])
def test_a_game_that_the_protocol_does_not_know_is_a_mistake_of_the_file(name):
    other = "kalah(6,4)" if "othello" in GAMES[name] else "othello(8)"
    with pytest.raises(SpecError, match=rf"{name} is for .*, not for {re.escape(other)}"):
        protocol(name).conversation(game(other), {})


@pytest.mark.parametrize("name", ["gtp", "nboard", "kgp"])
@pytest.mark.parametrize(
    ("opens", "kind"), [("", "timeout"), (DEATH, "crashed"), (FLOOD, "flooded")]
)
def test_a_bot_that_never_greets_fails_before_the_first_game(name, opens, kind):
    of = game(GAMES[name])
    wire = Wire(Script({}, opens), protocol(name).conversation(of, {}))
    assert fault_of(lambda: wire.open(0, of.start())) == kind
