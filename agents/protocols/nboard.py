"""NBoard for Othello, both directions."""

import re
from collections.abc import Mapping

from agents.core import Agent, Limit, SpecError
from agents.protocols.conversation import (
    BotFault,
    Clock,
    Data,
    Drop,
    Host,
    NoLine,
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
MOVE_WITH_VALUE = re.compile(r"..(?:/([^/\s]*)|\s+(\S+))")  # a move followed by its evaluation
NO_RESULT = "GM[Othello]PC[pitflip]PB[a]PW[b]RE[?]TI[0]TY[8]"


class NBoardEngine:
    """A position that a host changes; the agent's moves are not played on it."""

    def __init__(self, game: Game, name: str) -> None:
        self.game, self.name, self.position = game, name, game.start()
        self.depth: int | None = None

    def handle_line(self, line: str) -> Steps[None]:
        """Obey or answer a line; unknown lines are ignored."""
        word, _, rest = line.partition(" ")
        if word == "ping":
            yield Write(f"pong {printable(rest.strip())}\n")
        elif word == "set":
            yield from self._change_setting(rest)
        elif word == "move" or self._is_move(line):
            self._play(rest if word == "move" else line)
        elif word == "go":
            yield Write("status Pitflip is thinking\n")
            yield Write(f"=== {yield from self._choice()}\nstatus\n")
        elif word == "hint":
            yield Write(f"search {yield from self._choice()} +0.00 0 {self.depth or 1}\nstatus\n")
        elif word == "learn":
            yield Write("learned\n")

    def _change_setting(self, rest: str) -> Steps[None]:
        word, _, value = rest.partition(" ")
        plies = value.strip()
        if word == "depth" and DEPTH.fullmatch(plies) and int(plies) > 0:
            self.depth = min(int(plies), 60)
            yield Write(f"set myname {self.name}\n")
        elif word == "game":
            self.position = parse_ggf(self.game, value, self.position)

    def _is_move(self, line: str) -> bool:
        return self.game.notation.parse_move(self.position, line.partition("/")[0]) is not None

    def _play(self, text: str) -> None:
        self.position = play_text(self.game, self.position, text.partition("/")[0])

    def _choice(self) -> Steps[str]:
        if self.game.over(self.position):
            return "PA"
        legal = self.game.legal(self.position)
        if legal == (self.game.pass_move,):
            return "PA"
        limit = None if self.depth is None else Limit(depth=self.depth)
        move = yield from choose_move(self.position, limit)
        return self.game.move_text(self.position, move).upper()


def play_text(game: Game, position: Position, text: str) -> Position:
    """Return the position after a written move; unchanged if the move is invalid."""
    move = game.notation.parse_move(position, text)
    return game.play(position, move) if move in game.legal(position) else position


def parse_ggf(game: Game, text: str, otherwise: Position) -> Position:
    """Return the position at the end of a GGF; `otherwise` if it cannot be read."""
    found = BOARD.search(text)
    try:
        squares = "".join(found[1].split()) if found else ""
        position = game.parse(f"{squares[:-1]} {squares[-1:]}")
    except GameError:
        return otherwise
    for move in MOVES.findall(text[found.end() :] if found else ""):
        position = play_text(game, position, move)
    return position


def serve(game: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer until the input ends or the host says `quit`."""
    engine = NBoardEngine(game, f"Pitflip-{agent.spec.kind}")
    while True:
        line = yield Read("move", allowed=(NoLine.ENDED,))
        if not isinstance(line, str) or line == "quit":
            return
        yield from engine.handle_line(line)


def conversation(game: Game, options: Mapping[str, object]) -> Host:
    """Host an engine."""
    if game.name != STANDARD:
        raise SpecError(f"nboard is for {STANDARD}, not for {game.name}")
    return NBoardHost(game, options.get("depth") or OPTIONS[0].default)


def format_ggf(game: Game, start: Position) -> str:
    """Return a game without moves that begins at the position."""
    squares, mover = game.text(start).split()
    board = f"{squares} {mover}".replace("X", "*")
    return f"(;{NO_RESULT}BO[8 {board}];)"


class NBoardHost(Host):
    """One engine, which keeps its own board and never plays its own moves on it."""

    def __init__(self, game: Game, depth: object) -> None:
        self.game, self.depth = game, depth
        self.sent_plies = self.pings = 0

    def greet(self) -> Steps[None]:
        """Send the version, the depth and the start position."""
        yield Write(f"nboard {VERSION}\nset depth {self.depth}\n")
        yield from self._send_change(
            f"set game {format_ggf(self.game, self.game.start())}", "start"
        )

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Set the board to the start of a game."""
        self.sent_plies = 0
        yield from self._send_change(f"set game {format_ggf(self.game, start)}", "grace")

    def _send_change(self, line: str, clock: Clock) -> Steps[None]:
        """Send a change of the position, and wait until the engine has processed it."""
        self.pings += 1
        yield Write(f"{line}\nping {self.pings}\n")
        while (yield from read_line(clock)).split() != ["pong", str(self.pings)]:
            pass  # skips status lines, late answers and its name

    def choose(self, question: Question) -> Steps[int]:
        """Send every move since the last question, including the engine's, and ask."""
        for ply in question.plies[self.sent_plies :]:
            yield from self._send_change(f"move {self._text(ply.before, ply.move)}", "grace")
        self.sent_plies = question.ply
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
        return "PA" if move == self.game.pass_move else self.game.move_text(position, move).upper()

    def _move(self, question: Question, answer: str) -> int:
        """Return the move before the first `/` or blank; the rest is evaluation and time."""
        word = answer.replace("/", " ").partition(" ")[0]
        move = self.game.notation.parse_move(question.position, word[:2])
        if move in question.legal:
            return move
        texts = " ".join(self._text(question.position, legal) for legal in question.legal)
        if move is None:
            raise BotFault("unreadable", f"answered {quote(answer)}, which is not a move")
        raise BotFault("illegal", f"answered {quote(answer)}, which is not legal; legal: {texts}")

    def bye(self) -> Steps[None]:
        """Send `quit`, which some engines know, although NBoard does not define it."""
        yield Write("quit\n")
