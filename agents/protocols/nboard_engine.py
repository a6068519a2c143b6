"""NBoard 1 and 2 for Othello: our agent as an engine."""

import re
from collections.abc import Mapping

from agents.core import Agent, Limit
from agents.protocols.conversation import Read, Silence, Steps, Write, chosen
from games import Game, Position
from games.names import GameError
from games.terminal import printable

DEPTH = re.compile(r"[0-9]{1,9}")
BOARD = re.compile(r"BO\[\s*8\s+([^\]]*)\]")
MOVES = re.compile(r"(?<![A-Za-z])[BW]\[\s*([A-Za-z-]{2}|[A-Za-z][1-8])[^\]]*\]")


class NBoardEngine:
    """A position that a host changes; what the agent chooses is not played on it."""

    def __init__(self, of: Game, name: str) -> None:
        """The board at its start."""
        self.of, self.name, self.position = of, name, of.start()
        self.depth: int | None = None

    def heard(self, line: str) -> Steps[None]:
        """Obey or answer a line; unknown lines are ignored."""
        word, _, rest = line.partition(" ")
        if word == "ping":
            yield Write(f"pong {printable(rest.strip())}\n")
        elif word == "set":
            yield from self._set(rest)
        elif word == "move" or self._is_move(line):
            self._play(rest if word == "move" else line)
        elif word == "go":
            yield Write("status Pitflip is thinking\n")
            yield Write(f"=== {yield from self._choice()}\nstatus\n")
        elif word == "hint":
            yield Write(f"search {yield from self._choice()} +0.00 0 {self.depth or 1}\nstatus\n")
        elif word == "learn":
            yield Write("learned\n")

    def _set(self, rest: str) -> Steps[None]:
        word, _, value = rest.partition(" ")
        plies = value.strip()
        if word == "depth" and DEPTH.fullmatch(plies) and int(plies) > 0:
            self.depth = min(int(plies), 60)
            yield Write(f"set myname {self.name}\n")
        elif word == "game":
            self.position = end_of_game(self.of, value, self.position)

    def _is_move(self, line: str) -> bool:
        return self.of.notation.parse_move(self.position, line.partition("/")[0]) is not None

    def _play(self, text: str) -> None:
        self.position = after(self.of, self.position, text.partition("/")[0])

    def _choice(self) -> Steps[str]:
        if self.of.over(self.position):
            return "PA"
        legal = self.of.legal(self.position)
        if legal == (self.of.pass_move,):
            return "PA"
        limit = None if self.depth is None else Limit(depth=self.depth)
        move = yield from chosen(self.position, limit)
        return self.of.move_text(self.position, move).upper()


def after(of: Game, position: Position, text: str) -> Position:
    """The position after a written move; the same if it is none."""
    move = of.notation.parse_move(position, text)
    return of.play(position, move) if move in of.legal(position) else position


def end_of_game(of: Game, text: str, otherwise: Position) -> Position:
    """The position at the end of a GGF; `otherwise` if it cannot be read."""
    found = BOARD.search(text)
    try:
        squares = "".join(found[1].split()) if found else ""
        position = of.parse(f"{squares[:-1]} {squares[-1:]}")
    except GameError:
        return otherwise
    for move in MOVES.findall(text[found.end() :] if found else ""):
        position = after(of, position, move)
    return position


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer until the input ends or the host says `quit`."""
    engine = NBoardEngine(of, f"Pitflip-{agent.spec.kind}")
    while True:
        line = yield Read("move", allowed=(Silence.ENDED,))
        if not isinstance(line, str) or line == "quit":
            return
        yield from engine.heard(line)
