"""The packed state with a phase, for games whose first turn has special rules."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, Truth, U
from games.kernels.context import RULES, Context
from games.kernels.hashing import pair_key
from games.kernels.jit import inline
from games.kernels.masks import count, except_highest, none, rest
from games.kernels.streams import mixed
from games.sowing import packed
from games.sowing.packed import (
    CELL_FUNCTIONS,
    MOST_BEANS,
    POT,
    end_slot,
    facing_held,
    first_slot,
    held,
    highest,
    lowest,
    nth,
    over,
    pot_beans,
    reaching,
    row_beans,
)
from games.sowing.rules import (
    FIRST_PLY,
    FIRST_TURN,
    LATE_EXTRA,
    SETTLED,
    SWAP,
    SWAP_OPEN,
    Rows,
    SowingRules,
    start_rows,
)

__all__ = [  # functions of the family that are defined elsewhere
    "CELL_FUNCTIONS",
    "MOST_BEANS",
    "count",
    "end_slot",
    "except_highest",
    "facing_held",
    "first_slot",
    "held",
    "highest",
    "lowest",
    "none",
    "nth",
    "over",
    "pot_beans",
    "reaching",
    "rest",
    "row_beans",
]
FAMILY = "sowing_phased"
SWAP_SLOT = U(POT)
SWAP_BIT = ONE << U(63)
make_context = packed.make_context


@inline
def moves_again(ctx: Context, phase: np.uint64, same: Truth) -> Truth:
    """Return whether the mover moves again; `same` is the answer without phases."""
    return same and not (phase == U(FIRST_PLY) and ctx[RULES + LATE_EXTRA] != 0)


@inline
def next_phase(ctx: Context, phase: np.uint64, same: Truth) -> np.uint64:
    """Return the phase after a sowing: the swap opens after the first turn."""
    if ctx[RULES + SWAP] == 0 or phase == U(SETTLED) or phase == U(SWAP_OPEN):
        return U(SETTLED)
    return U(FIRST_TURN) if same else U(SWAP_OPEN)


class PhasedState(NamedTuple):
    """The packed words and the phase."""

    own: np.uint64
    other: np.uint64
    phase: np.uint64


# A unique class name: Numba's fast dispatch compares named tuples by class name only.
State = PhasedState


@inline
def board(s: State) -> packed.State:
    """Return the state without its phase."""
    return packed.State(s.own, s.other)


@inline
def moves(ctx: Context, s: State) -> np.uint64:
    """Return lanes with beans, and the top bit of the word for the swap."""
    mask = packed.moves(ctx, board(s))
    return mask | SWAP_BIT if s.phase == U(SWAP_OPEN) else mask


@inline
def plies(mask: np.uint64) -> np.uint64:
    """Return all moves but the swap."""
    return mask & ~SWAP_BIT


@inline
def turned(s: State) -> State:
    return State(s.other, s.own, s.phase)


@inline
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Play like the packed family; a swap hands the same board to the other player."""
    if slot == SWAP_SLOT:
        return State(s.own, s.other, U(SETTLED)), False
    after, last_in_pot = packed.sow(ctx, board(s), slot)
    same = moves_again(ctx, s.phase, last_in_pot)
    phase = next_phase(ctx, s.phase, same)
    if packed.has_ended(ctx, after, same):
        after = packed.sweep(ctx, after)
        phase = U(SETTLED)
    result = State(after.own, after.other, phase)
    if same:
        return result, True
    return turned(result), False


@inline
def key(s: State) -> np.uint64:
    return mixed(pair_key(s.own, s.other) + s.phase) | ONE


@inline
def final(ctx: Context, s: State) -> np.int64:
    return packed.final(ctx, board(s))


def slots(rules: SowingRules) -> tuple[int, ...]:
    """Return the slot of every move number, the swap last."""
    return (*packed.slots(rules), POT) if rules.swap == "yes" else packed.slots(rules)


def start(rules: SowingRules) -> State:
    return pack(start_rows(rules))


def from_words(raw: Sequence[int]) -> State:
    return State(U(raw[0]), U(raw[1]), U(raw[2]))


def pack(rows: Rows) -> State:
    return State(*packed.pack(rows), U(rows.phase))


def unpack(s: State, holes: int) -> Rows:
    # Not `board`: calling it from Python would compile it in every process.
    return packed.unpack(packed.State(s.own, s.other), holes)._replace(phase=int(s.phase))
