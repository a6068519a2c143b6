"""The Kalah Game Protocol, both directions."""

import random
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import games
from agents.core import Agent, SpecError
from agents.protocols.conversation import (
    BotFault,
    Choose,
    Data,
    Host,
    NoLine,
    Note,
    Question,
    Read,
    Steps,
    Write,
    read_line,
)
from games import Game, GameError, Position
from games.base.schema import Key
from games.base.text import quote

COMMAND = re.compile(
    r"\s*(?P<id>[0-9]{1,15})?(?:@(?P<ref>[0-9]{1,15}))?\s*(?P<name>[A-Za-z][\w:-]*)(?P<rest>.*)",
    re.DOTALL,
)
ARGUMENT = re.compile(r'\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<board><[0-9,]*>)|(?P<word>[^\s"<]+))')
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
SERVE_OPTIONS = (
    Key(
        "mode",
        "text",
        "the mode that the server is to use",
        "freeplay",
        choices=("freeplay", "verify"),
    ),
    Key("name", "text", "the name that is sent to the server", "pitflip"),
    Key("token", "text", "your token at the server"),
    Key("first_hole", "int", "the number of the first hole in a problem", 0, low=0, high=1),
    Key("flag", "text", "how a solution is flagged", "words", choices=("words", "numbers")),
)
# A server may register a state after sending it, and refuse earlier moves.
SETTLING_SECONDS = 0.02
MOST_REPEATS = 3  # of a refused move
HOLE = re.compile(r"[0-9]{1,9}")
MAJOR = "1"  # the supported protocol version
__all__ = ["OPTIONS", "SERVE_OPTIONS", "conversation", "serve"]
OPTIONS: tuple[Key, ...] = ()
THINK_SECONDS = 1.0  # the last move counts after this time without a yield
MAX_SILENT_STATES = 3  # in a row; our limit on random moves for a silent client


class KgpCommand(NamedTuple):
    """One line; missing `id` and `ref` are 0."""

    id: int
    ref: int
    name: str
    arguments: tuple[str, ...]


def parse_command(line: str) -> KgpCommand | None:
    """Return the command in a line, with or without quotes; None if the line is invalid."""
    found = COMMAND.fullmatch(line)
    if not found:
        return None
    arguments, rest = [], found["rest"].rstrip()
    while rest:
        argument = ARGUMENT.match(rest)
        if not argument:
            return None
        text = argument["text"]
        plain = text is None
        arguments.append(argument[0].strip() if plain else ESCAPED.sub(_unescape, text))
        rest = rest[argument.end() :]
    return KgpCommand(
        int(found["id"] or 0), int(found["ref"] or 0), found["name"], tuple(arguments)
    )


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]


def format_command(number: int, name: str, *arguments: str, ref: int = 0) -> str:
    """Return a line with its id, the id that it answers, and its end."""
    place = f"{number}@{ref}" if ref else str(number)
    return " ".join([place, name, *arguments]) + "\r\n"


def quote_argument(text: str) -> str:
    """Return the text as a quoted argument of a command."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def format_board(rows: Any, south_moves: bool = True) -> str:
    """Return a board as the protocol writes it; the mover is South by default."""
    south, north = (rows.own_pot, rows.own), (rows.other_pot, rows.other)
    if not south_moves:
        south, north = north, south
    numbers = (len(rows.own), south[0], north[0], *south[1], *north[1])
    return f"<{','.join(map(str, numbers))}>"


def parse_board_numbers(text: str) -> Sequence[int] | None:
    """Return size, both pots and both rows, South's first; None for an invalid board."""
    if not re.fullmatch(r"<[0-9]{1,9}(?:,[0-9]{1,9})*>", text):
        return None
    numbers = [int(word) for word in text[1:-1].split(",")]
    return numbers if len(numbers) == 2 * numbers[0] + 3 else None


def position_text(numbers: Sequence[int]) -> str:
    """Return the board in our notation, with South to move."""
    size, south_pot, north_pot, *holes = numbers
    south, north = holes[:size], holes[size:]
    rows = [" ".join(map(str, row)) for row in (south, north[::-1])]
    return f"S {rows[0]}, N {rows[1]}, pots {south_pot}-{north_pot}, South to move"


def format_position(rows: Any, position: Position) -> str:
    """Return the board of a position; South stays South."""
    return format_board(rows, south_moves=position.side == 0)


class KgpBoard(NamedTuple):
    """A board from a server: its numbers, the game of its size, the position."""

    numbers: Sequence[int]
    game: Game
    position: Position


