"""GTP 2 for Othello, both directions."""

from collections.abc import Callable, Mapping, Sequence

import games
from agents.core import Agent, Resignation, SpecError
from agents.protocols.conversation import (
    BotFault,
    Clock,
    Drop,
    Host,
    NoLine,
    Note,
    Ply,
    Question,
    Read,
    Steps,
    Write,
    choose_move,
    read_line,
)
from games import Game, GameError, Position
from games.base.schema import Key
from games.base.text import quote

COLOURS = ("black", "white")
WORDS: Mapping[str, int] = {"black": 0, "b": 0, "white": 1, "w": 1}
__all__ = ["OPTIONS", "conversation", "serve"]
OPTIONS: tuple[Key, ...] = ()
STANDARD_SIZE = 8
PASSES = ("pass", "pa")


class GtpError(Exception):  # an error reply, not a fault
    """An error reply: the text after the `?`."""


class GtpEngine:
    """Our engine: a board that a host controls by commands."""

    def __init__(self, game: Game, name: str) -> None:
        self.game, self.name = game, name
        self.positions: list[Position] = [game.start()]
        self.commands: Mapping[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: f"Pitflip {self.name}",
            "version": lambda _: "1",
            "list_commands": lambda _: "\n".join([*self.commands, "genmove", "reg_genmove"]),
            "known_command": self.is_known_command,
            "boardsize": self.boardsize,
            "set_game": self.set_game,
            "clear_board": self.clear_board,
            "komi": lambda _: "",
            "time_settings": lambda _: "",
            "time_left": lambda _: "",
            "play": self.play,
            "undo": self.undo,
            "showboard": lambda _: "\n" + self.game.draw(self.position),
            "final_score": self.final_score,
            "quit": self.quit,
        }
        self.ended = False

    @property
    def position(self) -> Position:
        """The position on the board."""
        return self.positions[-1]

    def quit(self, _: list[str]) -> str:
        """Answer, then end."""
        self.ended = True
        return ""

    def is_known_command(self, words: list[str]) -> str:
        """Answer whether a command is known."""
        known = words[:1] and words[0] in (*self.commands, "genmove", "reg_genmove")
        return "true" if known else "false"

    def boardsize(self, words: list[str]) -> str:
        """Change the size of the board if the rules allow it."""
        try:
            (size,) = words
            self.game = games.game(f"{self.game.name.partition('(')[0]}({int(size)})")
        except (GameError, ValueError):
            raise GtpError("unacceptable size") from None
        return self.clear_board([])

    def set_game(self, words: list[str]) -> str:
        """Accept only Othello."""
        if [word.lower() for word in words] != ["othello"]:
            raise GtpError("unsupported game")
        return ""

    def clear_board(self, _: list[str]) -> str:
        """Start a new game."""
        self.positions = [self.game.start()]
        return ""

    def turn_to(self, words: list[str]) -> bool:
        """Return whether the colour moves after a pass of the other colour.

        GtpError if the colour cannot move now.
        """
        if not words or words[0].lower() not in WORDS:
            raise GtpError("syntax error")
        if WORDS[words[0].lower()] == self.position.mover or self.game.over(self.position):
            return False
        if self.game.legal(self.position) != (self.game.pass_move,):
            raise GtpError("wrong colour")
        return True

    def play(self, words: list[str]) -> str:
        """Play a move of either side; the host may leave out a forced pass before it."""
        passes = self.turn_to(words)
        if len(words) != 2:
            raise GtpError("syntax error")
        assert self.game.pass_move is not None
        after = self.game.play(self.position, self.game.pass_move) if passes else self.position
        move = self.game.notation.parse_move(after, words[1])
        if move is None or move not in self.game.legal(after):
            raise GtpError("illegal move")
        self.positions.append(self.game.play(after, move))
        return ""

    def undo(self, _: list[str]) -> str:
        """Take back the last move, with an implied pass before it."""
        if len(self.positions) == 1:
            raise GtpError("cannot undo")
        self.positions.pop()
        return ""

    def final_score(self, _: list[str]) -> str:
        """Answer with the winner and the margin."""
        if not self.game.over(self.position):
            raise GtpError("cannot score")
        margin = self.game.margin(self.position)
        return f"{'B' if margin > 0 else 'W'}+{abs(margin)}" if margin else "0"

    def genmove(self, words: list[str], plays: bool) -> Steps[str]:
        """Return our agent's move or `pass`; `plays` also plays it on the board."""
        passes = self.turn_to(words)
        assert self.game.pass_move is not None
        position = self.game.play(self.position, self.game.pass_move) if passes else self.position
        if self.game.over(position):
            return "pass"
        move = yield from self._choice(position)
        if plays:
            self.positions.append(self.game.play(position, move))
        return self.game.move_text(position, move)

    def _choice(self, position: Position) -> Steps[int]:
        legal = self.game.legal(position)
        return (
            legal[0]
            if legal == (self.game.pass_move,)
            else (yield from choose_move(position, game=self.game))
        )

    def answer(self, line: str) -> Steps[str]:
        """Return the reply to a line with its empty line; nothing for an empty line."""
        words = line.partition("#")[0].split()
        number = words.pop(0) if words and words[0].isdecimal() else ""
        if not words:
            return ""
        command, *rest = words
        try:
            if command in ("genmove", "reg_genmove"):
                text = yield from self.genmove(rest, command == "genmove")
            elif command in self.commands:
                text = self.commands[command](rest)
            else:
                raise GtpError("unknown command")
        except GtpError as refusal:
            return f"?{number} {refusal}\n\n"
        return f"={number} {text}".rstrip(" ") + "\n\n"


