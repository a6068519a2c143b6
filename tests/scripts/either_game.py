"""An evaluation for every game: how many more moves the mover has."""

from games.kernels.family import count, moves, turned


def evaluate(rules, position):
    return count(moves(rules, position)) - 0.5 * count(moves(rules, turned(position)))
