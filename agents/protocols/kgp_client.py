"""KGP, the Kalah Game Protocol: our agent as a client of a server."""

import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import NamedTuple

from agents.core import Agent
from agents.protocols.conversation import Choose, Read, Silence, Steps, Write
from agents.protocols.kgp_text import (
    KgpCommand,
    board_numbers,
    command_of,
    in_quotes,
    line_of_command,
    position_text,
    rows_by_side,
)
from games import Game, GameError, Position, game
from games.keys import Key

SERVE_OPTIONS = (
    Key("mode", "text", "what the server is asked for", "freeplay", choices=("freeplay", "verify")),
    Key("name", "text", "the name that the server is told", "pitflip"),
    Key("token", "text", "what the server knows you by"),
    Key("first_hole", "int", "the number of the first hole in a problem", 0, low=0, high=1),
    Key("flag", "text", "how a solution is flagged", "words", choices=("words", "numbers")),
)
# A server may register a state only after sending it, and refuse a move that comes sooner.
SETTLING_SECONDS = 0.02
MOST_REPEATS = 3  # of one move that the server refuses
HOLE = re.compile(r"[0-9]{1,9}")
MAJOR = "1"  # the version of the protocol that we speak


class KgpBoard(NamedTuple):
    """A board that a server shows: its numbers, the game of its size, the position."""

    numbers: Sequence[int]
    of: Game
    position: Position


class KgpClient:
    """The states that are open, by their ids: several games may be interleaved."""

    def __init__(self, of: Game, options: Mapping[str, object]) -> None:
        """The conversation has not begun."""
        self.of = of
        self.options = {key.name: options.get(key.name) or key.default for key in SERVE_OPTIONS}
        self.ids = count(1, 2)
        self.open: dict[int, KgpBoard] = {}  # that wait for a move
        self.moves: dict[int, tuple[int, int]] = {}  # state and move of what we sent, by its id
        self.repeats: dict[int, int] = {}  # by state; a state that was stopped has no entry
        self.ended = False

    def _line(self, name: str, *arguments: str, ref: int = 0) -> str:
        return line_of_command(next(self.ids), name, *arguments, ref=ref)

    def heard(self, line: str) -> str:
        """The immediate answer, if there is one."""
        command = command_of(line)
        if command is None:
            return ""
        answers = {
            "kgp": self._greeting,
            "ping": lambda each: self._line("pong", ref=each.id),
            "state": self._state,
            "stop": self._stop,
            "error": self._error,
            "problem": self._problem,
            "goodbye": self._goodbye,
        }
        return answers[command.name](command) if command.name in answers else ""

    def _greeting(self, command: KgpCommand) -> str:
        if command.arguments[:1] != (MAJOR,):
            self.ended = True
            return self._line("error", in_quotes("Unsupported protocol version"), ref=command.id)
        lines = [self._line("set", "info:name", in_quotes(str(self.options["name"])))]
        if token := self.options["token"]:
            lines.append(self._line("set", "auth:token", in_quotes(str(token))))
        return "".join([*lines, self._line("mode", str(self.options["mode"]))])

    def _state(self, command: KgpCommand) -> str:
        board = board_in(self.of, command.arguments[0]) if command.arguments else None
        if board is None or command.id in self.repeats:
            return ""
        self.open[command.id] = board
        self.repeats[command.id] = 0
        return ""

    def _stop(self, command: KgpCommand) -> str:
        self.open.pop(command.ref, None)
        self.repeats.pop(command.ref, None)
        return ""

    def _goodbye(self, _: KgpCommand) -> str:
        self.ended = True
        return ""

    def _error(self, command: KgpCommand) -> str:
        """A move that was refused is sent again while its state is open."""
        state, move = self.moves.get(command.ref, (0, 0))
        if self.repeats.get(state, MOST_REPEATS) >= MOST_REPEATS:
            return ""
        self.repeats[state] += 1
        return self.move_line(state, move) + self._line("yield", ref=state)

    def move_line(self, state: int, move: int) -> str:
        """A move, counted from 1, for a state."""
        number = next(self.ids)
        self.moves[number] = state, move
        return line_of_command(number, "move", str(move), ref=state)

    def yield_line(self, state: int) -> str:
        """Say that we are done before the time is up."""
        return self._line("yield", ref=state)

    def _problem(self, command: KgpCommand) -> str:
        """The board after one ply, and whether the last bean fell in the own pot."""
        board = board_in(self.of, command.arguments[0]) if len(command.arguments) == 2 else None
        if board is None or not HOLE.fullmatch(command.arguments[1]):
            return self._line("error", in_quotes("no problem"), ref=command.id)
        first_hole = self.options["first_hole"]
        assert isinstance(first_hole, int)
        numbers, of, position = board
        hole = int(command.arguments[1]) - first_hole
        if hole not in of.legal(position):
            return self._line("error", in_quotes("not a legal move"), ref=command.id)
        after = of.play(position, hole)
        in_pot = (hole + numbers[3 + hole]) % (2 * numbers[0] + 1) == numbers[0]
        flag = str(int(in_pot)) if self.options["flag"] == "numbers" else str(in_pot).lower()
        solved = rows_by_side(of.plain(after), after)
        return self._line("solution", solved, flag, ref=command.id)


def board_in(of: Game, text: str) -> KgpBoard | None:
    """The board in a text; None if it is none, or one on which our rules cannot be played."""
    numbers = board_numbers(text)
    try:
        if numbers is not None:
            sized = game_of_size(of, numbers[0])
            return KgpBoard(numbers, sized, sized.parse(position_text(numbers)))
    except GameError:
        pass
    return None


def game_of_size(of: Game, size: int) -> Game:
    """The same rules on a board of this size."""
    if of.rules.holes == size:
        return of
    inside = of.name.partition("(")[2].removesuffix(")").split(",")
    return game(f"{of.name.partition('(')[0]}({','.join([str(size), *inside[1:]])})")


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer states until the server says goodbye or is gone."""
    client = KgpClient(of, options)
    while not client.ended:
        if client.open:
            yield from _answered(client, next(iter(client.open)))
        elif (yield from _listened(client, None)):
            return


def _listened(client: KgpClient, seconds: float | None) -> Steps[bool]:
    """Answer one line at once; whether nothing came, in `seconds` or ever."""
    allowed = (Silence.ENDED,) if seconds is None else (Silence.ENDED, Silence.TIME_UP)
    line = yield Read("move", allowed, seconds)
    if not isinstance(line, str):
        client.ended = client.ended or line is Silence.ENDED
        return True
    if answer := client.heard(line):
        yield Write(answer, aside=True)
    return False


def _answered(client: KgpClient, state: int) -> Steps[None]:
    """A legal move early, because nothing counts after `stop`, then the one we think of."""
    numbers, of, position = client.open[state]
    while not (yield from _listened(client, SETTLING_SECONDS)):
        pass
    early = next((hole for hole in range(numbers[0]) if numbers[3 + hole]), 0)
    if state in client.open:
        yield Write(client.move_line(state, early + 1))
    if state in client.open and len(of.legal(position)) > 1:
        move = yield Choose(position, None, client.heard, of)
        assert isinstance(move, int)
        if state in client.open and move != early:
            yield Write(client.move_line(state, move + 1))
    if state in client.open:
        yield Write(client.yield_line(state))
        del client.open[state]
