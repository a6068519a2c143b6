"""The names that every state family defines for kernels; `specialise` binds them.

A family is a module with these functions, which are inlined, and a `State` class that always
shows the position as the side to move sees it. The module also defines `FAMILY`, its name in the
disk cache, and the functions that `Game` needs to build and read states.
`slots(rules)` returns the slot of every move number, `make_context(rules)` the context,
`start(rules)` the first state. `pack` and `unpack` convert states from and to plain numbers,
`from_words` makes a state of words that a kernel returned as Python integers.
The functions here are never called. Kernels import them, so that type checkers see signatures.
"""

from typing import Any

import numpy as np

from games.kernels.bits import Truth
from games.kernels.context import Context

State = Any  # a named tuple, of a class of each family
Mask = Any  # of legal moves: a word, or several


def moves(ctx: Context, s: State) -> Mask:
    """Return the legal moves; empty when the mover must pass or the game is over."""
    raise NotImplementedError


def plies(mask: Mask) -> Mask:
    """Return the moves that count as plies (all but a swap)."""
    raise NotImplementedError


def none(mask: Mask) -> Truth:
    """Return whether the mask is empty."""
    raise NotImplementedError


def lowest(mask: Mask) -> np.uint64:
    """Return the slot of the first move."""
    raise NotImplementedError


def rest(mask: Mask) -> Mask:
    """Return the mask without its first move."""
    raise NotImplementedError


def nth(mask: Mask, n: np.uint64) -> np.uint64:
    """Return the slot of move number `n` of the mask, counted from 0."""
    raise NotImplementedError


def highest(mask: Mask) -> np.uint64:
    """Return the slot of the last move."""
    raise NotImplementedError


def except_highest(mask: Mask) -> Mask:
    """Return the mask without its last move."""
    raise NotImplementedError


def count(mask: Mask) -> np.int64:
    """Return the number of moves."""
    raise NotImplementedError


def over(ctx: Context, s: State) -> Truth:
    """Return whether a position without moves ends the game; otherwise the mover must pass."""
    raise NotImplementedError


def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the next position as its mover sees it, and whether the same side moves again."""
    raise NotImplementedError


def turned(s: State) -> State:
    """Return the same board as the other side sees it: a pass."""
    raise NotImplementedError


def key(s: State) -> np.uint64:
    """Return a hash of the state, never 0."""
    raise NotImplementedError


def final(ctx: Context, s: State) -> np.int64:
    """Return the score of a finished game, the mover's minus the opponent's."""
    raise NotImplementedError
