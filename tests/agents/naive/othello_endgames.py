"""What is known of a late Othello position, in plain Python by its definitions."""

from tests.agents.naive.features import corners
from tests.games.naive.othello import EMPTY, State, legal, margin, over, placements, play, ray

ALONG = [(-1, 0), (0, -1), (0, 1), (1, 0)]


def value(state: State) -> int:
    """The final margin of the side to move when both sides play perfectly."""
    if over(state):
        return margin(state) * (1 if state.side == 0 else -1)
    return max(-value(play(state, move)) for move in legal(state))


def most_margin(state: State) -> int:
    """All squares, less twice the other side's discs that are joined to a corner on the border."""
    size, other = state.rules.size, 1 - state.side
    kept = {square for square in corners(size) if state.board[square] == other}
    waiting = list(kept)
    while waiting:
        square = waiting.pop()
        for line in (ray(size, square, step) for step in ALONG):
            near = line[0] if line else square
            if near not in kept and state.board[near] == other and on_border(size, near):
                kept.add(near)
                waiting.append(near)
    return len(state.board) - 2 * len(kept)


def on_border(size: int, square: int) -> bool:
    """Whether the square is on the rim of the board."""
    return {square // size, square % size} & {0, size - 1} != set()


def freedom(state: State, side: int) -> int:
    """The side's moves, those in corners twice."""
    moves = placements(state, side)
    return len(moves) + sum(square in corners(state.rules.size) for square in moves)


def quarter(state: State, square: int) -> tuple[bool, bool]:
    """In which quarter of the board the square is."""
    half = state.rules.size // 2
    return square // state.rules.size < half, square % state.rules.size < half


def odd_squares(state: State) -> set[int]:
    """The empty squares in quarters that have an odd number of them."""
    empties = [square for square, held in enumerate(state.board) if held == EMPTY]
    quarters = [quarter(state, square) for square in empties]
    return {square for square in empties if quarters.count(quarter(state, square)) % 2 == 1}


def late_urgency(state: State, move: int, answers_from: int) -> int:
    """How early to search the move when the rest is solved."""
    child = play(state, move)
    worth = -16 * freedom(child, child.side) - child.board.count(state.side) // 2
    if state.board.count(EMPTY) >= answers_from:
        replies = [play(child, reply) for reply in placements(child, child.side)]
        worth += 4 * min((freedom(each, each.side) for each in replies), default=64)
    worth += 4 if move in odd_squares(state) else 0
    return worth + (8 if move in corners(state.rules.size) else 0)
