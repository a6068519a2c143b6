"""Heuristic functions in plain Python, bean by bean and square by square."""

from tests.games.naive import othello, sowing
from tests.games.naive.othello import EIGHT_NEIGHBOURS, EMPTY, ray

OWN_POT, OTHER_ROW, OTHER_POT, NOWHERE = -1, -2, -3, -4


def sowing_words(state: sowing.State, hole: int) -> dict[str, int]:
    """Return every value of a hole of the side to move; its own holes are numbered from 0."""
    rules, side = state.rules, state.side
    board = {(s, k): state.rows[s][k] for s in (0, 1) for k in range(rules.holes)}
    board[0, rules.holes], board[1, rules.holes] = state.pots
    before = dict(board)
    beans = board[side, hole]
    last = sowing.sow(rules, board, side, hole)
    given = sum(board[1 - side, k] - before[1 - side, k] for k in range(rules.holes))
    facing = sum(board[1 - side, k] for k in range(rules.holes))
    if beans:
        sowing.capture(rules, board, side, last)
    taken = facing - sum(board[1 - side, k] for k in range(rules.holes))
    return {
        "hole": beans,
        "empty": beans == 0,
        "facing": before[1 - side, rules.holes - 1 - hole],
        "near_pot": before[side, rules.holes - 1 - hole],
        "distance": rules.holes - hole,
        "last_lands_in": place(rules, side, last) if beans else NOWHERE,
        "ends_in_pot": bool(beans) and last == (side, rules.holes),
        "captures": taken,
        "gives_away": given,
    }


def place(rules: sowing.Rules, side: int, cell: tuple[int, int]) -> int:
    """Return the own hole from 0, or a code for any other cell."""
    owner, k = cell
    if owner == side:
        return k if k < rules.holes else OWN_POT
    return OTHER_ROW if k < rules.holes else OTHER_POT


def othello_words(state: othello.State, square: int) -> dict[str, int]:
    """Return every value of a square for the side to move."""
    board, size, side = state.board, state.rules.size, state.side
    near = [line[0] for step in EIGHT_NEIGHBOURS if (line := ray(size, square, step))]
    row, column = divmod(square, size)
    may = square in othello.placements(state, side)
    return {
        "disc_at": 0 if board[square] == EMPTY else 1 if board[square] == side else -1,
        "flipped": len(othello.flips(state, side, square)) if may else 0,
        "neighbours": sum(board[each] != EMPTY for each in near),
        "empty_neighbours": sum(board[each] == EMPTY for each in near),
        "edge_distance": min(row, size - 1 - row, column, size - 1 - column),
    }


def frontier(state: othello.State) -> int:
    """Return the number of own discs next to an empty square."""
    size = state.rules.size
    return sum(
        content == state.side
        and any(
            state.board[line[0]] == EMPTY
            for step in EIGHT_NEIGHBOURS
            if (line := ray(size, square, step))
        )
        for square, content in enumerate(state.board)
    )


def stable(state: othello.State) -> set[int]:
    """Discs of the side to move that are safe on each of four axes, found one after another."""
    size, safe = state.rules.size, set()
    while True:
        found = {
            square
            for square, content in enumerate(state.board)
            if content == state.side
            and all(is_safe(state.board, size, safe, square, step) for step in EIGHT_NEIGHBOURS[:4])
        }
        if found == safe:
            return safe
        safe = found


def is_safe(board, size: int, safe: set[int], square: int, step: tuple[int, int]) -> bool:
    """Whether the line through the square is full, or one of its ends is the border or safe."""
    there = ray(size, square, step)
    back = ray(size, square, (-step[0], -step[1]))
    if all(board[each] != EMPTY for each in (*there, *back)):
        return True
    return any(not line or line[0] in safe for line in (there, back))
