"""An evaluation of Connect Four: cells that would make four in a row, and the middle column."""

from games.kernels.bits import ONE, ZERO, U, popcount

WEIGHTS = {"threat": 3.0, "middle": 1.0}


def four(discs, rows):
    """Return whether there are four in a row."""
    for step in (1, rows, rows + 1, rows + 2):
        pairs = discs & (discs >> U(step))
        if pairs & (pairs >> U(2 * step)) != ZERO:
            return True
    return False


def threats(own, other, columns, rows):
    """Return the number of empty cells that would give `own` four in a row."""
    found = 0
    for column in range(columns):
        for row in range(rows):
            cell = ONE << U(column * (rows + 1) + row)
            if (own | other) & cell == ZERO and four(own | cell, rows):
                found += 1
    return found


def evaluate(rules, position, weights):
    """Return how good the position is for the side to move."""
    columns, rows = rules[0], rules[1]
    own, other = position.own, position.other
    middle = ((ONE << U(rows)) - ONE) << U(columns // 2 * (rows + 1))
    central = 1.0 * popcount(own & middle) - 1.0 * popcount(other & middle)
    threat = threats(own, other, columns, rows) - threats(other, own, columns, rows)
    return weights.threat * threat + weights.middle * central
