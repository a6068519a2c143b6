"""Kernels for a referee: a state as an array that travels, and whole games played again."""

from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import ONE, ZERO, U
from games.kernels.board_layout import COUNT, LOOK, MOVER, STATE
from games.kernels.context import PASS, Context
from games.kernels.drivers import FAMILY_NAMES
from games.kernels.family import State, final, lowest, moves, none, over, play, rest, turned
from games.kernels.jit import Kernel, Scope, inline_copies, inlined, specialise
from games.kernels.quad import Quad
from games.kernels.splitmix import STRIDE
from games.kernels.streams import mixed

ILLEGAL = -1

# Columns of `replay`'s results.
LEGAL_PLIES, ENDED, MARGIN, GAME_ID = range(4)

Board = NDArray[np.uint64]


def unpacked(board: Board) -> State:
    """The state on the board; every family has its own."""
    raise NotImplementedError


def pack(board: Board, s: State) -> None:
    """Write the state on the board; every family has its own."""
    raise NotImplementedError


def advance(ctx: Context, board: Board, first_slot: int, slot: int) -> int:
    """Play a slot on the board, or LOOK; its mover and legal slots follow.

    How many slots there are, 0 for a forced pass, -1 when the game is over.
    """
    s = unpacked(board)
    if slot != LOOK:
        if slot == PASS:
            s, same = turned(s), ZERO == ONE
        else:
            s, same = play(ctx, s, U(slot))
        pack(board, s)
        if not same:
            board[MOVER] ^= ONE
    mask = moves(ctx, s)
    board[COUNT] = ZERO
    if none(mask):
        return -1 if over(ctx, s) else 0
    found = 0
    while not none(mask):
        board[first_slot + found] = U(lowest(mask))
        mask = rest(mask)
        found += 1
    board[COUNT] = U(found)
    return found


def legal(ctx: Context, s: State, slot: int) -> bool:
    """Whether the slot, or a PASS, may be played."""
    mask = moves(ctx, s)
    if none(mask):
        return slot == PASS and not over(ctx, s)
    while not none(mask):
        if np.int64(lowest(mask)) == slot:
            return True
        mask = rest(mask)
    return False


def replay(
    ctx: Context,
    start: State,
    slots: NDArray[np.int16],
    plies: NDArray[np.int32],
    results: NDArray[np.int64],
) -> int:
    """Play games again, one row of results each: what was legal, whether it ended, who won."""
    at = 0
    for game in range(plies.size):
        s, sign, length, game_id = start, 1, 0, STRIDE
        while length < plies[game] and legal(ctx, s, slots[at + length]):
            slot = np.int64(slots[at + length])
            if slot == PASS:
                s, same = turned(s), ZERO == ONE
            else:
                s, same = play(ctx, s, U(slot))
            if not same:
                sign = -sign
            game_id = (game_id ^ U(slot + 2)) * STRIDE
            length += 1
        at += plies[game]
        ended = none(moves(ctx, s)) and over(ctx, s)
        results[game, LEGAL_PLIES] = length
        results[game, ENDED] = 1 if ended else 0
        results[game, MARGIN] = sign * final(ctx, s) if ended else 0
        results[game, GAME_ID] = np.int64(mixed(game_id))
    return at


def words_of(state: type[State]) -> Iterator[tuple[str, int]]:
    """Every field of a state with the number of its words."""
    for name, kind in state.__annotations__.items():
        yield name, len(Quad._fields) if kind is Quad else 1


def packing(state: type[State], at: int = STATE) -> Scope:
    """`unpacked` and `pack` for one class of states: numbers in, numbers out from `at` on."""
    read, write = [], []
    for name, words in words_of(state):
        fields = [f".{each}" for each in Quad._fields] if words > 1 else [""]
        places = [f"board[{at + place}]" for place in range(words)]
        read.append(f"Quad({', '.join(places)})" if words > 1 else places[0])
        write += [
            f"{place} = U(s.{name}{field})" for place, field in zip(places, fields, strict=True)
        ]
        at += words
    body = "\n    ".join(write)
    text = f"def unpacked(board):\n    return State({', '.join(read)})\n"
    scope: Scope = {"State": state, "Quad": Quad, "U": U}
    exec(f"{text}def pack(board, s):\n    {body}\n", scope)
    return scope


TEMPLATES: tuple[Kernel, ...] = (advance, replay)


def of_family(family: ModuleType) -> SimpleNamespace:
    """The kernels compiled for one family of states."""
    names: Scope = {name: getattr(family, name) for name in FAMILY_NAMES}
    scope = packing(family.State)
    names |= {name: inlined(scope[name]) for name in ("unpacked", "pack")}
    names |= inline_copies([legal], names)
    return specialise(family.FAMILY, TEMPLATES, **names)
