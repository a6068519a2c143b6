"""Kernels that drive any family: they list moves, step, count plies, play at random."""

from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import ONE, ZERO, Truth, U
from games.kernels.context import (
    DRAWS,
    ENDED,
    LEAVES,
    LOSSES,
    MARGINS,
    MOVES,
    PASS,
    WINS,
    Context,
)
from games.kernels.family import (
    State,
    count,
    final,
    key,
    lowest,
    moves,
    none,
    nth,
    over,
    play,
    plies,
    rest,
    turned,
)
from games.kernels.jit import specialise
from games.kernels.splitmix import STRIDE
from games.kernels.streams import below, mixed, stream

OVER = -1


def options(ctx: Context, s: State, slots: NDArray[np.int64]) -> int:
    """Write the legal slots in order; returns how many, 0 for a forced pass, OVER at the end."""
    mask = moves(ctx, s)
    if none(mask):
        return OVER if over(ctx, s) else 0
    found = 0
    while not none(mask):
        slots[found] = np.int64(lowest(mask))
        mask = rest(mask)
        found += 1
    return found


def step(ctx: Context, s: State, slot: int) -> tuple[State, Truth]:
    """The state after the move in `slot` or a PASS, and whether the same side moves again."""
    if slot == PASS:
        return turned(s), False
    return play(ctx, s, U(slot))


def margin(ctx: Context, s: State) -> np.int64:
    """The score of a finished game, the mover's minus the other's."""
    return final(ctx, s)


def count_plies(ctx: Context, s: State, ply: int, depth: int) -> int:
    """Add the sequences of up to `depth` plies below `s`, itself at `ply`, to the counters."""
    mask = plies(moves(ctx, s))
    if none(mask):
        if over(ctx, s):
            ctx[ENDED + ply] += 1
            return 0
        ctx[LEAVES + ply] += 1
        if ply + 1 < depth:
            count_plies(ctx, turned(s), ply + 1, depth)
        return 0
    ctx[LEAVES + ply] += count(mask)
    if ply + 1 == depth:
        return 0
    if ply + 2 < depth:
        while not none(mask):
            count_plies(ctx, play(ctx, s, lowest(mask))[0], ply + 1, depth)
            mask = rest(mask)
        return 0
    # The last ply is counted here, not played: a call for each leaf would cost more than the leaf.
    leaves = np.int64(0)
    while not none(mask):
        child = play(ctx, s, lowest(mask))[0]
        replies = plies(moves(ctx, child))
        if not none(replies):
            leaves += count(replies)
        elif over(ctx, child):
            ctx[ENDED + ply + 1] += 1
        else:
            leaves += 1
        mask = rest(mask)
    ctx[LEAVES + ply + 1] += leaves
    return 0


def play_random(ctx: Context, start: State, first: int, games: int, seed: np.uint64) -> int:
    """Add the results of games `first`, `first` + 1, ... of uniformly random moves."""
    for game in range(first, first + games):
        word = stream(seed, U(game))
        s = start
        sign = 1
        length = 0
        while True:
            mask = moves(ctx, s)
            if not none(mask):
                word += STRIDE
                slot = nth(mask, below(word, U(count(mask))))
                s, same = play(ctx, s, slot)
            elif over(ctx, s):
                break
            else:
                s, same = turned(s), False
            length += 1
            if not same:
                sign = -sign
        result = sign * final(ctx, s)
        ctx[WINS if result > 0 else (DRAWS if result == 0 else LOSSES)] += 1
        ctx[MOVES] += length
        ctx[MARGINS] += result
    return games


def random_line(
    ctx: Context, s: State, word: np.uint64, slots: NDArray[np.int16]
) -> tuple[np.uint64, Truth]:
    """Fill `slots` with random moves from `s`; returns the key at the end, and if play goes on.

    The key includes the mover: after extra turns it can be either's turn on the same board.
    """
    player = ZERO
    for ply in range(slots.size):
        mask = moves(ctx, s)
        if not none(mask):
            word += STRIDE
            slot = nth(mask, below(word, U(count(mask))))
            slots[ply] = np.int16(slot)
            s, same = play(ctx, s, slot)
        elif over(ctx, s):
            return ZERO, False
        else:
            slots[ply] = PASS
            s, same = turned(s), ZERO == ONE
        player = player if same else ONE - player
    goes_on = not (none(moves(ctx, s)) and over(ctx, s))
    return mixed(key(s) + player), goes_on


def random_lines(
    ctx: Context,
    start: State,
    first: int,
    seed: np.uint64,
    slots: NDArray[np.int16],
    keys: NDArray[np.uint64],
) -> int:
    """Lines `first`, `first` + 1, ... of the seed; the key is 0 where the game ended on the way."""
    for line in range(keys.size):
        key_reached, goes_on = random_line(ctx, start, stream(seed, U(first + line)), slots[line])
        keys[line] = key_reached if goes_on else ZERO
    return keys.size


def sides_moving(
    ctx: Context,
    start: State,
    swap_slot: int,
    slots: NDArray[np.int16],
    plies: NDArray[np.int32],
    sides: NDArray[np.int16],
) -> int:
    """Write which side of the board makes each move of the games; returns the number of moves."""
    at = 0
    for game in range(plies.size):
        s, side = start, 0
        for _ in range(plies[game]):
            slot = slots[at]
            sides[at] = side
            at += 1
            if slot == PASS:
                s, same = turned(s), U(0) == U(1)
            else:
                s, same = play(ctx, s, U(slot))
            # After a swap the other player moves for the same side of the board.
            side = side if same or slot == swap_slot else 1 - side
    return at


TEMPLATES = (
    options,
    step,
    margin,
    count_plies,
    play_random,
    random_line,
    random_lines,
    sides_moving,
)
FAMILY_NAMES = (
    "State",
    "moves",
    "plies",
    "none",
    "lowest",
    "rest",
    "nth",
    "highest",
    "except_highest",
    "count",
    "over",
    "play",
    "turned",
    "key",
    "final",
)


def of_family(family: ModuleType) -> SimpleNamespace:
    """The drivers compiled for one family of states."""
    names = {name: getattr(family, name) for name in FAMILY_NAMES}
    return specialise(family.FAMILY, TEMPLATES, [random_line], **names)
