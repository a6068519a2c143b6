"""Rules: what is legal, and who won. Everything outside uses games through these names."""

from collections.abc import Callable, Mapping, Sequence

from games import othello, sowing
from games.core import Game, IllegalMove, MoveError, Position
from games.names import GameError, did_you_mean, listed, quoted, split_name

__all__ = ["GAMES", "NAMES", "Game", "GameError", "IllegalMove", "MoveError", "Position", "game"]

Builder = Callable[[str, Sequence[str]], Game]

GAMES: Mapping[str, Builder] = {
    "kalah": sowing.build,
    "kalah-2022": sowing.build,
    "kalah-paper": sowing.build,
    "kalah-kgp": sowing.build,
    "kalah-manchester": sowing.build,
    "owari": sowing.build,
    "othello": othello.build,
    "othello-adjacent": othello.build,
}
NAMES = tuple(GAMES)


def game(text: str) -> Game:
    """The game that `text` names: "kalah", "othello(6)", "kalah(3,2,capture=none)"."""
    name, arguments = split_name(text)
    if name not in GAMES:
        raise GameError(
            f"there is no game {quoted(name)} (there are {listed(GAMES)})"
            f"{did_you_mean(name, GAMES)}"
        )
    return _canonical(GAMES[name](name, arguments))


def _canonical(made: Game) -> Game:
    """One object a game, so that its context and kernels are made once."""
    return _made.setdefault(made.name, made)


_made: dict[str, Game] = {}
