"""NBoard for Othello, both directions."""

import re
from collections.abc import Mapping, Sequence

from agents.core import Agent, Limit, SpecError
from agents.protocols.conversation import (
    BotFault,
    Clock,
    Data,
    Drop,
    NoLine,
    Ply,
    Question,
    Read,
    Steps,
    Write,
    choose_move,
    read_line,
)
from games import Game, Position
from games.base.errors import printable
from games.base.schema import Key
from games.base.text import GameError, quote

DEPTH = re.compile(r"[0-9]{1,9}")
BOARD = re.compile(r"BO\[\s*8\s+([^\]]*)\]")
MOVES = re.compile(r"(?<![A-Za-z])[BW]\[\s*([A-Za-z-]{2}|[A-Za-z][1-8])[^\]]*\]")
__all__ = ["OPTIONS", "conversation", "serve"]
OPTIONS = (Key("depth", "int", "the depth at which the engine searches", 8, low=1, high=60),)
VERSION = 2  # of NBoard
STANDARD = "othello(8)"
MOVE_WITH_VALUE = re.compile(r"..(?:/([^/\s]*)|\s+(\S+))")  # a move with its evaluation behind it
NO_RESULT = "GM[Othello]PC[pitflip]PB[a]PW[b]RE[?]TI[0]TY[8]"


class NBoardEngine:
    """A position that a host changes; what the agent chooses is not played on it."""

    def __init__(self, of: Game, name: str) -> None:
        """The board at its start."""
        self.of, self.name, self.position = of, name, of.start()
        self.depth: int | None = None

    def handle_line(self, line: str) -> Steps[None]:
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
            self.position = parse_ggf(self.of, value, self.position)

    def _is_move(self, line: str) -> bool:
        return self.of.notation.parse_move(self.position, line.partition("/")[0]) is not None

    def _play(self, text: str) -> None:
        self.position = play_text(self.of, self.position, text.partition("/")[0])

    def _choice(self) -> Steps[str]:
        if self.of.over(self.position):
            return "PA"
        legal = self.of.legal(self.position)
        if legal == (self.of.pass_move,):
            return "PA"
        limit = None if self.depth is None else Limit(depth=self.depth)
        move = yield from choose_move(self.position, limit)
        return self.of.move_text(self.position, move).upper()


def play_text(of: Game, position: Position, text: str) -> Position:
    """The position after a written move; the same if it is none."""
    move = of.notation.parse_move(position, text)
    return of.play(position, move) if move in of.legal(position) else position


def parse_ggf(of: Game, text: str, otherwise: Position) -> Position:
    """The position at the end of a GGF; `otherwise` if it cannot be read."""
    found = BOARD.search(text)
    try:
        squares = "".join(found[1].split()) if found else ""
        position = of.parse(f"{squares[:-1]} {squares[-1:]}")
    except GameError:
        return otherwise
    for move in MOVES.findall(text[found.end() :] if found else ""):
        position = play_text(of, position, move)
    return position


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer until the input ends or the host says `quit`."""
    engine = NBoardEngine(of, f"Pitflip-{agent.spec.kind}")
    while True:
        line = yield Read("move", allowed=(NoLine.ENDED,))
        if not isinstance(line, str) or line == "quit":
            return
        yield from engine.handle_line(line)


def conversation(of: Game, options: Mapping[str, object]) -> "NBoardHost":
    """Ask an engine."""
    if of.name != STANDARD:
        raise SpecError(f"nboard is for {STANDARD}, not for {of.name}")
    return NBoardHost(of, options.get("depth") or OPTIONS[0].default)


def format_ggf(of: Game, start: Position) -> str:
    """A game without moves that begins at the position."""
    squares, mover = of.text(start).split()
    board = f"{squares} {mover}".replace("X", "*")
    return f"(;{NO_RESULT}BO[8 {board}];)"


class NBoardHost:
    """One engine, which keeps its own board and never plays what it chooses."""

    def __init__(self, of: Game, depth: object) -> None:
        """The conversation has not begun."""
        self.of, self.depth = of, depth
        self.told = self.pings = 0

    def greet(self) -> Steps[None]:
        """Send what must come first."""
        yield Write(f"nboard {VERSION}\nset depth {self.depth}\n")
        yield from self._send_change(f"set game {format_ggf(self.of, self.of.start())}", "start")

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Another game on its board."""
        self.told = 0
        yield from self._send_change(f"set game {format_ggf(self.of, start)}", "grace")

    def _send_change(self, line: str, clock: Clock) -> Steps[None]:
        """Send a change of the position, then wait until the engine has taken it in."""
        self.pings += 1
        yield Write(f"{line}\nping {self.pings}\n")
        while (yield from read_line(clock)).split() != ["pong", str(self.pings)]:
            pass  # what it says before is forgotten: status, an old answer, the name it sets

    def choose(self, question: Question) -> Steps[int]:
        """Send every move since its last question, including its own, and ask."""
        for ply in question.plies[self.told :]:
            yield from self._send_change(f"move {self._text(ply.before, ply.move)}", "grace")
        self.told = question.ply
        yield Drop()
        yield Write("go\n")
        while not (line := (yield from read_line("move"))).startswith("==="):
            if line.startswith("nodestats "):
                yield Data("nodes", line.split()[1])
        answer = line[3:].strip()
        if (rated := MOVE_WITH_VALUE.match(answer)) and (value := rated[1] or rated[2]):
            yield Data("value", value)
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
            raise BotFault("unreadable", f"answered {quote(answer)}, which is no move")
        raise BotFault("illegal", f"answered {quote(answer)}, which is not legal; legal: {texts}")

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """The next game changes its board."""
        yield from ()

    def bye(self) -> Steps[None]:
        """NBoard has no word for it, but some engines know this one."""
        yield Write("quit\n")
