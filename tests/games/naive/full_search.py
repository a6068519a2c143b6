"""Values of sowing games by searching everything on whole states, slow on purpose."""

from functools import cache

from tests.games.naive import sowing


def values(state: sowing.State) -> dict[int, int]:
    """The final margin of the player to move after each of its moves."""
    mover = sowing.mover(state)
    signs = {move: sowing.play(state, move) for move in sowing.legal(state)}
    return {
        move: value(child) if sowing.mover(child) == mover else -value(child)
        for move, child in signs.items()
    }


@cache
def value(state: sowing.State) -> int:
    """The final margin of the player to move, pots included."""
    if sowing.over(state):
        return sowing.margin(state) * (1 if sowing.mover(state) == 0 else -1)
    return max(values(state).values())
