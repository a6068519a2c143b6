"""The rules of games: `game(name)` and the types that it returns."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from games.base.text import GameError, did_you_mean, join_names, parse_game_name, quote
from games.core import Game, IllegalMove, MoveError, Position, thread_safe_cache

__all__ = [
    "GAMES",
    "NAMES",
    "Game",
    "GameError",
    "IllegalMove",
    "MoveError",
    "Position",
    "game",
]

# The package that builds each game, by name: it is imported when one of its games is first used.
GAMES: Mapping[str, str] = {
    "kalah": "games.sowing",
    "kalah-2022": "games.sowing",
    "kalah-paper": "games.sowing",
    "kalah-kgp": "games.sowing",
    "kalah-manchester": "games.sowing",
    "owari": "games.sowing",
    "othello": "games.othello",
    "othello-adjacent": "games.othello",
}
NAMES = tuple(GAMES)
USER_GAMES = "games.user_games.load"  # as text, for the same reason
GAME_FILE = re.compile(r"\.py\s*(:|$)")


def game(text: str, base: Path = Path()) -> Game:
    """Return the game that `text` names: "kalah", "othello(6)", "kalah(3,2,capture=none)".

    The path of a user's file, as in "games/mine.py:mine(7,6)", is relative to `base`.
    """
    if GAME_FILE.search(text):
        made: Game = import_module(USER_GAMES).user_game(text, base)
        return made
    return _canonical(_build_game(text).name)


def _build_game(text: str) -> Game:
    name, arguments = parse_game_name(text)
    if name not in GAMES:
        raise GameError(
            f"there is no game {quote(name)} (there are {join_names(GAMES)})"
            f"{did_you_mean(name, GAMES)}"
        )
    made: Game = import_module(GAMES[name]).build(name, arguments)
    return made


@thread_safe_cache
def _canonical(name: str) -> Game:
    """Return the one object of a game, so that its context and kernels are built only once."""
    return _build_game(name)
