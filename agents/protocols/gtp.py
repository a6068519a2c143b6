"""GTP 2 for Othello, both directions."""

from collections.abc import Callable, Mapping, Sequence

from agents.core import Agent, Resignation, SpecError
from agents.protocols.conversation import (
    BotFault,
    Clock,
    Drop,
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
from games import Game, GameError, Position, game
from games.base.schema import Key
from games.base.text import quote

COLOURS = ("black", "white")
WORDS: Mapping[str, int] = {"black": 0, "b": 0, "white": 1, "w": 1}
__all__ = ["OPTIONS", "conversation", "serve"]
OPTIONS: tuple[Key, ...] = ()
STANDARD_SIZE = 8
PASSES = ("pass", "pa")


class GtpError(Exception):  # an answer, not a fault
    """What follows the `?`."""


class GtpEngine:
    """A board that a host commands."""

    def __init__(self, of: Game, name: str) -> None:
        """The board at its start."""
        self.of, self.name = of, name
        self.positions: list[Position] = [of.start()]
        self.commands: Mapping[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: f"Pitflip {self.name}",
            "version": lambda _: "1",
            "list_commands": lambda _: "\n".join([*self.commands, "genmove", "reg_genmove"]),
            "known_command": self.known_command,
            "boardsize": self.boardsize,
            "set_game": self.set_game,
            "clear_board": self.clear_board,
            "komi": lambda _: "",
            "time_settings": lambda _: "",
            "time_left": lambda _: "",
            "play": self.play,
            "undo": self.undo,
            "showboard": lambda _: "\n" + self.of.draw(self.now),
            "final_score": self.final_score,
            "quit": self.quit,
        }
        self.ended = False

    @property
    def now(self) -> Position:
        """The position on the board."""
        return self.positions[-1]

    def quit(self, _: list[str]) -> str:
        """Answer, then end."""
        self.ended = True
        return ""

    def known_command(self, words: list[str]) -> str:
        """Whether a command is known."""
        known = words[:1] and words[0] in (*self.commands, "genmove", "reg_genmove")
        return "true" if known else "false"

    def boardsize(self, words: list[str]) -> str:
        """The same rules on a board of another size, if they know it."""
        try:
            (size,) = words
            self.of = game(f"{self.of.name.partition('(')[0]}({int(size)})")
        except (GameError, ValueError):
            raise GtpError("unacceptable size") from None
        return self.clear_board([])

    def set_game(self, words: list[str]) -> str:
        """Only Othello."""
        if [word.lower() for word in words] != ["othello"]:
            raise GtpError("unsupported game")
        return ""

    def clear_board(self, _: list[str]) -> str:
        """The start of a game."""
        self.positions = [self.of.start()]
        return ""

    def turn_to(self, words: list[str]) -> bool:
        """Whether the colour, which must be able to move, moves after a pass of the other."""
        if not words or words[0].lower() not in WORDS:
            raise GtpError("syntax error")
        if WORDS[words[0].lower()] == self.now.mover or self.of.over(self.now):
            return False
        if self.of.legal(self.now) != (self.of.pass_move,):
            raise GtpError("wrong colour")
        return True

    def play(self, words: list[str]) -> str:
        """Play a move of either side; a forced pass before it may be left out."""
        passes = self.turn_to(words)
        if len(words) != 2:
            raise GtpError("syntax error")
        assert self.of.pass_move is not None
        after = self.of.play(self.now, self.of.pass_move) if passes else self.now
        move = self.of.notation.parse_move(after, words[1])
        if move is None or move not in self.of.legal(after):
            raise GtpError("illegal move")
        self.positions.append(self.of.play(after, move))
        return ""

    def undo(self, _: list[str]) -> str:
        """Take the last move back, with a pass that was left out before it."""
        if len(self.positions) == 1:
            raise GtpError("cannot undo")
        self.positions.pop()
        return ""

    def final_score(self, _: list[str]) -> str:
        """The winner and by how much."""
        if not self.of.over(self.now):
            raise GtpError("cannot score")
        margin = self.of.margin(self.now)
        return f"{'B' if margin > 0 else 'W'}+{abs(margin)}" if margin else "0"

    def genmove(self, words: list[str], plays: bool) -> Steps[str]:
        """Our agent's move, `pass` if it has none; `plays` puts it on the board."""
        passes = self.turn_to(words)
        assert self.of.pass_move is not None
        position = self.of.play(self.now, self.of.pass_move) if passes else self.now
        if self.of.over(position):
            return "pass"
        move = yield from self._choice(position)
        if plays:
            self.positions.append(self.of.play(position, move))
        return self.of.move_text(position, move)

    def _choice(self, position: Position) -> Steps[int]:
        legal = self.of.legal(position)
        return (
            legal[0]
            if legal == (self.of.pass_move,)
            else (yield from choose_move(position, of=self.of))
        )

    def answer(self, line: str) -> Steps[str]:
        """The reply to a line, with its empty line; nothing for an empty line."""
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


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer every command until `quit` or the end of the input."""
    engine = GtpEngine(of, agent.spec.kind)
    while not engine.ended:
        line = yield Read("move", allowed=(NoLine.ENDED,))
        if not isinstance(line, str):
            return
        if reply := (yield from engine.answer(line)):
            yield Write(reply)


def conversation(of: Game, options: Mapping[str, object]) -> "GtpHost":
    """Ask an engine."""
    if of.pack != "othello":
        raise SpecError(f"gtp is for othello, not for {of.name}")
    return GtpHost(of)


class GtpHost:
    """One engine, which keeps its own board."""

    def __init__(self, of: Game) -> None:
        """The conversation has not begun."""
        self.of = of
        self.known: frozenset[str] = frozenset()  # the commands that the engine lists
        self.sent_plies = 0  # plies that are on the engine's board
        self.told_total = False

    def greet(self) -> Steps[None]:
        """Ask for its name; agree on game and size."""
        for command in ("name", "version"):
            yield from self._ask(command, "start")
        listed = yield from self._ask("list_commands", "start")
        self.known = frozenset((listed or "").split())
        if "set_game" in self.known:
            yield from self._ask("set_game Othello", "start")
        size = self.of.rules.size
        if size != STANDARD_SIZE and (yield from self._ask(f"boardsize {size}", "start")) is None:
            raise BotFault("unloadable", f"does not play on a board of {size}")

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Clear its board."""
        self.told_total = False
        yield from self._clear()

    def _clear(self) -> Steps[None]:
        self.sent_plies = 0
        if (yield from self._ask("clear_board", "grace")) is None:
            raise BotFault("unreadable", "refused clear_board")

    def choose(self, question: Question) -> Steps[int]:
        """Bring its board up to date and ask; a refusal is retried once on a new board."""
        plies, again = question.plies, "refused a legal move twice"
        if not (yield from self._in_step(plies)) and not (yield from self._afresh(plies)):
            raise BotFault("unreadable", again)
        answer = yield from self._genmove(question)
        if answer is None:
            in_step = yield from self._afresh(plies)
            answer = (yield from self._genmove(question)) if in_step else None
        if answer is None:
            raise BotFault("unreadable", "refused twice to choose a move")
        move = self._move(question, answer)
        self.sent_plies = question.ply + 1  # an engine plays what it chooses
        return move

    def _afresh(self, plies: Sequence[Ply]) -> Steps[bool]:
        yield Note("refused a legal move: the game was told again on a new board")
        yield from self._clear()
        return (yield from self._in_step(plies))

    def _in_step(self, plies: Sequence[Ply]) -> Steps[bool]:
        """Play the moves that its board lacks; whether it accepted all of them."""
        while self.sent_plies < len(plies):
            ply = plies[self.sent_plies]
            if ply.move != self.of.pass_move:
                play = f"play {self._colour(ply.before)} {self.of.move_text(ply.before, ply.move)}"
                if (yield from self._ask(play, "grace")) is None:
                    passed = yield from self._pass(plies[: self.sent_plies])
                    if not passed or (yield from self._ask(play, "grace")) is None:
                        return False
            self.sent_plies += 1
        return True

    def _pass(self, plies: Sequence[Ply]) -> Steps[bool]:
        """Send the forced pass that it did not infer; whether there was one."""
        if not plies or plies[-1].move != self.of.pass_move:
            return False
        yield from self._ask(f"play {self._colour(plies[-1].before)} pass", "grace")
        return True

    def _genmove(self, question: Question) -> Steps[str | None]:
        colour = self._colour(question.position)
        if question.game_seconds is not None:
            yield from self._tell_time(colour, int(question.game_seconds))
        answer = yield from self._ask(f"genmove {colour}", "move")
        if answer is None and (yield from self._pass(question.plies)):
            answer = yield from self._ask(f"genmove {colour}", "move")
        return answer

    def _tell_time(self, colour: str, seconds: int) -> Steps[None]:
        """Send the time left for the game."""
        if "time_settings" in self.known and not self.told_total:
            self.told_total = True
            yield from self._ask(f"time_settings {seconds} 0 0", "grace")
        if "time_left" in self.known:
            yield from self._ask(f"time_left {colour} {seconds} 0", "grace")

    def _colour(self, position: Position) -> str:
        return COLOURS[position.mover]

    def _move(self, question: Question, answer: str) -> int:
        word = answer.split(maxsplit=1)[0].lower() if answer.split() else ""
        if word == "resign":
            raise Resignation
        move = self.of.notation.parse_move(question.position, word)
        if move in question.legal:
            return move
        texts = " ".join(self.of.move_text(question.position, each) for each in question.legal)
        if move is None:
            raise BotFault("unreadable", f"answered {quote(answer)}, which is no move")
        raise BotFault("illegal", f"answered {quote(answer)}, which is not legal; legal: {texts}")

    def _ask(self, command: str, clock: Clock) -> Steps[str | None]:
        """The text of its reply, without its blank lines; None if it refuses."""
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

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """The next game clears its board."""
        yield from ()

    def bye(self) -> Steps[None]:
        """Ask it to end, and let it answer."""
        yield Write("quit\n")
        yield Read("grace", allowed=(NoLine.ENDED, NoLine.TIME_UP))
