"""Which word of the game says what a user's evaluation tried to say in another way."""

import inspect
import re

from agents.kernels.bind import part_names
from games import Game
from games.kernels.jit import unbound
from games.names import listed, nearest
from games.pack import board_words

# In a line of source: what is called, indexed or read from something.
READ = re.compile(r"\.(\w+)|(\w+)[ \t]*[(\[]")


def words_of(of: Game) -> tuple[str, ...]:
    """The words and features that an evaluation of this game can import, words first."""
    return (*board_words(of.package), *(of.all_features if of.has("features") else ()))


def how_to_import(of: Game, word: str) -> str:
    """The line that brings a word into the user's file."""
    return f"from agents.features.{of.pack} import {word}"


def word_for(of: Game, name: str) -> str:
    """The import of the word that stands for a name nobody defined; empty: there is none."""
    word = nearest(name, words_of(of))
    return how_to_import(of, word) if word else ""


def advice(of: Game, source: str) -> str:
    """What to write instead of a line that does not compile; empty for a game without words."""
    words = words_of(of)
    if not words:
        return ""
    tried = [name for pair in READ.findall(source) for name in pair if name]
    found = [nearest(name, words) for name in tried if name not in words]
    best = next((word for word in found if word), None)
    if best:
        return f"{of} has a word for that: {called(of, best)} ({how_to_import(of, best)})"
    return f"Words of {of}: {listed(words)} ({how_to_import(of, words[0])})"


def called(of: Game, word: str) -> str:
    """How a word is written, such as hole(rules, position, n)."""
    named = part_names(of.family_name, "features") | part_names(of.family_name, "board_words")
    return f"{word}({', '.join(inspect.signature(unbound(named[word])).parameters)})"
