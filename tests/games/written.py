"""Positions and moves in the form in which players write them, for tests to read like the rules."""

from games import game


def replayed(name: str, moves: str) -> list[str]:
    """The one-line texts of a game from its start, the start left out."""
    ours = game(name)
    return [ours.text(position) for position in ours.replay(moves)[1:]]


def after(name: str, text: str, move: str) -> str:
    """The one-line text after one move, as players write it, from a position set up by hand."""
    ours = game(name)
    position = ours.parse(text)
    return ours.text(ours.play(position, ours.parse_move(position, move)))


def legal(name: str, text: str) -> list[str]:
    """The legal moves of a position set up by hand, as players write them."""
    ours = game(name)
    position = ours.parse(text)
    return [ours.move_text(position, move) for move in ours.legal(position)]


def rows(text: str) -> str:
    """The two rows of a one-line text of a sowing game."""
    return text.partition(", pots")[0]
