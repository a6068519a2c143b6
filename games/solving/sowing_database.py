"""Endgame databases of packed sowing games: ranks, values, building, files."""

import hashlib
import mmap
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import comb
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.base.files import atomic_write
from games.kernels.bits import U
from games.kernels.compile_cache import is_writable, remove_old_caches, user_caches
from games.kernels.context import COUNTERS, Context
from games.kernels.jit import family_kernels, inline, specialise
from games.kernels.masks import except_highest, none
from games.solving.solver import free_memory
from games.sowing import packed
from games.sowing.packed import (
    BYTE,
    EACH_BYTE,
    EIGHT,
    HOLES,
    POT,
    POT_SHIFT,
    State,
    beans,
    has_ended,
    highest,
    moves,
    sow,
    sweep,
)
from games.sowing.rules import SowingRules

# Words of the context that the search and the database of packed games share.
(
    NODES,  # positions searched
    MOST_NODES,  # the limit of NODES
    STOPPED,  # 1: the limit was reached
    BEANS,  # beans of the database
    RANKS_AT,  # start of the counts of `rank_table`
    CHILDREN_AT,  # start of the move lists
    PENALTY,  # of each extra turn that a move leaves to the opponent, for the move order
) = range(COUNTERS, COUNTERS + 7)
MOST_BEANS = 63
RANK_WIDTH = MOST_BEANS + 1
LANE_1, LANE_2, LANE_3, LANE_4, LANE_5, LANE_6, LANE_7 = (U(RANK_WIDTH * k) for k in range(1, 8))
Values = NDArray[np.int8]
BoardRows = NDArray[np.uint64]
UNKNOWN = -128
ZERO, ONE = U(0), U(1)
DATABASE_VERSION = 1  # increase it when rules or values of databases change
CHECKSUM = 4  # bytes at the end of a file
DISK_SHARE, MEMORY_SHARE = 0.2, 0.25  # of the free space: the limits for a database
PACKED = "games.sowing.packed"
# More positions cost more time to build than they save: 18 beans with 6 holes a side.
USUAL_SIZE = 100_000_000
SHARE = 3 / 8  # of all beans, in smaller games: kalah(6,4) uses 18 of its 48
POSITIONS_PER_SECOND = 5_000_000  # on one slow processor
PIECES = 16  # per thread, so that all threads finish a layer together
Progress = Callable[[str], None]


def position_count(holes: int, beans: int) -> int:
    """Return the number of positions with up to `beans` beans and `holes` holes a side."""
    return comb(beans + 2 * holes, 2 * holes)


def rank_table(holes: int) -> list[int]:
    """Return, for each lane of both rows, the rank contribution of the beans up to it."""
    first = POT - holes
    cells = [cell for row in (0, holes) for cell in (*[None] * first, *range(row, row + holes))]
    return [
        0 if cell is None else comb(beans + cell, cell + 1)
        for cell in cells
        for beans in range(RANK_WIDTH)
    ]


@inline
def row_rank(ctx: Context, at: np.uint64, sums: np.uint64) -> np.int64:
    """Return the rank contribution of one row, whose counts begin at `at`, from its lane sums."""
    rank = ctx[at + (sums & BYTE)] + ctx[at + LANE_1 + ((sums >> U(8)) & BYTE)]
    rank += ctx[at + LANE_2 + ((sums >> U(16)) & BYTE)]
    rank += ctx[at + LANE_3 + ((sums >> U(24)) & BYTE)]
    rank += ctx[at + LANE_4 + ((sums >> U(32)) & BYTE)]
    rank += ctx[at + LANE_5 + ((sums >> U(40)) & BYTE)]
    return rank + ctx[at + LANE_6 + ((sums >> U(48)) & BYTE)]


@inline
def rank_of(ctx: Context, own: np.uint64, other: np.uint64) -> np.uint64:
    """Return the rank: positions of fewer beans come first, so a smaller database is a prefix."""
    at = U(ctx[RANKS_AT])
    sums = own * EACH_BYTE
    # The top lane is the sum of the whole row, which the sums of the second row continue.
    more = (other + (sums >> POT_SHIFT)) * EACH_BYTE
    return U(row_rank(ctx, at, sums) + row_rank(ctx, at + LANE_7, more))


