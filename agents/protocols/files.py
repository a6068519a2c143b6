"""Othello bots that read a file `state` and append to a file `action`, one process per move.

The command gets both paths. The state is the player, 1 or 2, the board row by row with 0, 1 and 2,
the number of legal points, and each of them as `x y`, row and column from 0. The move is the last
complete line of `action` when the bot ends or its time is up. The relay transfers both files.
"""

from collections.abc import Mapping, Sequence

from agents.core import Agent, SpecError
from agents.protocols.conversation import (
    BotFault,
    Host,
    NoLine,
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
DISCS = "-XO"  # none, first player's, second player's, as in a position's text


def conversation(game: Game, options: Mapping[str, object]) -> Host:
    """Host a bot."""
    if game.pack != "othello":
        raise SpecError(f"files is for othello, not for {game.name}")
    return FilesHost(game)


def state_text(game: Game, position: Position, legal: Sequence[int]) -> str:
    """Return the content of the file `state`."""
    size, squares = game.rules.size, game.text(position).split()[0]
    rows = [squares[place : place + size] for place in range(0, size * size, size)]
    lines = [
        str(position.mover + 1),
        *(" ".join(str(DISCS.index(disc)) for disc in row) for row in rows),
        str(len(legal)),
        *(f"{move // size} {move % size}" for move in legal),
    ]
    return "".join(f"{line}\n" for line in lines)


class FilesHost(Host):
    """A bot with one process per move."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def choose(self, question: Question) -> Steps[int]:
        """Start a process with the state; its last line is the move."""
        yield Restart()
        yield Write(state_text(self.game, question.position, question.legal))
        last: str | None = None
        while True:
            line = yield Read("move", allowed=(NoLine.ENDED, NoLine.TIME_UP))
            if not isinstance(line, str):
                break
            last = line or last
        yield Restart()  # end a process that still thinks
        if last is None:
            ended = line is NoLine.ENDED
            raise BotFault("crashed" if ended else "timeout", "wrote no action")
        return self._move(question, last)

    def _move(self, question: Question, line: str) -> int:
        words, size = line.split(), self.game.rules.size
        if len(words) != 2 or not all(word.isdecimal() and len(word) < 4 for word in words):
            raise BotFault("unreadable", f"wrote {quote(line)}, which is not a point")
        x, y = map(int, words)
        move: int = x * size + y
        if max(x, y) >= size or move not in question.legal:
            points = ", ".join(f"{legal // size} {legal % size}" for legal in question.legal)
            raise BotFault("illegal", f"wrote {quote(line)}, which is not legal; legal: {points}")
        return move


def serve(game: Game, agent: Agent, options: Mapping[str, object]) -> Steps[None]:
    """Read states line by line, and write the points of the agent's moves."""
    size = game.rules.size
    while True:
        lines: list[str] = []
        while len(lines) < size + 2 or len(lines) < size + 2 + parse_count(lines[size + 1]):
            line = yield Read("move", allowed=(NoLine.ENDED,))
            if not isinstance(line, str):
                return
            lines += [line] if line else []
        try:
            position = parse_state(game, lines)
        except GameError:
            continue  # skip invalid states
        if not game.over(position):
            move = yield from choose_move(position)
            yield Write(f"{move // size} {move % size}\n")


def parse_count(text: str) -> int:
    """Return the whole number of a line, or 0."""
    return int(text) if text.isdecimal() and len(text) < 4 else 0


def parse_state(game: Game, lines: Sequence[str]) -> Position:
    """Return the position of a state; GameError if it is invalid."""
    board = "".join(lines[1 : game.rules.size + 1]).replace(" ", "")
    known = dict(zip("012", DISCS, strict=True))
    mover = known.get(lines[0], "?")
    return game.parse(f"{''.join(known.get(disc, '?') for disc in board)} {mover}")
