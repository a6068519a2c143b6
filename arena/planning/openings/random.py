"""Openings: distinct positions after uniformly random moves."""

from collections.abc import Iterator

import numpy as np

from arena.planning.openings.enumerate import enumerate_positions
from arena.planning.openings.openings import (
    Openings,
    balance_mask,
    first_openings,
    from_lines,
    kept,
    moves_of,
    position_after,
)
from arena.planning.plan import OpeningsSpec
from arena.planning.seeds import hash64
from games import Game
from games.base.schema import Fault, Key, KeyValues
from games.core import kernels

MIN_DRAWS = 1024
MAX_DRAWS = 1 << 20  # at once
MAX_MISSES = 60_000  # so many in a row without a new position: nearly all are known
MOST_COUNTED = 50_000  # up to so many openings, the last ones are found by enumeration

KEYS = (
    Key(
        "random_plies",
        "plies",
        "the number of random moves, or the fewest and the most; 0: the start of the game",
        6,
        low=0,
        high=60,
    ),
)
WORD = False
EXAMPLES = ("{ random_plies = 6 }", "{ random_plies = [4, 10] }")
MORE = "more random_plies"


def count(_: KeyValues) -> int | None:
    """None: only drawing them shows how many there are."""
    return None


def faults(_: OpeningsSpec, __: Game | None) -> Iterator[Fault]:
    """Any number of plies fits."""
    yield from ()


def openings(of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Enough for `pairs` pairs, or all there are."""
    return random_openings(of, spec.values["random_plies"], pairs, seed, spec.balance)


def draw_lines(of: Game, plies: int, seed: int, first: int, lines: int) -> Openings:
    """Random lines `first`, `first` + 1, ... of the seed; the key is 0 where the game ended."""
    slots, keys = np.empty((lines, plies), np.int16), np.empty(lines, np.uint64)
    word = hash64("openings", seed, of.name, plies)
    kernels(of.family_name).random_lines(of.context, of.start().state, first, word, slots, keys)
    return Openings(slots, keys, False)


def random_openings(of: Game, plies: int, pairs: int, seed: int, balance: float | None) -> Openings:
    """`pairs` distinct positions in the order in which uniformly random play reaches them.

    Fewer pairs get the first of the same openings. If there are too few, all are returned.
    """
    found, at, fruitless = draw_lines(of, plies, seed, 0, 0), 0, 0
    while True:
        lines = min(max(2 * pairs - len(found), len(found), MIN_DRAWS), MAX_DRAWS)
        found, fruitless = add_distinct(found, draw_lines(of, plies, seed, at, lines), fruitless)
        at += lines
        exhausted = fruitless > MAX_MISSES
        if len(found) < pairs and not exhausted:
            continue
        chosen = complete_by_enumeration(of, found, plies) if exhausted else found
        if balance is not None:
            enough = None if exhausted else pairs
            chosen = kept(chosen, balance_mask(of, chosen, balance, enough), all_there_are=True)
        if exhausted or len(chosen) >= pairs:
            return first_openings(chosen, pairs)


def add_distinct(found: Openings, more: Openings, fruitless: int) -> tuple[Openings, int]:
    """Openings with the new ones of `more`, up to MAX_MISSES in a row that are not new.

    Also returns how many draws were fruitless since the last new one; `fruitless` were before.
    """
    keys = np.concatenate([found.keys, more.keys])
    distinct, places = np.unique(keys, return_index=True)
    fresh = np.sort(places[(distinct != 0) & (places >= len(found))]) - len(found)
    between = np.diff(fresh, prepend=-1 - fruitless, append=len(more)) - 1
    long = np.flatnonzero(between > MAX_MISSES)
    if len(long):
        fresh = fresh[: long[0]]
    slots = np.concatenate([found.slots, more.slots[fresh]])
    keys = np.concatenate([found.keys, more.keys[fresh]])
    return Openings(slots, keys, False), int(between[long[0]] if len(long) else between[-1])


def complete_by_enumeration(of: Game, openings: Openings, plies: int) -> Openings:
    """The openings, followed by those too unlikely to be drawn."""
    if len(openings) > MOST_COUNTED:
        return openings
    lines = enumerate_positions(of, plies)
    if len(lines) > len(openings):
        reached = {position_after(of, moves_of(of, slots)) for slots in openings.slots}
        missing = [line for line in lines if position_after(of, line) not in reached]
        rest = from_lines(of, missing, finite=True)
        slots = np.concatenate([openings.slots, rest.slots])
        openings = Openings(slots, np.concatenate([openings.keys, rest.keys]), finite=True)
    return Openings(openings.slots, openings.keys, finite=True)
