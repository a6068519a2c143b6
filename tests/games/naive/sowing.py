"""Kalah and Owari in plain Python, one function per rule, slow on purpose.

A cell is a pair (side, k): side 0 is South, 1 North; k = 0..m-1 is a hole, 0 farthest from the
owner's pot; k = m is the owner's pot.
"""

from typing import NamedTuple


class Rules(NamedTuple):
    """One ruleset of the sowing family; the defaults are the preset `kalah`."""

    holes: int = 6
    beans: int = 4
    extra_turn: str = "yes"  # yes, no, not-first
    capture: str = "both"  # both, opposite, none
    capture_needs_nonempty: bool = True
    end_when: str = "either"  # either, mover
    majority_ends: bool = False
    swap: bool = False
    opponent_pot: bool = False
    skip_start: bool = False
    sweep: str = "owner"  # owner, ender, nobody


PRESETS = {
    "kalah": Rules(),
    "kalah-2022": Rules(end_when="mover"),
    "kalah-paper": Rules(capture_needs_nonempty=False),
    "kalah-kgp": Rules(majority_ends=True),
    "kalah-manchester": Rules(holes=7, beans=7, extra_turn="not-first", swap=True),
    "owari": Rules(holes=6, beans=3, extra_turn="no", capture="opposite"),
}


class State(NamedTuple):
    """A position; rows are in sowing order, rows[0] is South's."""

    rules: Rules
    rows: tuple[tuple[int, ...], tuple[int, ...]]
    pots: tuple[int, int]
    side: int  # the side to move, 0 South, 1 North; who owns it is another matter
    first_ply: bool = False  # no sowing has been played yet
    swap_offered: bool = False  # North has not acted yet
    swapped: bool = False  # the players have exchanged sides
    over: bool = False


# ------------------------------------------------------------------ positions


def start(rules: Rules) -> State:
    """The same beans in every hole, the pots empty, South to move."""
    row = (rules.beans,) * rules.holes
    return given(rules, row, row, (0, 0), 0, first_ply=True, swap_offered=rules.swap)


def given(
    rules: Rules,
    south: tuple[int, ...],
    north: tuple[int, ...],
    pots: tuple[int, int],
    side: int,
    *,
    first_ply: bool = False,
    swap_offered: bool = False,
    swapped: bool = False,
) -> State:
    """A position set up by hand, rows in sowing order; a side to move without beans: over."""
    rows = (tuple(south), tuple(north))
    state = State(rules, rows, tuple(pots), side, first_ply, swap_offered, swapped)
    return swept(state, ender=1 - side) if row_is_empty(state, side) else state


def mover(state: State) -> int:
    """The player to move: 0 is the one who made the first ply."""
    return 1 - state.side if state.swapped else state.side


def over(state: State) -> bool:
    return state.over


def score(state: State) -> tuple[int, int]:
    """Pots of the first and of the second player."""
    south, north = state.pots
    return (north, south) if state.swapped else (south, north)


def margin(state: State) -> int:
    """First player's pot minus second player's pot."""
    first, second = score(state)
    return first - second


def total(state: State) -> int:
    """All beans, on the board and in the pots."""
    return sum(state.rows[0]) + sum(state.rows[1]) + sum(state.pots)


# ---------------------------------------------------------------------- moves


def legal(state: State) -> list[int]:
    """Holes of the side to move that hold a bean, in sowing order; then `holes` for the swap."""
    if state.over:
        return []
    sowings = [k for k, beans in enumerate(state.rows[state.side]) if beans > 0]
    return [*sowings, state.rules.holes] if may_swap(state) else sowings


def may_swap(state: State) -> bool:
    """Only North's first action may be a swap."""
    return state.rules.swap and state.swap_offered and state.side == 1 and not state.over


def play(state: State, move: int) -> State:
    if move not in legal(state):
        raise ValueError(f"illegal move {move}, legal are {legal(state)}")
    if move == state.rules.holes:
        return exchange_sides(state)
    return play_ply(state, move)


def exchange_sides(state: State) -> State:
    """The players change sides; the board is not touched and North is still to move."""
    return state._replace(swapped=not state.swapped, swap_offered=False)


def play_ply(state: State, hole: int) -> State:
    """One ply: sow, capture, pass the turn, test for the end."""
    board = {(side, k): state.rows[side][k] for side in (0, 1) for k in range(state.rules.holes)}
    board[0, state.rules.holes], board[1, state.rules.holes] = state.pots

    last = sow(state.rules, board, state.side, hole)
    capture(state.rules, board, state.side, last)
    after = state._replace(
        rows=(row_of(state.rules, board, 0), row_of(state.rules, board, 1)),
        pots=(board[0, state.rules.holes], board[1, state.rules.holes]),
        side=state.side if moves_again(state, last) else 1 - state.side,
        first_ply=False,
        swap_offered=state.swap_offered and state.side == 0,
    )
    return swept(after, ender=state.side) if ends(after) else after


