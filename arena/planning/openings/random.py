"""Distinct positions after uniformly random moves: of one length, or of several in turn."""

import numpy as np

from arena.planning.openings.listed import enumerate_positions
from arena.planning.openings.openings import (
    NO_MOVE,
    Openings,
    balance_mask,
    first_openings,
    opening_moves,
    openings_from_lines,
    position_after,
    select_openings,
)
from arena.planning.openings.registry import OpeningMethod
from arena.planning.plan import OpeningsSpec
from arena.planning.seeds import hash64
from games import Game
from games.base.schema import Key
from games.core import family_drivers

MIN_DRAWS = 1024
MAX_DRAWS = 1 << 20  # at once
MAX_MISSES = 60_000  # draws in a row without a new position: nearly all are known
MAX_COUNTED = 50_000  # up to this many openings, the last ones are found by enumeration


def draw_lines(game: Game, plies: int, seed: int, first: int, lines: int) -> Openings:
    """Return random lines `first`, `first` + 1, ... of the seed; the key of ended games is 0."""
    slots, keys = np.empty((lines, plies), np.int16), np.empty(lines, np.uint64)
    word = hash64("openings", seed, game.name, plies)
    family_drivers(game.family_name).random_lines(
        game.context, game.start().state, first, word, slots, keys
    )
    return Openings(slots, keys, False)


def random_openings(
    game: Game, plies: int, pairs: int, seed: int, balance: float | None
) -> Openings:
    """Return `pairs` distinct positions in the order in which random play reaches them.

    Fewer pairs get the first of the same openings. If there are too few, all are returned.
    """
    found, at, misses = draw_lines(game, plies, seed, 0, 0), 0, 0
    while True:
        lines = min(max(2 * pairs - len(found), len(found), MIN_DRAWS), MAX_DRAWS)
        found, misses = add_distinct(found, draw_lines(game, plies, seed, at, lines), misses)
        at += lines
        exhausted = misses > MAX_MISSES
        if len(found) < pairs and not exhausted:
            continue
        chosen = complete_by_enumeration(game, found, plies) if exhausted else found
        if balance is not None:
            mask = balance_mask(game, chosen, balance, None if exhausted else pairs)
            chosen = select_openings(chosen, mask, all_there_are=True)
        if exhausted or len(chosen) >= pairs:
            return first_openings(chosen, pairs)


def add_distinct(found: Openings, more: Openings, misses: int) -> tuple[Openings, int]:
    """Return the openings with the new ones of `more`, up to MAX_MISSES misses in a row.

    Also returns the number of misses since the last new opening; there were `misses` before.
    """
    keys = np.concatenate([found.keys, more.keys])
    distinct, places = np.unique(keys, return_index=True)
    fresh = np.sort(places[(distinct != 0) & (places >= len(found))]) - len(found)
    between = np.diff(fresh, prepend=-1 - misses, append=len(more)) - 1
    long = np.flatnonzero(between > MAX_MISSES)
    if len(long):
        fresh = fresh[: long[0]]
    slots = np.concatenate([found.slots, more.slots[fresh]])
    keys = np.concatenate([found.keys, more.keys[fresh]])
    return Openings(slots, keys, False), int(between[long[0]] if len(long) else between[-1])


def complete_by_enumeration(game: Game, openings: Openings, plies: int) -> Openings:
    """Return the openings, followed by those that are too unlikely to be drawn."""
    if len(openings) > MAX_COUNTED:
        return openings
    lines = enumerate_positions(game, plies)
    slots, keys = openings.slots, openings.keys
    if len(lines) > len(openings):
        reached = {position_after(game, opening_moves(game, each)) for each in slots}
        missing = [line for line in lines if position_after(game, line) not in reached]
        rest = openings_from_lines(game, missing, finite=True)
        slots, keys = np.concatenate([slots, rest.slots]), np.concatenate([keys, rest.keys])
    return Openings(slots, keys, finite=True)


RANDOM = OpeningMethod(
    keys=(
        Key(
            "random_plies",
            "plies",
            "the number of random moves, or the fewest and the most; 0: the start of the game",
            6,
            low=0,
            high=60,
        ),
    ),
    examples=("{ random_plies = 6 }", "{ random_plies = [4, 10] }"),
    more="more random_plies",
    openings=lambda game, spec, pairs, seed: random_openings(
        game, spec.values["random_plies"], pairs, seed, spec.balance
    ),
)


def openings_of_lengths(game: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Return openings of several lengths in turn; fewer pairs get the first of the same ones."""
    low, high = spec.values["plies"]
    lines = MIN_DRAWS
    while True:
        lines = max(2 * lines, 2 * pairs // (high - low + 1))
        found, exhausted = interleave_lengths(game, range(low, high + 1), lines, seed)
        if spec.balance is not None:
            mask = balance_mask(game, found, spec.balance)
            found = select_openings(found, mask, all_there_are=False)
        if exhausted or len(found) >= pairs:
            return first_openings(found, pairs)


def interleave_lengths(game: Game, lengths: range, most: int, seed: int) -> tuple[Openings, bool]:
    """Return up to `most` openings of each length in turn, no position twice.

    Also returns whether no length has more.
    """
    several = [distinct_openings(game, plies, most, seed) for plies in lengths]
    turns = np.concatenate([np.arange(len(each)) for each in several])
    order = np.argsort(turns, kind="stable")
    keys = np.concatenate([each.keys for each in several])[order]
    slots = np.full((len(keys), lengths[-1]), NO_MOVE, np.int16)
    at = 0
    for each in several:
        slots[at : at + len(each), : each.slots.shape[1]] = each.slots
        at += len(each)
    first = np.sort(np.unique(keys, return_index=True)[1])
    exhausted = all(len(each) < most for each in several)
    return Openings(slots[order][first], keys[first], finite=False), exhausted


def distinct_openings(game: Game, plies: int, most: int, seed: int) -> Openings:
    """Return the first distinct positions after random moves; fewer if no more are found."""
    found, at, misses = draw_lines(game, plies, seed, 0, 0), 0, 0
    while len(found) < most and misses <= MAX_MISSES:
        lines = max(most, MIN_DRAWS)
        found, misses = add_distinct(found, draw_lines(game, plies, seed, at, lines), misses)
        at += lines
    return first_openings(found, most)


SEVERAL_LENGTHS = OpeningMethod(
    keys=(),  # `random_plies = [4, 10]` selects it
    examples=(),
    more="more random_plies",
    openings=openings_of_lengths,
)
