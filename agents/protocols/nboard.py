"""NBoard 1 and 2 for Othello: hosting an engine; the other way is `nboard_engine`."""

import re
from collections.abc import Mapping, Sequence

from agents.core import SpecError
from agents.protocols.conversation import (
    BotFault,
    Clock,
    Drop,
    Ply,
    Question,
    Said,
    Steps,
    Write,
    line_of,
)
from agents.protocols.nboard_engine import serve
from games import Game, Position
from games.keys import Key
from games.names import quoted

__all__ = ["OPTIONS", "conversation", "serve"]

OPTIONS = (
    Key("depth", "int", "the depth at which the engine searches", 8, low=1, high=60),
    Key("version", "int", "the version of NBoard to greet the engine with", 2, low=1, high=2),
)
STANDARD = "othello(8)"
RATED = re.compile(r"..(?:/([^/\s]*)|\s+(\S+))")  # a move with its evaluation behind it
NO_RESULT = "GM[Othello]PC[pitflip]PB[a]PW[b]RE[?]TI[0]TY[8]"


def conversation(of: Game, options: Mapping[str, object]) -> "NBoardHost":
    """Ask an engine."""
    if of.name != STANDARD:
        raise SpecError(f"nboard is for {STANDARD}, not for {of.name}")
    return NBoardHost(of, *(options.get(key.name) or key.default for key in OPTIONS))


def ggf(of: Game, start: Position) -> str:
    """A game without moves that begins at the position."""
    squares, mover = of.text(start).split()
    board = f"{squares} {mover}".replace("X", "*")
    return f"(;{NO_RESULT}BO[8 {board}];)"


class NBoardHost:
    """One engine, which keeps its own board and never plays what it chooses."""

    def __init__(self, of: Game, depth: object, version: object) -> None:
        """The conversation has not begun."""
        self.of, self.depth, self.version = of, depth, version
        self.told = self.pings = 0

    def greet(self) -> Steps[None]:
        """Send what must come first."""
        yield Write(f"nboard {self.version}\nset depth {self.depth}\n")
        yield from self._changed(f"set game {ggf(self.of, self.of.start())}", "start")

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Another game on its board."""
        self.told = 0
        yield from self._changed(f"set game {ggf(self.of, start)}", "grace")

    def _changed(self, line: str, clock: Clock) -> Steps[None]:
        """Send a change of the position, then wait until the engine has taken it in."""
        self.pings += 1
        yield Write(f"{line}\nping {self.pings}\n")
        while (yield from line_of(clock)).split() != ["pong", str(self.pings)]:
            pass  # what it says before is forgotten: status, an old answer, the name it sets

    def choose(self, question: Question) -> Steps[int]:
        """Send every move since its last question, including its own, and ask."""
        for ply in question.plies[self.told :]:
            yield from self._changed(f"move {self._text(ply.before, ply.move)}", "grace")
        self.told = question.ply
        yield Drop()
        yield Write("go\n")
        while not (line := (yield from line_of("move"))).startswith("==="):
            if line.startswith("nodestats "):
                yield Said("nodes", line.split()[1])
        answer = line[3:].strip()
        if (rated := RATED.match(answer)) and (value := rated[1] or rated[2]):
            yield Said("value", value)
        return self._move(question, answer)

    def _text(self, position: Position, move: int) -> str:
        return "PA" if move == self.of.pass_move else self.of.move_text(position, move).upper()

    def _move(self, question: Question, answer: str) -> int:
        """The move before the first `/` or blank; evaluation and time behind it are left."""
        word = answer.replace("/", " ").partition(" ")[0]
        move = self.of.notation.parse_move(question.position, word[:2])
        if move in question.legal:
            return move
        texts = " ".join(self._text(question.position, each) for each in question.legal)
        if move is None:
            raise BotFault("unreadable", f"answered {quoted(answer)}, which is no move")
        raise BotFault("illegal", f"answered {quoted(answer)}, which is not legal; legal: {texts}")

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """The next game changes its board."""
        yield from ()

    def bye(self) -> Steps[None]:
        """NBoard has no word for it, but some engines know this one."""
        yield Write("quit\n")