def serve(game: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer every command until `quit` or the end of the input."""
    engine = GtpEngine(game, agent.spec.kind)
    while not engine.ended:
        line = yield Read("move", allowed=(NoLine.ENDED,))
        if not isinstance(line, str):
            return
        if reply := (yield from engine.answer(line)):
            yield Write(reply)


def conversation(game: Game, options: Mapping[str, object]) -> Host:
    """Host an engine."""
    if game.pack != "othello":
        raise SpecError(f"gtp is for othello, not for {game.name}")
    return GtpHost(game)


class GtpHost(Host):
    """One engine, which keeps its own board."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.commands: frozenset[str] = frozenset()  # as listed by the engine
        self.sent_plies = 0  # plies on the engine's board
        self.has_sent_time = False

    def greet(self) -> Steps[None]:
        """Ask for the name, and agree on game and size."""
        for command in ("name", "version"):
            yield from self._ask(command, "start")
        listed = yield from self._ask("list_commands", "start")
        self.commands = frozenset((listed or "").split())
        if "set_game" in self.commands:
            yield from self._ask("set_game Othello", "start")
        size = self.game.rules.size
        if size != STANDARD_SIZE and (yield from self._ask(f"boardsize {size}", "start")) is None:
            raise BotFault("unloadable", f"does not play on a board of {size}")

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Clear the engine's board."""
        self.has_sent_time = False
        yield from self._clear()

    def _clear(self) -> Steps[None]:
        self.sent_plies = 0
        if (yield from self._ask("clear_board", "grace")) is None:
            raise BotFault("unreadable", "refused clear_board")

    def choose(self, question: Question) -> Steps[int]:
        """Update the engine's board and ask; a refusal is retried once on a new board."""
        plies = question.plies
        if not (yield from self._send_moves(plies)) and not (yield from self._resend_game(plies)):
            raise BotFault("unreadable", "refused a legal move twice")
        answer = yield from self._genmove(question)
        if answer is None:
            in_step = yield from self._resend_game(plies)
            answer = (yield from self._genmove(question)) if in_step else None
        if answer is None:
            raise BotFault("unreadable", "refused twice to choose a move")
        move = self._move(question, answer)
        self.sent_plies = question.ply + 1  # engines play their own moves
        return move

    def _resend_game(self, plies: Sequence[Ply]) -> Steps[bool]:
        yield Note("refused a legal move: the game was sent again on a new board")
        yield from self._clear()
        return (yield from self._send_moves(plies))

    def _send_moves(self, plies: Sequence[Ply]) -> Steps[bool]:
        """Send the missing moves; return whether the engine accepted all of them."""
        while self.sent_plies < len(plies):
            ply = plies[self.sent_plies]
            if ply.move != self.game.pass_move:
                play = (
                    f"play {self._colour(ply.before)} {self.game.move_text(ply.before, ply.move)}"
                )
                if (yield from self._ask(play, "grace")) is None:
                    passed = yield from self._pass(plies[: self.sent_plies])
                    if not passed or (yield from self._ask(play, "grace")) is None:
                        return False
            self.sent_plies += 1
        return True

    def _pass(self, plies: Sequence[Ply]) -> Steps[bool]:
        """Send the forced pass that the engine did not infer; return whether there was one."""
        if not plies or plies[-1].move != self.game.pass_move:
            return False
        yield from self._ask(f"play {self._colour(plies[-1].before)} pass", "grace")
        return True

    def _genmove(self, question: Question) -> Steps[str | None]:
        colour = self._colour(question.position)
        if question.game_seconds is not None:
            yield from self._send_time(colour, int(question.game_seconds))
        answer = yield from self._ask(f"genmove {colour}", "move")
        if answer is None and (yield from self._pass(question.plies)):
            answer = yield from self._ask(f"genmove {colour}", "move")
        return answer

    def _send_time(self, colour: str, seconds: int) -> Steps[None]:
        if "time_settings" in self.commands and not self.has_sent_time:
            self.has_sent_time = True
            yield from self._ask(f"time_settings {seconds} 0 0", "grace")
        if "time_left" in self.commands:
            yield from self._ask(f"time_left {colour} {seconds} 0", "grace")

    def _colour(self, position: Position) -> str:
        return COLOURS[position.mover]

    def _move(self, question: Question, answer: str) -> int:
        word = answer.split(maxsplit=1)[0].lower() if answer.split() else ""
        if word == "resign":
            raise Resignation
        move = self.game.notation.parse_move(question.position, word)
        if move in question.legal:
            return move
        texts = " ".join(self.game.move_text(question.position, legal) for legal in question.legal)
        if move is None:
            raise BotFault("unreadable", f"answered {quote(answer)}, which is not a move")
        raise BotFault("illegal", f"answered {quote(answer)}, which is not legal; legal: {texts}")

    def _ask(self, command: str, clock: Clock) -> Steps[str | None]:
        """Return the text of the reply without blank lines, or None for a refusal."""
        yield Drop()
        yield Write(f"{command}\n")
        line, before = (yield from read_line(clock)), 0
        while line[0] not in "=?":
            before += 1
            line = yield from read_line(clock)
        if before:
            yield Note(f"wrote {before} lines before its reply to {command.split(maxsplit=1)[0]}")
        reply = [line[1:].strip()]
        while more := (yield Read(clock)):
            reply.append(str(more))
        return "\n".join(reply) if line[0] == "=" else None

    def bye(self) -> Steps[None]:
        """Ask the engine to quit, and wait for its answer."""
        yield Write("quit\n")
        yield Read("grace", allowed=(NoLine.ENDED, NoLine.TIME_UP))
