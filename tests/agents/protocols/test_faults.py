"""Every fault of a bot in every protocol has the right termination."""

import re

import pytest

from agents.core import Resignation, SpecError
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

GAMES = {"lines": "kalah(6,4)", "gtp": "othello(8)", "nboard": "othello(8)", "kgp": "kalah(6,4)"}
# What an answer begins with, then answers of the protocol with another move.
ANSWERS = {
    "lines": (r".", "{}\n"),
    "gtp": (r"= [a-h][1-8]", "= {}\n\n"),
    "nboard": (r"=== ", "=== {}\n"),
    "kgp": (r"[0-9]+@[0-9]+ move", "99 move {}\r\n"),
}
ILLEGAL = {"lines": "99", "gtp": "a1", "nboard": "A1", "kgp": "7"}
HALF = {"lines": "3", "gtp": "= d3\n", "nboard": "=== D3", "kgp": "99 move 3"}


class Spoiled:
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


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", GAMES)
def test_illegal_move(name, player):
    instead = ANSWERS[name][1].format(ILLEGAL[name])
    assert fault_of(table(name, instead, player=player).play) == "illegal"


@pytest.mark.parametrize("name", [name for name in GAMES if name != "kgp"])
@pytest.mark.parametrize("said", ["hello", "3,4", "\x00\ufffd", "-", "z99"])
def test_unreadable_answer(name, said):
    assert fault_of(table(name, ANSWERS[name][1].format(said)).play) == "unreadable"


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    ("instead", "after", "kind"),
    [
        (SILENCE, 0, "timeout"),
        (SILENCE, 2, "timeout"),
        ("half", 2, "timeout"),
        (DEATH, 2, "crashed"),
        (FLOOD, 2, "flooded"),
    ],
)
def test_missing_answer(name, instead, after, kind):
    assert fault_of(table(name, HALF[name] if instead == "half" else instead, after).play) == kind


class Twice:
    def __init__(self, name: str) -> None:
        self.answer = re.compile(ANSWERS[name][0])

    def __call__(self, text: str) -> str:
        return text * 2 if self.answer.match(text) else text


@pytest.mark.parametrize("name", GAMES)
def test_second_answer_is_dropped(name):
    of = game(GAMES[name])
    moves = []
    for spoil in (Twice(name), lambda text: text):
        bot = Ours(name, of, spoil=spoil)
        played = Table(of, Wire(bot, protocol(name).conversation(of, {})), 0).play()
        moves.append([ply.move for ply in played.plies])
    assert moves[0] == moves[1]


@pytest.mark.parametrize("name", GAMES)
def test_exit_after_last_move_is_no_fault(name):
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
def test_resignation_is_no_fault(name, said):
    with pytest.raises(Resignation):
        table(name, said).play()


@pytest.mark.parametrize("name", ["gtp", "nboard"])
def test_pass_with_legal_moves_is_illegal(name):
    assert fault_of(table(name, ANSWERS[name][1].format("pass")).play) in ("illegal", "unreadable")


@pytest.mark.parametrize("name", [name for name in GAMES if name != "lines"])
def test_unsupported_game_is_refused(name):
    other = "kalah(6,4)" if "othello" in GAMES[name] else "othello(8)"
    with pytest.raises(SpecError, match=rf"{name} is for .*, not for {re.escape(other)}"):
        protocol(name).conversation(game(other), {})


@pytest.mark.parametrize("name", ["gtp", "nboard", "kgp"])
@pytest.mark.parametrize(
    ("opens", "kind"), [("", "timeout"), (DEATH, "crashed"), (FLOOD, "flooded")]
)
def test_missing_greeting_is_a_fault(name, opens, kind):
    of = game(GAMES[name])
    wire = Wire(Script({}, opens), protocol(name).conversation(of, {}))
    assert fault_of(lambda: wire.open(0, of.start())) == kind