class KgpClient:
    """Our side of the protocol: the open states by id, because games may be interleaved."""

    def __init__(self, game: Game, options: Mapping[str, object]) -> None:
        self.game = game
        self.options = {key.name: options.get(key.name) or key.default for key in SERVE_OPTIONS}
        self.ids = count(1, 2)
        self.open_states: dict[int, KgpBoard] = {}  # states that wait for a move
        self.moves: dict[int, tuple[int, int]] = {}  # state and move of each sent command, by id
        self.repeats: dict[int, int] = {}  # by state; stopped states have no entry
        self.ended = False

    def _line(self, name: str, *arguments: str, ref: int = 0) -> str:
        return format_command(next(self.ids), name, *arguments, ref=ref)

    def handle_line(self, line: str) -> str:
        """Return the immediate answer to a line, or an empty text."""
        command = parse_command(line)
        if command is None:
            return ""
        answers = {
            "kgp": self._greeting,
            "ping": lambda ping: self._line("pong", ref=ping.id),
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
            return self._line(
                "error", quote_argument("Unsupported protocol version"), ref=command.id
            )
        lines = [self._line("set", "info:name", quote_argument(str(self.options["name"])))]
        if token := self.options["token"]:
            lines.append(self._line("set", "auth:token", quote_argument(str(token))))
        return "".join([*lines, self._line("mode", str(self.options["mode"]))])

    def _state(self, command: KgpCommand) -> str:
        board = parse_board(self.game, command.arguments[0]) if command.arguments else None
        if board is None or command.id in self.repeats:
            return ""
        self.open_states[command.id] = board
        self.repeats[command.id] = 0
        return ""

    def _stop(self, command: KgpCommand) -> str:
        self.open_states.pop(command.ref, None)
        self.repeats.pop(command.ref, None)
        return ""

    def _goodbye(self, _: KgpCommand) -> str:
        self.ended = True
        return ""

    def _error(self, command: KgpCommand) -> str:
        """Send a refused move again while its state is open."""
        state, move = self.moves.get(command.ref, (0, 0))
        if self.repeats.get(state, MOST_REPEATS) >= MOST_REPEATS:
            return ""
        self.repeats[state] += 1
        return self.move_line(state, move) + self._line("yield", ref=state)

    def move_line(self, state: int, move: int) -> str:
        """Return the line of a move, counted from 1."""
        number = next(self.ids)
        self.moves[number] = state, move
        return format_command(number, "move", str(move), ref=state)

    def yield_line(self, state: int) -> str:
        """Return the line that ends a turn before the time is up."""
        return self._line("yield", ref=state)

    def _problem(self, command: KgpCommand) -> str:
        """Return the board after one ply, and whether the last bean fell into the own pot."""
        board = (
            parse_board(self.game, command.arguments[0]) if len(command.arguments) == 2 else None
        )
        if board is None or not HOLE.fullmatch(command.arguments[1]):
            return self._line("error", quote_argument("no problem"), ref=command.id)
        first_hole = self.options["first_hole"]
        assert isinstance(first_hole, int)
        numbers, game, position = board
        hole = int(command.arguments[1]) - first_hole
        if hole not in game.legal(position):
            return self._line("error", quote_argument("not a legal move"), ref=command.id)
        after = game.play(position, hole)
        in_pot = (hole + numbers[3 + hole]) % (2 * numbers[0] + 1) == numbers[0]
        flag = str(int(in_pot)) if self.options["flag"] == "numbers" else str(in_pot).lower()
        solved = format_position(game.plain(after), after)
        return self._line("solution", solved, flag, ref=command.id)


def parse_board(game: Game, text: str) -> KgpBoard | None:
    """Return the board in a text; None if it is invalid or impossible by our rules."""
    numbers = parse_board_numbers(text)
    try:
        if numbers is not None:
            resized = resize_game(game, numbers[0])
            return KgpBoard(numbers, resized, resized.parse(position_text(numbers)))
    except GameError:
        pass
    return None


def resize_game(game: Game, size: int) -> Game:
    """Return the game with the same rules and `size` holes a side."""
    if game.rules.holes == size:
        return game
    inside = game.name.partition("(")[2].removesuffix(")").split(",")
    return games.game(f"{game.name.partition('(')[0]}({','.join([str(size), *inside[1:]])})")


def serve(game: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Answer states until the server says goodbye or disconnects."""
    client = KgpClient(game, options)
    while not client.ended:
        if client.open_states:
            yield from _answer_state(client, next(iter(client.open_states)))
        elif (yield from _listen(client, None)):
            return


def _listen(client: KgpClient, seconds: float | None) -> Steps[bool]:
    """Answer the next line; return True if none came within `seconds` or the input ended."""
    allowed = (NoLine.ENDED,) if seconds is None else (NoLine.ENDED, NoLine.TIME_UP)
    line = yield Read("move", allowed, seconds)
    if not isinstance(line, str):
        client.ended = client.ended or line is NoLine.ENDED
        return True
    if answer := client.handle_line(line):
        yield Write(answer, aside=True)
    return False


def _answer_state(client: KgpClient, state: int) -> Steps[None]:
    """Send any legal move at once, because none counts after `stop`; then the agent's move."""
    numbers, game, position = client.open_states[state]
    while not (yield from _listen(client, SETTLING_SECONDS)):
        pass
    early = next((hole for hole in range(numbers[0]) if numbers[3 + hole]), 0)
    if state in client.open_states:
        yield Write(client.move_line(state, early + 1))
    if state in client.open_states and len(game.legal(position)) > 1:
        move = yield Choose(position, None, client.handle_line, game)
        assert isinstance(move, int)
        if state in client.open_states and move != early:
            yield Write(client.move_line(state, move + 1))
    if state in client.open_states:
        yield Write(client.yield_line(state))
        del client.open_states[state]


def conversation(game: Game, options: Mapping[str, object]) -> Host:
    """Host a client."""
    if game.pack != "sowing" or game.swap_move is not None:
        raise SpecError(f"kgp is for sowing games without a swap, not for {game.name}")
    return KgpHost(game)


class KgpHost(Host):
    """One client, which plays South in every position that it receives."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.ids = count(2, 2)
        self.seed = self.silent_states = 0

    def _line(self, name: str, *arguments: str, ref: int = 0) -> str:
        return format_command(next(self.ids), name, *arguments, ref=ref)

    def greet(self) -> Steps[None]:
        """Wait for `mode freeplay`; ignore information about the client."""
        self.ids, self.silent_states = count(2, 2), 0
        yield Write(self._line("kgp", "1", "0", "1"))
        while (command := parse_command((yield from read_line("start")))) is None or (
            command.name != "mode"
        ):
            yield from self._handle_other(command)
        if command.arguments[:1] != ("freeplay",):
            yield Write(self._line("error", quote_argument("Unsupported activity"), ref=command.id))
            yield Write(self._line("goodbye"))
            wanted = quote(" ".join(command.arguments))
            raise BotFault("unloadable", f"wants the mode {wanted}, not freeplay")
        yield Write(self._line("ok", ref=command.id))

    def _handle_other(self, command: KgpCommand | None) -> Steps[None]:
        """Handle a command that may arrive at any time."""
        if command is None:
            yield Note("wrote a line that is not a command")
        elif command.name == "ping":
            yield Write(self._line("pong", ref=command.id), aside=True)
        elif command.name == "set" and command.arguments[:1] == ("info:comment",):
            yield Data("comment", " ".join(command.arguments[1:]))
        elif command.name == "goodbye":
            raise BotFault("crashed", "said goodbye")
        elif command.name not in ("set", "pong", "ok", "error", "move", "yield"):
            yield Note(f"wrote an unknown command {quote(command.name)}")

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """Reset the counters; the client is not notified."""
        self.seed, self.silent_states = seed, 0
        yield from ()

    def choose(self, question: Question) -> Steps[int]:
        """Send the position and return the client's last move, or a random one without any."""
        state = next(self.ids)
        board = format_board(self.game.plain(question.position))
        yield Write(format_command(state, "state", board))
        number = yield from self._last_move(state)
        yield Write(self._line("stop", ref=state))
        if number is None:
            return (yield from self._draw_move(question))
        self.silent_states = 0
        if number - 1 not in question.legal:
            legal = " ".join(str(move + 1) for move in question.legal)
            raise BotFault("illegal", f"chose {number}, which is not legal; legal: {legal}")
        return number - 1

    def _last_move(self, state: int) -> Steps[int | None]:
        """Return the last move before `yield` or the end of the time, or None."""
        number = None
        while True:
            line = yield Read("move", allowed=(NoLine.TIME_UP,), seconds=THINK_SECONDS)
            if not isinstance(line, str):
                return number
            if not line:
                continue
            command = parse_command(line)
            if command is None or command.name not in ("move", "yield"):
                yield from self._handle_other(command)
            elif command.ref in (0, state):  # answers to earlier states are tolerated
                if command.name == "yield":
                    return number
                number = _move_number(command.arguments, number)

    def _draw_move(self, question: Question) -> Steps[int]:
        """Return a random move, which the protocol requires for a silent client."""
        self.silent_states += 1
        yield Note("gave no move for a state, so a random one was played")
        if self.silent_states == MAX_SILENT_STATES:
            raise BotFault("timeout", f"gave no move for {MAX_SILENT_STATES} states in a row")
        return random.Random(f"{self.seed} {question.ply}").choice(question.legal)

    def bye(self) -> Steps[None]:
        """Say goodbye."""
        yield Write(self._line("goodbye"))


def _move_number(arguments: Sequence[str], otherwise: int | None) -> int | None:
    """Return the number of a move; a move without a number is ignored."""
    word = arguments[0] if arguments else ""
    return int(word) if re.fullmatch(r"[+-]?[0-9]{1,8}", word) else otherwise