def list_rows(first: int, held: int, rows: BoardRows) -> None:
    """Write all rows of `held` beans in the holes from slot `first` on."""
    start = U(first) * EIGHT
    row, last = U(held) << start, U(POT - 1) * EIGHT
    for at in range(rows.size):
        rows[at] = row
        shift = start
        while shift < last and (row >> shift) & BYTE == ZERO:
            shift += EIGHT
        taken = (row >> shift) & BYTE
        # All but one of the lowest beans return to the first hole; that one moves a hole further.
        row = row - (taken << shift) + ((taken - ONE) << start)
        if shift < last:
            row += ONE << (shift + EIGHT)


def value_of(ctx: Context, values: Values, own: np.uint64, other: np.uint64) -> np.int64:
    """Return the mover's future gain minus the opponent's under best play; store it.

    A move that banks nothing leads to a position with as many beans, whose value may be missing.
    """
    place = rank_of(ctx, own, other)
    known = np.int64(values[place])
    if known != UNKNOWN:
        return known
    best = np.int64(UNKNOWN)
    mask = moves(ctx, State(own, other))
    while not none(mask):
        after, same = sow(ctx, State(own, other), highest(mask))
        mask = except_highest(mask)
        row, facing = after.own & HOLES, after.other & HOLES
        if min(row, facing) == ZERO and has_ended(ctx, after, same):
            end = sweep(ctx, after)
            value = np.int64(end.own >> POT_SHIFT) - np.int64(end.other >> POT_SHIFT)
        else:
            value = np.int64(after.own >> POT_SHIFT) - np.int64(after.other >> POT_SHIFT)
            if same:
                value += value_of(ctx, values, row, facing)
            else:
                value -= value_of(ctx, values, facing, row)
        best = max(best, value)
    values[place] = best
    return best


def fill(
    ctx: Context, values: Values, held: int, own_rows: BoardRows, rows: BoardRows, starts: BoardRows
) -> None:
    """Compute every position of `held` beans whose mover has one of `own_rows`.

    `rows` are all rows, those of k beans from `starts[k]` on. Threads may fill one database
    together, because all of them store the same values.
    """
    for own in own_rows:
        left = U(held) - beans(own)
        for at in range(starts[left], starts[left + ONE]):
            value_of(ctx, values, own, rows[at])


COMPILED = (list_rows, value_of, fill)


def bind_database(family: ModuleType) -> SimpleNamespace:
    """Return the kernels compiled for the packed family."""
    return specialise(family.FAMILY, COMPILED)


def database_directory() -> Path | None:
    """Return the directory of databases in the user's cache; None if it is not writable."""
    for root in user_caches():
        if is_writable(root):
            remove_old_caches(root, "database-*")
            return root
    return None


def open_database(root: Path | None, name: str, beans: int, size: int) -> Values | None:
    """Return the first `size` values of the smallest file with at least `beans` beans.

    Return None if there is no such file. Damaged files are removed.
    """
    for path in database_files(root, name, beans):
        with (
            suppress(OSError, ValueError),
            path.open("rb") as file,
        ):  # an empty file cannot be mapped
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if len(whole) >= size + CHECKSUM and checksum_matches(whole):
                os.utime(path)
                return np.frombuffer(whole, np.int8)[:size]
        with suppress(OSError):
            path.unlink()
    return None


def database_files(root: Path | None, name: str, beans: int) -> list[Path]:
    """Return the files of this name that are large enough, the smallest first."""
    if root is None:
        return []
    counts = {int(path.stem.rpartition("-")[2]): path for path in root.glob(f"{name}-*.bin")}
    return [counts[count] for count in sorted(counts) if count >= beans]


def checksum_matches(stored: mmap.mmap) -> bool:
    """Return whether the checksum matches the values."""
    values = memoryview(stored)[:-CHECKSUM]
    return zlib.crc32(values).to_bytes(CHECKSUM, "little") == stored[-CHECKSUM:]


def save_database(root: Path, name: str, beans: int, values: Values) -> None:
    """Write the file; processes that have mapped an older file of this name keep it."""
    with atomic_write(root / f"{name}-{beans}.bin") as file:
        stored = memoryview(values.data)
        file.write(stored)
        file.write(zlib.crc32(stored).to_bytes(CHECKSUM, "little"))


def available_bytes(root: Path | None) -> int:
    """Return the size limit of a new database in bytes: a share of the free memory and disk."""
    free = free_memory() * MEMORY_SHARE
    if root is not None:
        free = min(free, shutil.disk_usage(root).free * DISK_SHARE)
    return int(free)


