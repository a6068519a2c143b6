"""The packed state with special rules for the first turn."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from games.kernels.bits import ONE, Truth, U
from games.kernels.context import Context
from games.kernels.hashing import pair_key
from games.kernels.jit import inlined
from games.kernels.masks import count, except_highest, none, rest
from games.kernels.streams import mixed
from games.sowing import packed
from games.sowing.packed import MOST_BEANS, POT, highest, lowest, nth, over
from games.sowing.phase import goes_on, next_phase
from games.sowing.rules import SETTLED, SWAP_OPEN, Rows, SowingRules, start_rows

__all__ = [
    "MOST_BEANS",
    "count",
    "except_highest",
    "highest",
    "lowest",
    "none",
    "nth",
    "over",
    "rest",
]

FAMILY = "sowing_phased"
READ_BY = "games.sowing.packed_cells"  # what features and knowledge are written in
SWAP_SLOT = U(POT)
SWAP_BIT = ONE << U(63)


class PhasedState(NamedTuple):
    """The packed words and the phase."""

    own: np.uint64
    other: np.uint64
    phase: np.uint64


# A name of its own: Numba's quick dispatch tells named tuples apart by class name alone.
State = PhasedState


@inlined
def board(s: State) -> packed.State:
    """The state without its phase."""
    return packed.State(s.own, s.other)


@inlined
def moves(ctx: Context, s: State) -> np.uint64:
    """Lanes with beans, and the top bit of the word for the swap."""
    mask = packed.moves(ctx, board(s))
    return mask | SWAP_BIT if s.phase == U(SWAP_OPEN) else mask


@inlined
def plies(mask: np.uint64) -> np.uint64:
    """All moves but the swap."""
    return mask & ~SWAP_BIT


@inlined
def turned(s: State) -> State:
    """The same board seen by the other side."""
    return State(s.other, s.own, s.phase)


@inlined
def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """As in the packed family; a swap hands the same board to the other player."""
    if slot == SWAP_SLOT:
        return State(s.own, s.other, U(SETTLED)), False
    after, last_in_pot = packed.sown(ctx, board(s), slot)
    same = goes_on(ctx, s.phase, last_in_pot)
    phase = next_phase(ctx, s.phase, same)
    if packed.ended(ctx, after, same):
        after = packed.swept(ctx, after)
        phase = U(SETTLED)
    result = State(after.own, after.other, phase)
    if same:
        return result, True
    return turned(result), False


@inlined
def key(s: State) -> np.uint64:
    """A hash of the state, never 0."""
    return mixed(pair_key(s.own, s.other) + s.phase) | ONE


@inlined
def final(ctx: Context, s: State) -> np.int64:
    """The mover's pot minus the other's."""
    return packed.final(ctx, board(s))


def slots(rules: SowingRules) -> tuple[int, ...]:
    """The slot of every move number, the swap last."""
    return (*packed.slots(rules), POT) if rules.swap == "yes" else packed.slots(rules)


make_context = packed.make_context


def start(rules: SowingRules) -> State:
    """The position before the first ply."""
    return pack(start_rows(rules))


def restored(raw: Sequence[int]) -> State:
    """The state whose words a kernel returned as plain numbers."""
    return State(U(raw[0]), U(raw[1]), U(raw[2]))


def pack(rows: Rows) -> State:
    """The state that holds `rows`."""
    return State(*packed.pack(rows), U(rows.phase))


def unpack(s: State, holes: int) -> Rows:
    """The rows that `s` holds."""
    # Not `board`: called from Python, it would be compiled again in every process.
    return packed.unpack(packed.State(s.own, s.other), holes)._replace(phase=int(s.phase))
