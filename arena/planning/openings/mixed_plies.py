"""Random openings of several lengths, as many of each as there are positions."""

from collections.abc import Iterator

import numpy as np

from arena.planning.openings.openings import NO_MOVE, Openings, balance_mask, first_openings, kept
from arena.planning.openings.random import MAX_MISSES, MIN_DRAWS, add_distinct, draw_lines
from arena.planning.plan import OpeningsSpec
from games import Game
from games.base.schema import Fault, Key, KeyValues

MAX_PLIES = 60
KEYS = (Key("plies", "numbers", "from so many random moves to so many, as [4, 10]", (4, 10)),)
WORD = False
EXAMPLES = ("{ plies = [4, 10] }",)
MORE = "more plies"


def count(_: KeyValues) -> int | None:
    """None: only drawing them shows how many there are."""
    return None


def faults(spec: OpeningsSpec, _: Game | None) -> Iterator[Fault]:
    """Two whole numbers, the smaller one first."""
    written = spec.values["plies"]
    whole = [each for each in written if isinstance(each, int)]
    if len(whole) != len(written) or len(whole) != 2 or not 1 <= whole[0] <= whole[1] <= MAX_PLIES:
        message = f"plies must be the fewest and the most moves, 1 to {MAX_PLIES}, as in [4, 10]"
        yield ("plies",), f"{message}, got {list(written)}"


def openings(of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Enough for `pairs` pairs, or all that are found; fewer pairs get the first of the same."""
    low, high = spec.values["plies"]
    lines = MIN_DRAWS
    while True:
        lines = max(2 * lines, 2 * pairs // (high - low + 1))
        found, exhausted = interleave_lengths(of, range(low, high + 1), lines, seed)
        if spec.balance is not None:
            mask = balance_mask(of, found, spec.balance, None)
            found = kept(found, mask, all_there_are=False)
        if exhausted or len(found) >= pairs:
            return first_openings(found, pairs)


def interleave_lengths(of: Game, lengths: range, most: int, seed: int) -> tuple[Openings, bool]:
    """Up to `most` openings of each length, a length after another, no position twice.

    Also returns whether no length has more.
    """
    several = [distinct_openings(of, plies, most, seed) for plies in lengths]
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


def distinct_openings(of: Game, plies: int, most: int, seed: int) -> Openings:
    """Return the first distinct positions after this many random moves; fewer if no more come."""
    found, at, fruitless = draw_lines(of, plies, seed, 0, 0), 0, 0
    while len(found) < most and fruitless <= MAX_MISSES:
        lines = max(most, MIN_DRAWS)
        found, fruitless = add_distinct(found, draw_lines(of, plies, seed, at, lines), fruitless)
        at += lines
    return first_openings(found, most)