# -------------------------------------------------------------- rules of a ply


def sow(rules: Rules, board: dict, mover_side: int, hole: int) -> tuple[int, int]:
    """Take up a hole, drop the beans one by one on the following cells; the last cell sown."""
    origin = (mover_side, hole)
    in_hand = board[origin]
    board[origin] = 0
    cell = origin
    while in_hand > 0:
        cell = next_cell(rules, cell)
        if takes_a_bean(rules, cell, mover_side, origin):
            board[cell] += 1
            in_hand -= 1
    return cell


def next_cell(rules: Rules, cell: tuple[int, int]) -> tuple[int, int]:
    """Counterclockwise: along the row, into its owner's pot, then the other row."""
    side, k = cell
    return (side, k + 1) if k < rules.holes else (1 - side, 0)


def takes_a_bean(
    rules: Rules, cell: tuple[int, int], mover_side: int, origin: tuple[int, int]
) -> bool:
    if cell == (1 - mover_side, rules.holes):
        return rules.opponent_pot
    if cell == origin:
        return not rules.skip_start
    return True


def capture(rules: Rules, board: dict, mover_side: int, last: tuple[int, int]) -> None:
    """The last bean fell in an own hole that was empty before it."""
    side, k = last
    if rules.capture == "none" or side != mover_side or k == rules.holes or board[last] != 1:
        return
    facing = opposite(rules, last)
    if rules.capture_needs_nonempty and board[facing] == 0:
        return
    pot = (mover_side, rules.holes)
    board[pot] += board[facing]
    board[facing] = 0
    if rules.capture == "both":
        board[pot] += board[last]
        board[last] = 0


def opposite(rules: Rules, cell: tuple[int, int]) -> tuple[int, int]:
    """The first hole of one side faces the last of the other."""
    side, k = cell
    return (1 - side, rules.holes - 1 - k)


def moves_again(before: State, last: tuple[int, int]) -> bool:
    """The last bean fell in the mover's own pot and the rules give a turn for that."""
    in_own_pot = last == (before.side, before.rules.holes)
    if before.rules.extra_turn == "not-first":
        return in_own_pot and not before.first_ply
    return in_own_pot and before.rules.extra_turn == "yes"


def row_of(rules: Rules, board: dict, side: int) -> tuple[int, ...]:
    return tuple(board[side, k] for k in range(rules.holes))


# --------------------------------------------------------------------- the end


def ends(state: State) -> bool:
    """Whether the ply that led to this position ended the game."""
    if state.rules.majority_ends and pot_holds_a_majority(state):
        return True
    if state.rules.end_when == "mover":
        return row_is_empty(state, state.side)
    return row_is_empty(state, 0) or row_is_empty(state, 1)


def row_is_empty(state: State, side: int) -> bool:
    return sum(state.rows[side]) == 0


def pot_holds_a_majority(state: State) -> bool:
    """More than half of all beans; exactly half is not enough."""
    return 2 * max(state.pots) > total(state)


def swept(state: State, ender: int) -> State:
    """The end: every hole is emptied, into the pot that the rules name."""
    left = [sum(state.rows[0]), sum(state.rows[1])]
    pots = list(state.pots)
    if state.rules.sweep == "owner":
        pots[0] += left[0]
        pots[1] += left[1]
    elif state.rules.sweep == "ender":
        pots[ender] += left[0] + left[1]
    nothing = (0,) * state.rules.holes
    return state._replace(rows=(nothing, nothing), pots=(pots[0], pots[1]), over=True)


# ----------------------------------------------------------------------- perft


def perft(state: State, depth: int) -> list[tuple[int, int]]:
    """For d = 1..depth: sequences of exactly d plies, games that ended at a ply before d."""
    leaves, ended = [0] * (depth + 1), [0] * (depth + 1)
    count(state, 0, leaves, ended)
    return [(leaves[d], sum(ended[:d])) for d in range(1, depth + 1)]


def count(state: State, ply: int, leaves: list[int], ended: list[int]) -> None:
    """Add this position and all that follow it to the tallies by ply; a swap is never played."""
    leaves[ply] += 1
    if ply + 1 == len(leaves):
        return
    if state.over:
        ended[ply] += 1
        return
    for k, beans in enumerate(state.rows[state.side]):
        if beans > 0:
            count(play_ply(state, k), ply + 1, leaves, ended)
