"""Real programs in one shared sandbox, and games against the last legal move."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.registry import require_kind
from agents.sandbox.protocol_agent import ProtocolAgent
from agents.sandbox.sandbox import Sandbox
from games import Game, game

OTHER = Path(__file__).parents[1] / "scripts" / "programs" / "other_bot.py"
PYTHON = str(Path(sys.executable).resolve())
GAMES = {"lines": "kalah(6,4)", "gtp": "othello(8)", "nboard": "othello(8)", "kgp": "kalah(6,4)"}


@cache
def sandbox() -> Sandbox:
    """Closed with the session."""
    return Sandbox()


@contextmanager
def host_program(
    kind: str, of: Game, seconds: float = 60.0, **options: object
) -> Iterator[ProtocolAgent]:
    """Host a program in the sandbox and end it afterwards."""
    spec = AgentSpec(kind, {"start_seconds": 60.0, **options})
    behind = require_kind(spec, of).host_bot
    assert behind is not None
    agent = behind(spec, of, HostSettings(sandbox(), seconds))
    assert isinstance(agent, ProtocolAgent)
    try:
        yield agent
    finally:
        agent.close()


def other(kind: str, *words: str) -> list[str]:
    """The command of the bot that somebody else might have written."""
    return [PYTHON, "-IS", str(OTHER), kind, *words]


def game_for(kind: str) -> Game:
    """A game that is played by the protocol."""
    return game(GAMES[kind])


def play_moves(agent: ProtocolAgent, of: Game, player: int = 0, opening: tuple[int, ...] = (),
           most: int = 10_000) -> list[int]:  # fmt: skip
    """Return the moves of a game; faults of the agent are raised."""
    position, moves = of.start(), list[int]()
    agent.start(1)
    while not of.over(position) and len(moves) < most:
        legal = of.legal(position)
        mine = position.mover == player and legal != (of.pass_move,)
        if len(moves) < len(opening):
            move = opening[len(moves)]
        else:
            move = agent.choose(position).move if mine else legal[-1]
        before, position = position, of.play(position, move)
        moves.append(move)
        agent.note_move(move, before, position)
    agent.finish()
    return moves


def fault_of(agent: ProtocolAgent, of: Game, **how: int) -> str:
    """The kind of the failure that ends a game, or nothing."""
    try:
        play_moves(agent, of, **how)  # type: ignore[arg-type]
    except AgentFailure as failure:
        return failure.kind
    return ""