def default_beans(rules: SowingRules) -> int:
    """Return the beans of a database that saves time already if the start is solved once."""
    beans = int(2 * rules.holes * rules.beans * SHARE)
    while position_count(rules.holes, beans) > USUAL_SIZE:
        beans -= 1
    return beans


def beans_that_fit(rules: SowingRules, beans: int, room: int) -> int:
    """Return `beans`, or fewer if their database would not fit into `room` bytes."""
    while beans > 0 and position_count(rules.holes, beans) > room:
        beans -= 1
    return beans


def database_name(rules: SowingRules) -> str:
    """Return the name of the database, from everything that affects its values.

    The beans at the start, the swap, a late extra turn and the majority rule do not: games that
    differ only in these share a database.
    """
    words = (
        rules.holes,
        rules.extra_turn != "no",
        rules.capture,
        rules.capture_needs_nonempty,
        rules.end_when,
        rules.opponent_pot,
        rules.skip_start,
        rules.sweep,
    )
    digest = hashlib.blake2b(repr(words).encode(), digest_size=10).hexdigest()
    return f"database-{rules.holes}-holes-{DATABASE_VERSION}-{digest}"


def load_or_build(
    ctx: Context,
    rules: SowingRules,
    beans: int | None,
    progress: Progress,
    seconds: float | None = None,
) -> Values:
    """Return all values of up to `beans` beans, from a file or built; read-only.

    None for `beans` means the best size that disk and memory allow. If there is no such file, it
    also means a size that can be built in `seconds`.
    """
    root, name, chosen = database_directory(), database_name(rules), beans is None
    if beans is None:
        beans = beans_that_fit(rules, default_beans(rules), available_bytes(root))
    beans = min(beans, MOST_BEANS)
    size = position_count(rules.holes, beans)
    values = open_database(root, name, beans, size)
    if values is None and chosen and seconds is not None:
        beans = beans_that_fit(rules, beans, int(seconds * POSITIONS_PER_SECOND))
        size = position_count(rules.holes, beans)
        values = open_database(root, name, beans, size)
    if values is None:
        progress(f"building the endgame database of {beans} beans, {size / 1e6:,.1f} MB, once ...")
        values = build_values(ctx, rules.holes, beans, size)
        if root is not None and beans:
            save_database(root, name, beans, values)
        values.flags.writeable = False
    return values


def build_values(ctx: Context, holes: int, beans: int, size: int) -> Values:
    """Compute all values by ascending numbers of beans, because banking leads to fewer beans."""
    kernels = family_kernels(PACKED, bind_database)
    values = np.full(size, UNKNOWN, np.int8)
    own_rows, starts = all_rows(kernels.list_rows, holes, beans)
    threads = os.cpu_count() or 1
    pool = ThreadPoolExecutor(threads)
    try:
        for held in range(1, beans + 1):
            jobs = [
                pool.submit(kernels.fill, ctx, values, held, piece, own_rows, starts)
                for piece in work_shares(own_rows, starts, held, threads * PIECES)
            ]
            for job in jobs:
                job.result()
    finally:
        pool.shutdown(cancel_futures=True)  # so that Ctrl-C does not wait for the layer
    return values


def all_rows(
    list_rows: Callable[[int, int, BoardRows], None], holes: int, beans: int
) -> tuple[BoardRows, BoardRows]:
    """Return all rows of up to `beans` beans, sorted by beans, and where each number starts."""
    counts = [comb(held + holes - 1, holes - 1) for held in range(beans + 1)]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
    rows = np.empty(int(starts[-1]), np.uint64)
    for held in range(beans + 1):
        list_rows(packed.POT - holes, held, rows[int(starts[held]) : int(starts[held + 1])])
    return rows, starts


def work_shares(rows: BoardRows, starts: BoardRows, held: int, most: int) -> Iterator[BoardRows]:
    """Yield the mover's possible rows among `held` beans, cut into shares of equal work."""
    ends = starts.astype(np.int64)
    counts = ends[1:] - ends[:-1]
    work = np.repeat(counts[held::-1], counts[: held + 1])[int(starts[1]) :].cumsum()
    cuts = np.searchsorted(work, np.linspace(0, work[-1], most + 1)[1:-1])
    rows_of_mover = rows[int(starts[1]) : int(starts[held + 1])]
    yield from (share for share in np.split(rows_of_mover, cuts) if share.size)
