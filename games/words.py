"""The words of a game at the terminal: its sides, its moves, what is wrong with an answer."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from games.core import Game, IllegalMove
from games.names import quoted
from games.position import Position


def move_noun(of: Game, position: Position) -> str:
    """The noun of a game that has no other."""
    return "move"


def why_no_move(of: Game, position: Position, answer: str, move: int | None) -> str:
    """Why an answer is refused, in any game."""
    try:
        of.parse_move(position, answer)
    except IllegalMove as error:
        return str(error)
    return f"{quoted(answer)} is not legal"


def nothing_swept(of: Game, position: Position, move: int) -> tuple[int, int]:
    """Nothing is handed out after the last move."""
    return 0, 0


def no_rule(of: Game) -> Sequence[str]:
    """A game whose rules are not put into words."""
    return ()


class Words(NamedTuple):
    """The words of a pack; `why_not` gets an answer and the move that it means, if any.

    `swept` counts what the end of the game gave to the first and the second player; `rule` says
    in about five lines how the game is played.
    """

    sides: tuple[str, str] = ("first", "second")
    noun: Callable[[Game, Position], str] = move_noun
    why_not: Callable[[Game, Position, str, int | None], str] = why_no_move
    swept: Callable[[Game, Position, int], tuple[int, int]] = nothing_swept
    rule: Callable[[Game], Sequence[str]] = no_rule


def words_of(of: Game) -> Words:
    """The words of this game; the plain ones if its pack has none."""
    if not of.has("words"):
        return Words()
    words: Words = of.part("words").WORDS
    return words


def side_name(of: Game, position: Position) -> str:
    """The side of the board to move, as players call it."""
    return words_of(of).sides[position.side]


def legal_texts(of: Game, position: Position) -> str:
    """The legal moves in one line, as they are written on the board; numbers ascend."""
    texts = [of.move_text(position, move) for move in of.legal(position)]
    return " ".join(sorted(texts, key=lambda text: int(text) if text.isdigit() else 99))
