"""A warning, before the search begins, that a position is too large for it."""

from games.core import Game
from games.position import Position

# Beans in play, or empty squares, beyond which no position was solved within a day.
KALAH, NO_EXTRA_TURN, WHOLE_STATES = 54, 32, 22
OTHELLO = 26
# The most beans or empty squares at which 2,000 games are judged within seconds.
JUDGED = {KALAH: 32, NO_EXTRA_TURN: 20, WHOLE_STATES: 14, OTHELLO: 13}


def hopeless(of: Game, position: Position) -> str | None:
    """A warning about a position that is too large; None if it is not, or if that is unknown."""
    left = still_open(of, position)
    if left is None or left <= (most := most_solved(of)):
        return None
    return (
        f"{of.name}: {left} {what_is_open(of)} are hopeless (about {most} can be solved): "
        "expect bounds, not the value"
    )


def still_open(of: Game, position: Position) -> int | None:
    """Beans in play, or empty squares; None for a game whose difficulty is unknown."""
    if of.pack == "othello":
        return int(of.rules.cells - sum(of.raw_score(position)))
    if of.pack == "sowing":
        rows = of.plain(position)
        return int(sum(rows.own) + sum(rows.other))
    return None


def what_is_open(of: Game) -> str:
    """What `still_open` counts."""
    return "empty squares" if of.pack == "othello" else "beans in play"


def most_solved(of: Game) -> int:
    """The most beans in play, or empty squares, that can be solved."""
    return OTHELLO if of.pack == "othello" else most_beans(of)


def most_beans(of: Game) -> int:
    """The most beans in play that can be solved under this game's rules."""
    if of.rules.holes > 7:
        return WHOLE_STATES
    return NO_EXTRA_TURN if of.rules.extra_turn == "no" else KALAH


def usual_last(of: Game) -> int | None:
    """How many beans in play, or empty squares, whole runs are judged from in little time.

    None where nobody knows what makes a position hard.
    """
    if of.pack not in ("sowing", "othello"):
        return None
    return JUDGED[most_solved(of)]
