"""Where a position is larger than anything this search ends: a word before it begins."""

from games.core import Game
from games.position import Position

# Beans in play, or empty squares, beyond which no solution in a day was seen here.
KALAH, NO_EXTRA_TURN, WHOLE_STATES = 54, 32, 22
OTHELLO = 26


def hopeless(of: Game, position: Position) -> str | None:
    """What to expect of a position that is too large; None if it is not, or nobody knows."""
    if of.pack == "othello":
        left, most = of.rules.cells - sum(of.raw_score(position)), OTHELLO
        what = "empty squares"
    elif of.pack == "sowing":
        rows = of.plain(position)
        left, most = sum(rows.own) + sum(rows.other), most_beans(of)
        what = "beans in play"
    else:
        return None
    if left <= most:
        return None
    return (
        f"{of.name}: {left} {what} are hopeless (about {most} can be solved): "
        "expect bounds, not the value"
    )


def most_beans(of: Game) -> int:
    """How many beans in play can be solved under the rules of this game."""
    if of.rules.holes > 7:
        return WHOLE_STATES
    return NO_EXTRA_TURN if of.rules.extra_turn == "no" else KALAH
