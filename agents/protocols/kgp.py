"""KGP, the Kalah Game Protocol: hosting clients; the other way is `kgp_client`."""

import random
import re
from collections.abc import Mapping, Sequence
from itertools import count

from agents.core import SpecError
from agents.protocols.conversation import (
    BotFault,
    Note,
    Ply,
    Question,
    Read,
    Said,
    Silence,
    Steps,
    Write,
    line_of,
)
from agents.protocols.kgp_client import SERVE_OPTIONS, serve
from agents.protocols.kgp_text import KgpCommand, board_text, command_of, in_quotes, line_of_command
from games import Game, Position
from games.keys import Key
from games.names import quoted

__all__ = ["OPTIONS", "SERVE_OPTIONS", "conversation", "serve"]

OPTIONS = (
    Key(
        "think_seconds",
        "float",
        "after how long the last move of a client counts that has not said yield",
        1.0,
        above=0,
        high=3600,
    ),
)
MUTE_STATES = 3  # in a row; our rule, so that a mute client does not play on at random


def conversation(of: Game, options: Mapping[str, object]) -> "KgpHost":
    """Ask a client."""
    if of.pack != "sowing" or of.swap_move is not None:
        raise SpecError(f"kgp is for sowing games without a swap, not for {of.name}")
    seconds = options.get("think_seconds") or OPTIONS[0].default
    assert isinstance(seconds, int | float)
    return KgpHost(of, float(seconds))


class KgpHost:
    """One client, which is South in every position that it sees."""

    def __init__(self, of: Game, think_seconds: float) -> None:
        """The conversation has not begun."""
        self.of, self.think_seconds = of, think_seconds
        self.ids = count(2, 2)
        self.seed = self.mute = 0

    def _line(self, name: str, *arguments: str, ref: int = 0) -> str:
        return line_of_command(next(self.ids), name, *arguments, ref=ref)

    def greet(self) -> Steps[None]:
        """Wait for `mode freeplay`; what the client says about itself is read and dropped."""
        self.ids, self.mute = count(2, 2), 0
        yield Write(self._line("kgp", "1", "0", "1"))
        while (command := command_of((yield from line_of("start")))) is None or (
            command.name != "mode"
        ):
            yield from self._aside(command)
        if command.arguments[:1] != ("freeplay",):
            yield Write(self._line("error", in_quotes("Unsupported activity"), ref=command.id))
            yield Write(self._line("goodbye"))
            wanted = quoted(" ".join(command.arguments))
            raise BotFault("unloadable", f"wants the mode {wanted}, not freeplay")
        yield Write(self._line("ok", ref=command.id))

    def _aside(self, command: KgpCommand | None) -> Steps[None]:
        """Handle what may arrive at any time; unknown lines are counted."""
        if command is None:
            yield Note("wrote a line that is no command")
        elif command.name == "ping":
            yield Write(self._line("pong", ref=command.id), aside=True)
        elif command.name == "set" and command.arguments[:1] == ("info:comment",):
            yield Said("comment", " ".join(command.arguments[1:]))
        elif command.name == "goodbye":
            raise BotFault("crashed", "said goodbye")
        elif command.name not in ("set", "pong", "ok", "error", "move", "yield"):
            yield Note(f"wrote an unknown command {quoted(command.name)}")

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Nothing to send: a client does not hear that a game begins."""
        self.seed, self.mute = seed, 0
        yield from ()

    def choose(self, question: Question) -> Steps[int]:
        """Show it the position; its last move counts, one drawn by us where it gives none."""
        state = next(self.ids)
        board = board_text(self.of.plain(question.position))
        yield Write(line_of_command(state, "state", board))
        number = yield from self._last_move(state)
        yield Write(self._line("stop", ref=state))
        if number is None:
            return (yield from self._drawn(question))
        self.mute = 0
        if number - 1 not in question.legal:
            legal = " ".join(str(move + 1) for move in question.legal)
            raise BotFault("illegal", f"chose {number}, which is not legal; legal: {legal}")
        return number - 1

    def _last_move(self, state: int) -> Steps[int | None]:
        """The last move before `yield` or the end of the time; None if there was none."""
        number = None
        while True:
            line = yield Read("move", allowed=(Silence.TIME_UP,), seconds=self.think_seconds)
            if not isinstance(line, str):
                return number
            if not line:
                continue
            command = command_of(line)
            if command is None or command.name not in ("move", "yield"):
                yield from self._aside(command)
            elif command.ref in (0, state):  # any other is late, and no fault
                if command.name == "yield":
                    return number
                number = _whole(command.arguments, number)

    def _drawn(self, question: Question) -> Steps[int]:
        """A random move, as the protocol demands for a client that sends none."""
        self.mute += 1
        yield Note("gave no move for a state; one was drawn")
        if self.mute == MUTE_STATES:
            raise BotFault("timeout", f"gave no move for {MUTE_STATES} states in a row")
        return random.Random(f"{self.seed} {question.ply}").choice(question.legal)

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """Nothing to send: a client does not hear that a game ends."""
        yield from ()

    def bye(self) -> Steps[None]:
        """Say goodbye."""
        yield Write(self._line("goodbye"))


def _whole(arguments: Sequence[str], otherwise: int | None) -> int | None:
    """The number of a move; a move without a number is ignored."""
    word = arguments[0] if arguments else ""
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,8}", word) else otherwise
