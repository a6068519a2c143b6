"""Kernels for any state family: list moves, step, perft, random games, the referee's board."""

from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import ONE, ZERO, Truth, U
from games.kernels.context import (
    COUNT,
    DRAWS,
    ENDED,
    LEAVES,
    LOOK,
    LOSSES,
    MARGINS,
    MOVER,
    MOVES,
    PASS,
    STATE,
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
from games.kernels.jit import Kernel, Scope, inline, inline_copies, specialise
from games.kernels.quad import Quad
from games.kernels.splitmix import STRIDE
from games.kernels.streams import below, mixed, stream

OVER = -1
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
ILLEGAL = -1
# Columns of the results of `replay`.
LEGAL_PLIES, HAS_ENDED, MARGIN, GAME_ID = range(4)
Board = NDArray[np.uint64]
Slot = np.signedinteger[Any]


def options(ctx: Context, s: State, slots: NDArray[np.int64]) -> int:
    """Write the legal slots in order; return their number, 0 for a forced pass, OVER at the end."""
    mask = moves(ctx, s)
    if none(mask):
        return OVER if over(ctx, s) else 0
    length = 0
    while not none(mask):
        slots[length] = np.int64(lowest(mask))
        mask = rest(mask)
        length += 1
    return length


def play_slot(ctx: Context, s: State, slot: int | Slot) -> tuple[State, Truth]:
    """Return the state after a slot or PASS, and whether the same side moves again."""
    if slot == PASS:
        return turned(s), ZERO == ONE
    return play(ctx, s, U(slot))


def step(ctx: Context, s: State, slot: int) -> tuple[State, Truth]:
    """Call `play_slot`, which is inlined and so has no entry point for Python."""
    return play_slot(ctx, s, slot)


def margin(ctx: Context, s: State) -> np.int64:
    """Return the score of a finished game, the mover's minus the opponent's."""
    return final(ctx, s)


def count_plies(ctx: Context, s: State, ply: int, depth: int) -> int:
    """Add the sequences of up to `depth` plies below `s`, which is at `ply`, to the counters."""
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
    # Count the last ply here: a call for each leaf would cost more than the leaf.
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
    """Play games `first`, `first` + 1, ... with random moves; add the results to the counters."""
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
    """Fill `slots` with random moves from `s`; return the final key, and whether the game goes on.

    The key includes the mover: with extra turns either side may be to move on the same board.
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
    """Play lines `first`, `first` + 1, ... of the seed; a line whose game ends gets key 0."""
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
    """Write the side of the board that makes each move of the games; return the move count."""
    at = 0
    for game in range(plies.size):
        s, side = start, 0
        for _ in range(plies[game]):
            slot = slots[at]
            sides[at] = side
            at += 1
            s, same = play_slot(ctx, s, slot)
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


def bind_drivers(family: ModuleType) -> SimpleNamespace:
    """Return the drivers compiled for one state family."""
    names: Scope = {name: getattr(family, name) for name in FAMILY_NAMES}
    names |= inline_copies([play_slot], names)
    return specialise(family.FAMILY, TEMPLATES, [random_line], **names)


def unpack(board: Board) -> State:
    """Return the state on the board; generated for each family."""
    raise NotImplementedError


def pack(board: Board, s: State) -> None:
    """Write the state on the board; generated for each family."""
    raise NotImplementedError


def advance(ctx: Context, board: Board, first_slot: int, slot: int) -> int:
    """Play a slot on the board, unless it is LOOK, and write the mover and the legal slots.

    Return the number of slots, 0 for a forced pass, -1 when the game is over.
    """
    s = unpack(board)
    if slot != LOOK:
        s, same = play_slot(ctx, s, slot)
        pack(board, s)
        if not same:
            board[MOVER] ^= ONE
    mask = moves(ctx, s)
    board[COUNT] = ZERO
    if none(mask):
        return -1 if over(ctx, s) else 0
    length = 0
    while not none(mask):
        board[first_slot + length] = U(lowest(mask))
        mask = rest(mask)
        length += 1
    board[COUNT] = U(length)
    return length


def is_legal(ctx: Context, s: State, slot: int) -> bool:
    """Return whether the slot, or PASS, is legal."""
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
    """Replay games; write legal plies, end, margin and game id in one row per game."""
    at = 0
    for game in range(plies.size):
        s, sign, length, game_id = start, 1, 0, STRIDE
        while length < plies[game] and is_legal(ctx, s, slots[at + length]):
            slot = np.int64(slots[at + length])
            s, same = play_slot(ctx, s, slot)
            if not same:
                sign = -sign
            game_id = (game_id ^ U(slot + 2)) * STRIDE
            length += 1
        at += plies[game]
        ended = none(moves(ctx, s)) and over(ctx, s)
        results[game, LEGAL_PLIES] = length
        results[game, HAS_ENDED] = 1 if ended else 0
        results[game, MARGIN] = sign * final(ctx, s) if ended else 0
        results[game, GAME_ID] = np.int64(mixed(game_id))
    return at


def field_words(state: type[State]) -> Iterator[tuple[str, int]]:
    """Yield every field of a state with its number of words."""
    for name, kind in state.__annotations__.items():
        yield name, len(Quad._fields) if kind is Quad else 1


def pack_functions(state: type[State], at: int = STATE) -> Scope:
    """Generate `unpack` and `pack` for one state class, whose words begin at `at`."""
    read, write = [], []
    for name, words in field_words(state):
        fields = [f".{word}" for word in Quad._fields] if words > 1 else [""]
        places = [f"board[{at + place}]" for place in range(words)]
        read.append(f"Quad({', '.join(places)})" if words > 1 else places[0])
        write += [
            f"{place} = U(s.{name}{field})" for place, field in zip(places, fields, strict=True)
        ]
        at += words
    body = "\n    ".join(write)
    text = f"def unpack(board):\n    return State({', '.join(read)})\n"
    scope: Scope = {"State": state, "Quad": Quad, "U": U}
    exec(f"{text}def pack(board, s):\n    {body}\n", scope)
    return scope


BOARD_TEMPLATES: tuple[Kernel, ...] = (advance, replay)


def bind_boards(family: ModuleType) -> SimpleNamespace:
    """Return the board kernels compiled for one state family."""
    names: Scope = {name: getattr(family, name) for name in FAMILY_NAMES}
    scope = pack_functions(family.State)
    names |= {name: inline(scope[name]) for name in ("unpack", "pack")}
    names |= inline_copies([play_slot, is_legal], names)
    return specialise(family.FAMILY, BOARD_TEMPLATES, **names)
