"""Features of positions in plain Python, counted by their definitions."""

from functools import cache

from tests.games.naive import othello as rules_of_othello
from tests.games.naive.othello import EIGHT_NEIGHBOURS, EMPTY, State, ray

SOWING = ("pot", "in_play", "extra_turn", "capture", "mobility", "far", "given_away")


@cache  # searches of other depths and weights come to the same rows
def sowing_counts(row, pot: int, other) -> dict[str, int]:
    """Every count for the owner of `row`; rows are in their owner's sowing order."""
    holes = len(row)
    return {
        "pot": pot,
        "in_play": sum(row),
        "extra_turn": sum(held == holes - hole for hole, held in enumerate(row)),
        "capture": max((prize(row, other, hole) for hole in range(holes)), default=0),
        "mobility": sum(held > 0 for held in row),
        "far": row[0],
        "given_away": sum(beans_given_away(row, hole) for hole in range(holes)),
    }


def beans_given_away(row, hole: int) -> int:
    """Beans that a sowing of the hole would drop in the other row, one by one."""
    given_away, cell = 0, hole
    for _ in range(row[hole]):
        cell = (cell + 1) % (2 * len(row) + 1)  # both rows, and the own pot between them
        given_away += cell > len(row)
    return given_away


def prize(row, other, hole: int) -> int:
    """Beans of the other row that sowing `hole` would take, laps aside."""
    last = hole + row[hole]
    if row[hole] == 0 or last >= len(row) or row[last] != 0:
        return 0
    return other[len(row) - 1 - last]


def sowing_score(plain, weights: dict[str, list[float]]) -> int:
    """The evaluation for the mover, in thousandths."""
    own = sowing_counts(plain.own, plain.own_pot, plain.other)
    other = sowing_counts(plain.other, plain.other_pot, plain.own)
    banked = plain.own_pot + plain.other_pot
    total = banked + sum(plain.own) + sum(plain.other)
    phase = banked * phases(weights) // (total + 1)
    return sum(
        round(1000 * in_phase(weights, name, phase)) * (own[name] - other[name]) for name in SOWING
    )


def phases(weights: dict[str, list[float]]) -> int:
    """As many as the longest list of weights has."""
    return max(map(len, weights.values()))


def in_phase(weights: dict[str, list[float]], name: str, phase: int) -> float:
    """The weight in a phase of the game; a shorter list is stretched."""
    values = weights.get(name, [0])
    return values[phase * len(values) // phases(weights)]


OTHELLO = ("disc", "mobility", "potential_mobility", "corner", "edge", "danger")


def othello_counts(state: State, side: int) -> dict[str, int]:
    """Every count of the classroom's six heuristics, corrected, for one side."""
    board, size = state.board, state.rules.size
    return {
        "disc": board.count(side),
        "mobility": len(rules_of_othello.placements(state, side)),
        "potential_mobility": potential_mobility(board, size, side),
        "corner": sum(board[square] == side for square in corners(size)),
        "edge": sum(edge_points(board, size, side, square) for square in border(size)),
        "danger": sum(danger_points(board, size, side, corner) for corner in corners(size)),
    }


def at(size: int, row: int, column: int) -> int:
    return row * size + column


def corners(size: int) -> list[int]:
    return [at(size, row, column) for row in (0, size - 1) for column in (0, size - 1)]


def border(size: int) -> list[int]:
    """The squares of the edges, corners left out, each once."""
    last = size - 1
    inner = range(1, last)
    across = [at(size, row, column) for row in (0, last) for column in inner]
    return across + [at(size, row, column) for row in inner for column in (0, last)]


def potential_mobility(board, size: int, side: int) -> int:
    """Return the number of empty squares next to a disc of the opponent."""
    return sum(
        board[square] == EMPTY and any(board[near] == 1 - side for near in around(size, square))
        for square in range(len(board))
    )


def around(size: int, square: int) -> list[int]:
    return [line[0] for step in EIGHT_NEIGHBOURS if (line := ray(size, square, step))]


def edge_points(board, size: int, side: int, square: int) -> int:
    """+1 stable, -3 dangerous, -1 any other disc of the side; 0 if it holds none."""
    if board[square] != side:
        return 0
    along = [(0, -1), (0, 1)] if square < size or square >= size * (size - 1) else [(-1, 0), (1, 0)]
    lines = [ray(size, square, step) for step in along]
    if any(all(board[each] == side for each in line) for line in lines):
        return 1
    # A C-square is next to a corner.
    dangerous = any(len(line) == 1 and board[line[0]] == EMPTY for line in lines)
    return -3 if dangerous else -1


def danger_points(board, size: int, side: int, corner: int) -> int:
    """-2 for a disc on the X-square of an empty corner."""
    row, column = divmod(corner, size)
    inner = at(size, 1 if row == 0 else size - 2, 1 if column == 0 else size - 2)
    return -2 if board[corner] == EMPTY and board[inner] == side else 0


def ratio(a: int, b: int) -> float:
    return 100 * (a - b) / (abs(a) + abs(b)) if a or b else 0.0


def othello_total(state: State, weights: dict[str, list[float]]) -> float:
    """The weighted sum of ratios for the mover."""
    own, other = othello_counts(state, state.side), othello_counts(state, 1 - state.side)
    discs = len(state.board) - state.board.count(EMPTY)
    phase = discs * phases(weights) // (len(state.board) + 1)
    return sum(in_phase(weights, name, phase) * ratio(own[name], other[name]) for name in OTHELLO)


def thousandths(total: float) -> int:
    """The nearest whole number of thousandths, halves away from zero."""
    return int(1000 * total + (0.5 if total > 0 else -0.5))
