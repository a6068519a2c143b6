"""Othello bots that read a file `state` and append to a file `action`, a process for each move.

The command gets both paths. The state is the player, 1 or 2, the board row by row with 0, 1 and 2,
the number of legal points, and these as `x y`, row and column from 0. The last whole line of the
actions when the bot ends, or when its time is over, is its move. `file_relay` carries both.
"""

from collections.abc import Mapping, Sequence

from agents.core import Agent, SpecError
from agents.protocols.conversation import (
    BotFault,
    Host,
    NoLine,
    Ply,
    Question,
    Read,
    Restart,
    Steps,
    Write,
    choose_move,
)
from games import Game, GameError, Position
from games.base.schema import Key
from games.base.text import quote

OPTIONS: tuple[Key, ...] = ()
DISCS = "-XO"  # as a position is written: none, the first player's, the second's


def conversation(of: Game, options: Mapping[str, object]) -> Host:
    """Ask a bot."""
    if of.pack != "othello":
        raise SpecError(f"files is for othello, not for {of.name}")
    return FilesHost(of)


def state_text(of: Game, position: Position, legal: Sequence[int]) -> str:
    """What the file `state` holds."""
    size, squares = of.rules.size, of.text(position).split()[0]
    rows = [squares[place : place + size] for place in range(0, size * size, size)]
    lines = [
        str(position.mover + 1),
        *(" ".join(str(DISCS.index(disc)) for disc in row) for row in rows),
        str(len(legal)),
        *(f"{move // size} {move % size}" for move in legal),
    ]
    return "".join(f"{line}\n" for line in lines)


class FilesHost:
    """A bot that lives for one move."""

    def __init__(self, of: Game) -> None:
        """Nothing is started yet."""
        self.of = of

    def greet(self) -> Steps[None]:
        """There is no greeting."""
        yield from ()

    def new_game(self, player: int, start: Position, seed: int) -> Steps[None]:
        """A bot does not hear that a game begins."""
        yield from ()

    def choose(self, question: Question) -> Steps[int]:
        """A process that gets the state; the last line that it has written by its end."""
        yield Restart()
        yield Write(state_text(self.of, question.position, question.legal))
        last: str | None = None
        while True:
            line = yield Read("move", allowed=(NoLine.ENDED, NoLine.TIME_UP))
            if not isinstance(line, str):
                break
            last = line or last
        yield Restart()  # who is still thinking has had its time
        if last is None:
            ended = line is NoLine.ENDED
            raise BotFault("crashed" if ended else "timeout", "wrote no action")
        return self._move(question, last)

    def _move(self, question: Question, line: str) -> int:
        words, size = line.split(), self.of.rules.size
        if len(words) != 2 or not all(word.isdecimal() and len(word) < 4 for word in words):
            raise BotFault("unreadable", f"wrote {quote(line)}, which is no point")
        x, y = map(int, words)
        move: int = x * size + y
        if max(x, y) >= size or move not in question.legal:
            points = ", ".join(f"{each // size} {each % size}" for each in question.legal)
            raise BotFault("illegal", f"wrote {quote(line)}, which is not legal; legal: {points}")
        return move

    def game_over(self, plies: Sequence[Ply]) -> Steps[None]:
        """A bot does not hear that a game ends."""
        yield from ()

    def bye(self) -> Steps[None]:
        """Nobody is there to take leave of."""
        yield from ()


def serve(of: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Read states line by line, and write the points of the agent's moves."""
    size = of.rules.size
    while True:
        lines: list[str] = []
        while len(lines) < size + 2 or len(lines) < size + 2 + parse_count(lines[size + 1]):
            line = yield Read("move", allowed=(NoLine.ENDED,))
            if not isinstance(line, str):
                return
            lines += [line] if line else []
        try:
            position = parse_state(of, lines)
        except GameError:
            continue  # what is no state is passed over
        if not of.over(position):
            move = yield from choose_move(position)
            yield Write(f"{move // size} {move % size}\n")


def parse_count(text: str) -> int:
    """The whole number of a line; 0 if it is none."""
    return int(text) if text.isdecimal() and len(text) < 4 else 0


def parse_state(of: Game, lines: Sequence[str]) -> Position:
    """The position of a state; GameError if it is none."""
    board = "".join(lines[1 : of.rules.size + 1]).replace(" ", "")
    known = dict(zip("012", DISCS, strict=True))
    mover = known.get(lines[0], "?")
    return of.parse(f"{''.join(known.get(disc, '?') for disc in board)} {mover}")
