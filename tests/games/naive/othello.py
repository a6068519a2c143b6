"""Othello, standard and adjacent, in plain Python, one function per rule, slow on purpose.

Squares are numbered row by row from a1; a square holds EMPTY or the disc of side 0 or 1.
"""

from functools import cache, lru_cache
from typing import NamedTuple

EMPTY = -1

FOUR_NEIGHBOURS = [(-1, 0), (0, -1), (0, 1), (1, 0)]
EIGHT_NEIGHBOURS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


class Rules(NamedTuple):
    """The size, and whether a new disc must flip something or need only touch another."""

    size: int = 8
    adjacent: bool = False
    adjacency: int = 8  # 4 or 8 neighbours; says nothing about flipping


PRESETS = {"othello": Rules(), "othello-adjacent": Rules(adjacent=True)}


class State(NamedTuple):
    """A position; `board` is row-major from a1."""

    rules: Rules
    board: tuple[int, ...]
    side: int  # 0 Black (X), 1 White (O)


# ------------------------------------------------------------------ positions


def start(rules: Rules) -> State:
    """White on the falling diagonal of the centre, Black on the rising one, Black to move."""
    half = rules.size // 2
    board = [EMPTY] * rules.size**2
    for row, column, side in [
        (half - 1, half - 1, 1),
        (half, half, 1),
        (half - 1, half, 0),
        (half, half - 1, 0),
    ]:
        board[row * rules.size + column] = side
    return State(rules, tuple(board), 0)


def given(rules: Rules, board: tuple[int, ...], side: int) -> State:
    """A position set up by hand."""
    return State(rules, tuple(board), side)


def mover(state: State) -> int:
    return state.side


def discs(state: State, side: int) -> int:
    return state.board.count(side)


def raw_score(state: State) -> tuple[int, int]:
    """Discs of the first and of the second player."""
    return (discs(state, 0), discs(state, 1))


def score(state: State) -> tuple[float, float]:
    """Discs; once the game is over the winner also gets the empty squares."""
    first, second = raw_score(state)
    empties = state.board.count(EMPTY)
    if not over(state):
        return (first, second)
    if first > second:
        return (first + empties, second)
    if second > first:
        return (first, second + empties)
    return (len(state.board) / 2, len(state.board) / 2)


def raw_margin(state: State) -> int:
    """First player's discs minus second player's."""
    return discs(state, 0) - discs(state, 1)


def margin(state: State) -> int:
    """First minus second; once the game is over the empties count for the winner."""
    first, second = score(state)
    return int(first - second)


# ---------------------------------------------------------------------- moves


def legal(state: State) -> list[int]:
    """Squares in ascending order, or only the pass (size * size), or nothing once it is over."""
    own = placements(state, state.side)
    if own:
        return own
    if placements(state, 1 - state.side):
        return [state.rules.size**2]
    return []


def over(state: State) -> bool:
    """Neither side can place a disc."""
    return not placements(state, 0) and not placements(state, 1)


def play(state: State, move: int) -> State:
    if move not in legal(state):
        raise ValueError(f"illegal move {move}, legal are {legal(state)}")
    board = list(state.board)
    if move < len(board):
        for square in [move, *flips(state, state.side, move)]:
            board[square] = state.side
    return State(state.rules, tuple(board), 1 - state.side)


# -------------------------------------------------------------- rules of a ply


def placements(state: State, side: int) -> list[int]:
    """Every square on which this side could put a disc now."""
    return list(_placements(state, side))


@lru_cache(maxsize=1000)  # legal, over, score and play ask for the same
def _placements(state: State, side: int) -> tuple[int, ...]:
    return tuple(
        square
        for square, content in enumerate(state.board)
        if content == EMPTY and may_place(state, side, square)
    )


def may_place(state: State, side: int, square: int) -> bool:
    if state.rules.adjacent:
        return touches_a_disc(state, square)
    return flips(state, side, square) != []


def touches_a_disc(state: State, square: int) -> bool:
    steps = FOUR_NEIGHBOURS if state.rules.adjacency == 4 else EIGHT_NEIGHBOURS
    neighbours = [ray(state.rules.size, square, step)[:1] for step in steps]
    return any(state.board[one[0]] != EMPTY for one in neighbours if one)


def flips(state: State, side: int, square: int) -> list[int]:
    """All discs that turn when this side puts one on the square."""
    flipped = []
    for step in EIGHT_NEIGHBOURS:
        flipped += bracketed(state, side, ray(state.rules.size, square, step))
    return flipped


def bracketed(state: State, side: int, line: tuple[int, ...]) -> list[int]:
    """The opponent's discs at the near end of the line, if an own disc follows without a gap."""
    run = []
    for square in line:
        if state.board[square] == 1 - side:
            run.append(square)
        elif state.board[square] == side:
            return run
        else:
            return []
    return []


@cache
def ray(size: int, square: int, step: tuple[int, int]) -> tuple[int, ...]:
    """The squares from here to the border in one direction, nearest first, without this one."""
    row, column = square // size + step[0], square % size + step[1]
    squares = []
    while 0 <= row < size and 0 <= column < size:
        squares.append(row * size + column)
        row, column = row + step[0], column + step[1]
    return tuple(squares)


# ----------------------------------------------------------------------- perft


def perft(state: State, depth: int) -> list[tuple[int, int]]:
    """For d = 1..depth: sequences of exactly d plies, games that ended at a ply before d."""
    leaves, ended = [0] * (depth + 1), [0] * (depth + 1)
    count(state, 0, leaves, ended)
    return [(leaves[d], sum(ended[:d])) for d in range(1, depth + 1)]


def count(state: State, ply: int, leaves: list[int], ended: list[int]) -> None:
    """Add this position and all that follow it to the tallies by ply; a pass is a ply."""
    leaves[ply] += 1
    if ply + 1 == len(leaves):
        return
    moves = legal(state)
    if not moves:
        ended[ply] += 1
    for move in moves:
        count(play(state, move), ply + 1, leaves, ended)
