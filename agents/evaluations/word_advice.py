"""Which word of the game says what a user's evaluation tried to say in another way."""

from collections.abc import Collection

from games import Game
from games.names import MISTYPED, nearest, quoted
from games.pack import board_words


def words_of(of: Game) -> tuple[str, ...]:
    """The words and features that an evaluation of this game can import, words first."""
    return (*board_words(of.package), *(of.all_features if of.has("features") else ()))


def how_to_import(of: Game, word: str) -> str:
    """The line that brings a word into the user's file."""
    return f"from agents.features.{of.pack} import {word}"


def instead_of(of: Game, name: str, known: Collection[str]) -> str:
    """What to write instead of a name that is not defined; empty if nothing is near.

    `known` are the names that can be used where it stands.
    """
    both = [*known, *(word for word in words_of(of) if word not in known)]
    near = nearest(name, both, MISTYPED)
    if not near:
        return ""
    return (
        f"; did you mean {quoted(near)}?" if near in known else f"; write {how_to_import(of, near)}"
    )
