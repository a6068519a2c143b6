"""Our agent, served and hosted over every protocol, plays as it does without one."""

import random

import pytest

from agents.core import AgentSpec
from agents.protocols import PROTOCOLS
from agents.registry import build, kind_of
from games import game
from tests.agents.helpers import slow_if_wide
from tests.agents.protocols.wire import Ours, Table, Wire, protocol

PLAYED = [
    *[
        ("lines", name)
        for name in ("kalah(6,4)", "owari(6,3)", "othello(6)", "kalah-manchester(7,7)")
    ],
    *[("gtp", name) for name in ("othello(8)", "othello(6)", "othello-adjacent(6)")],
    ("nboard", "othello(8)"),
    *[("kgp", name) for name in ("kalah(6,4)", "kalah-kgp(5,3)", "kalah-2022(4,3)")],
    ("kgp", "kalah-kgp(8,5)"),
]
# Who adds a protocol needs no line here.
USUAL = ("kalah(6,4)", "othello(8)", "kalah-manchester(7,7)")
PLAYED += [
    (name, text)
    for name in PROTOCOLS
    if name not in dict(PLAYED)
    for text in USUAL
    if kind_of(name).refusal(game(text)) is None
]
OPENING_PLIES = 7
# Their moves depend on the board alone, as their own side sees it.
KINDS = {"sowing": "nearest_pot", "othello": "first"}


def make_host(name: str, of, options=None):
    return protocol(name).conversation(of, options or {})


def at_home(of, kind: str, player: int, opening) -> list[int]:
    agent, position, moves = build(AgentSpec(kind), of), of.start(), list(opening)
    for move in opening:
        position = of.play(position, move)
    while not of.over(position):
        legal = of.legal(position)
        agent.start(0)
        mine = position.mover == player and legal != (of.pass_move,)
        moves.append(agent.choose(position).move if mine else legal[-1])
        position = of.play(position, moves[-1])
    return moves


def test_round_trip_covers_all_protocols():
    assert {name for name, _ in PLAYED} == set(PROTOCOLS)


@pytest.mark.parametrize("opening_plies", [0, 1, 2, OPENING_PLIES])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("name", "text"), slow_if_wide(PLAYED))
def test_protocol_game_equals_plain_game(name, text, player, opening_plies):
    of = game(text)
    opening = random_opening(of, opening_plies)
    bot = Ours(name, of, KINDS[of.pack])
    table = Table(of, Wire(bot, make_host(name, of)), player, opening)
    assert [ply.move for ply in table.play().plies] == at_home(of, KINDS[of.pack], player, opening)


@pytest.mark.parametrize(("name", "text"), slow_if_wide(PLAYED))
def test_one_process_plays_many_games(name, text):
    of = game(text)
    bot = Ours(name, of)
    wire = Wire(bot, make_host(name, of))
    games = [[ply.move for ply in Table(of, wire, player).play().plies] for player in (0, 1, 0, 1)]
    assert games[:2] == games[2:]
    if name != "files":  # a process a move
        assert len(bot.starts) == 1
    assert not wire.dropped


def random_opening(of, plies: int) -> tuple[int, ...]:
    rng, position, moves = random.Random(plies), of.start(), []
    while len(moves) < plies:
        moves.append(rng.choice(of.legal(position)))
        position = of.play(position, moves[-1])
    return tuple(moves)
