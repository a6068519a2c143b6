"""Rules: what is legal, who won. Everything outside uses games by these names."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from games.base.text import GameError, did_you_mean, listed, parse_game_name, quote
from games.core import Game, IllegalMove, MoveError, Position, once

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

# Each name with the pack that builds its games, as text: a pack loads when a game of it is built.
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
USER_GAMES = "games.user_games.load"  # as text too
GAME_FILE = re.compile(r"\.py\s*(:|$)")


def game(text: str, base: Path = Path()) -> Game:
    """The game that `text` names: "kalah", "othello(6)", "kalah(3,2,capture=none)".

    A user's file, "games/mine.py:mine(7,6)", is seen from the directory `base`.
    """
    if GAME_FILE.search(text):
        made: Game = import_module(USER_GAMES).user_game(text, base)
        return made
    return _canonical(_build_game(text).name)


def _build_game(text: str) -> Game:
    name, arguments = parse_game_name(text)
    if name not in GAMES:
        raise GameError(
            f"there is no game {quote(name)} (there are {listed(GAMES)}){did_you_mean(name, GAMES)}"
        )
    made: Game = import_module(GAMES[name]).build(name, arguments)
    return made


@once
def _canonical(name: str) -> Game:
    """One object for each game, so that its context and kernels are made once."""
    return _build_game(name)
