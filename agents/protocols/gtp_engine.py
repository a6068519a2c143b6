"""GTP 2 for Othello: our agent as an engine."""

from collections.abc import Callable, Mapping

from agents.core import Agent
from agents.protocols.conversation import Read, Silence, Steps, Write, chosen
from games import Game, GameError, Position, game

COLOURS = ("black", "white")
WORDS: Mapping[str, int] = {"black": 0, "b": 0, "white": 1, "w": 1}


class Refused(Exception):  # noqa: N818  # an answer, not a fault
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
            raise Refused("unacceptable size") from None
        return self.clear_board([])

    def set_game(self, words: list[str]) -> str:
        """Only Othello."""
        if [word.lower() for word in words] != ["othello"]:
            raise Refused("unsupported game")
        return ""

    def clear_board(self, _: list[str]) -> str:
        """The start of a game."""
        self.positions = [self.of.start()]
        return ""

    def turn_to(self, words: list[str]) -> bool:
        """Whether the colour, which must be able to move, moves after a pass of the other."""
        if not words or words[0].lower() not in WORDS:
            raise Refused("syntax error")
        if WORDS[words[0].lower()] == self.now.mover or self.of.over(self.now):
            return False
        if self.of.legal(self.now) != (self.of.pass_move,):
            raise Refused("wrong colour")
        return True

    def play(self, words: list[str]) -> str:
        """Play a move of either side; a forced pass before it may be left out."""
        passes = self.turn_to(words)
        if len(words) != 2:
            raise Refused("syntax error")
        assert self.of.pass_move is not None
        after = self.of.play(self.now, self.of.pass_move) if passes else self.now
        move = self.of.notation.parse_move(after, words[1])
        if move is None or move not in self.of.legal(after):
            raise Refused("illegal move")
        self.positions.append(self.of.play(after, move))
        return ""

    def undo(self, _: list[str]) -> str:
        """Take the last move back, with a pass that was left out before it."""
        if len(self.positions) == 1:
            raise Refused("cannot undo")
        self.positions.pop()
        return ""

    def final_score(self, _: list[str]) -> str:
        """The winner and by how much."""
        if not self.of.over(self.now):
            raise Refused("cannot score")
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
            legal[0] if legal == (self.of.pass_move,) else (yield from chosen(position, of=self.of))
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
                raise Refused("unknown command")
        except Refused as refusal:
            return f"?{number} {refusal}\n\n"
        return f"={number} {text}".rstrip(" ") + "\n\n"


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer every command until `quit` or the end of the input."""
    engine = GtpEngine(of, agent.spec.kind)
    while not engine.ended:
        line = yield Read("move", allowed=(Silence.ENDED,))
        if not isinstance(line, str):
            return
        if reply := (yield from engine.answer(line)):
            yield Write(reply)
