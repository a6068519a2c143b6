"""What people are told about a game: its sides, the move it asks for, why an answer is no move."""

from collections.abc import Callable
from typing import NamedTuple

from games.core import Game, IllegalMove
from games.names import quoted
from games.position import Position


def move_asked_for(of: Game, position: Position) -> str:
    """A game we know nothing else about asks for a move."""
    return "move"


def why_no_move(of: Game, position: Position, answer: str, move: int | None) -> str:
    """The game's own refusal."""
    try:
        of.parse_move(position, answer)
    except IllegalMove as error:
        return str(error)
    return f"{quoted(answer)} is not legal"


def nothing_swept(of: Game, before: Position, move: int) -> tuple[int, int]:
    """The last move is the end: nothing is left to hand out."""
    return 0, 0


class Words(NamedTuple):
    """What a pack says of its games; `why_not` gets an answer and the move it means, if any.

    `swept` counts what the end gave to the first and the second player after the last move.
    """

    sides: tuple[str, str] = ("first", "second")
    asked_for: Callable[[Game, Position], str] = move_asked_for
    why_not: Callable[[Game, Position, str, int | None], str] = why_no_move
    swept: Callable[[Game, Position, int], tuple[int, int]] = nothing_swept


def words_of(of: Game) -> Words:
    """The words of this game; plain ones for a pack that has none of its own."""
    if not of.has("words"):
        return Words()
    words: Words = of.part("words").WORDS
    return words


def side_name(of: Game, position: Position) -> str:
    """The side of the board that is to move, as players call it."""
    return words_of(of).sides[position.side]


def legal_texts(of: Game, position: Position) -> str:
    """The legal moves in one line, as they are written on the board; numbers ascend."""
    texts = [of.move_text(position, move) for move in of.legal(position)]
    return " ".join(sorted(texts, key=lambda text: int(text) if text.isdigit() else 99))
