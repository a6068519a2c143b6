"""Endgame databases: values, building, files."""

import hashlib
import mmap
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from inspect import getfile
from math import comb
from pathlib import Path

import numpy as np

from games.base.files import atomic_write
from games.kernels.compile_cache import remove_unused, user_caches, writable
from games.kernels.context import Context
from games.kernels.jit import bound
from games.solving import sowing_endgames
from games.solving import sowing_endgames as sowing_rank
from games.solving.sowing_endgames import MOST_BEANS, UNKNOWN, BoardRows, Values, positions
from games.sowing import packed
from games.sowing import rules as rows
from games.sowing.rules import SowingRules

CHECKSUM = 4  # bytes at the end of a file
DISK_SHARE, MEMORY_SHARE = 0.2, 0.25  # of what is free: a database takes no more
PACKED = "games.sowing.packed"
# Beyond this more beans cost more time to build than they save: 18 beans of 6 holes a side.
USUAL_SIZE = 100_000_000
SHARE = 3 / 8  # of all beans, in a game that has fewer: kalah(6,4) needs 18 of its 48
A_SECOND = 5_000_000  # positions valued by one slow processor
PIECES = 16  # a thread, so that all end a layer together
Progress = Callable[[str], None]


def digest_of(modules: tuple[str, ...], words: tuple[object, ...]) -> str:
    """A digest of the sources and words that decide a database."""
    digest = hashlib.blake2b(digest_size=10)
    for path in modules:
        digest.update(Path(path).read_bytes())
    digest.update(repr(words).encode())
    return digest.hexdigest()


def directory() -> Path | None:
    """The directory of databases, in the user's cache; None if it cannot be written."""
    for root in user_caches():
        if writable(root):
            remove_unused(root, "database-*")
            return root
    return None


def opened(root: Path | None, name: str, beans: int, size: int) -> Values | None:
    """The first `size` values of the smallest file of this name with `beans` or more; None if
    there is none. A file that is damaged is removed.
    """
    for path in sorted_files(root, name, beans):
        with suppress(OSError, ValueError), path.open("rb") as file:  # an empty file has no map
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if len(whole) >= size + CHECKSUM and is_whole(whole):
                os.utime(path)
                return np.frombuffer(whole, np.int8)[:size]
        with suppress(OSError):
            path.unlink()
    return None


def sorted_files(root: Path | None, name: str, beans: int) -> list[Path]:
    """The files of this name that are large enough, the smallest first."""
    if root is None:
        return []
    counts = {int(path.stem.rpartition("-")[2]): path for path in root.glob(f"{name}-*.bin")}
    return [counts[count] for count in sorted(counts) if count >= beans]


def is_whole(stored: mmap.mmap) -> bool:
    """Whether the checksum matches the values."""
    values = memoryview(stored)[:-CHECKSUM]
    return zlib.crc32(values).to_bytes(CHECKSUM, "little") == stored[-CHECKSUM:]


def keep(root: Path, name: str, beans: int, values: Values) -> None:
    """Write the file; a process that has mapped an older file of this name keeps that one."""
    with atomic_write(root / f"{name}-{beans}.bin") as file:
        stored = memoryview(values.data)
        file.write(stored)
        file.write(zlib.crc32(stored).to_bytes(CHECKSUM, "little"))


def room(root: Path | None) -> int:
    """The largest new database in bytes: a share of the free memory and disk."""
    free = free_memory() * MEMORY_SHARE
    if root is not None:
        free = min(free, shutil.disk_usage(root).free * DISK_SHARE)
    return int(free)


def free_memory() -> int:
    """Free memory in bytes, as the system reports it."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 1 << 32


def usual_beans(rules: SowingRules) -> int:
    """The size that pays for one solution of the game from its start."""
    beans = int(2 * rules.holes * rules.beans * SHARE)
    while positions(rules.holes, beans) > USUAL_SIZE:
        beans -= 1
    return beans


def fitting(rules: SowingRules, beans: int, room: int) -> int:
    """So many beans, or as many fewer as have room; 0 at least."""
    while beans > 0 and positions(rules.holes, beans) > room:
        beans -= 1
    return beans


def name_of(rules: SowingRules) -> str:
    """The name of the database: all that decides its bytes, but how many beans it knows.

    Not the beans of the start, the swap, a late extra turn or a majority: those that differ in
    nothing else share one.
    """
    sources = tuple(getfile(each) for each in (packed, rows, sowing_endgames, sowing_rank))
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
    return f"database-{rules.holes}-holes-{digest_of(sources, words)}"


def database(
    ctx: Context,
    rules: SowingRules,
    beans: int | None,
    progress: Progress,
    seconds: float | None = None,
) -> Values:
    """All values of up to `beans` beans, from the file or built; read-only.

    None: as many as are worth it, as disk and memory have room for and, unless they are there,
    as are built in so many `seconds`.
    """
    root, name, chosen = directory(), name_of(rules), beans is None
    if beans is None:
        beans = fitting(rules, usual_beans(rules), room(root))
    beans = min(beans, MOST_BEANS)
    size = positions(rules.holes, beans)
    values = opened(root, name, beans, size)
    if values is None and chosen and seconds is not None:
        beans = fitting(rules, beans, int(seconds * A_SECOND))
        size = positions(rules.holes, beans)
        values = opened(root, name, beans, size)
    if values is None:
        progress(f"building the endgame database of {beans} beans, {size / 1e6:,.1f} MB, once ...")
        values = built(ctx, rules.holes, beans, size)
        if root is not None and beans:
            keep(root, name, beans, values)
        values.flags.writeable = False
    return values


def built(ctx: Context, holes: int, beans: int, size: int) -> Values:
    """All values, layer after layer of one bean more: a ply that banks leads to fewer beans."""
    kernels = bound(PACKED, sowing_endgames.of_packed)
    values = np.full(size, UNKNOWN, np.int8)
    own_rows, starts = all_rows(kernels.list_rows, holes, beans)
    threads = os.cpu_count() or 1
    pool = ThreadPoolExecutor(threads)
    try:
        for held in range(1, beans + 1):
            jobs = [
                pool.submit(kernels.fill, ctx, values, held, piece, own_rows, starts)
                for piece in shares(own_rows, starts, held, threads * PIECES)
            ]
            for job in jobs:
                job.result()
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C does not wait for the layer
    return values


def all_rows(
    list_rows: Callable[[int, int, BoardRows], None], holes: int, beans: int
) -> tuple[BoardRows, BoardRows]:
    """All rows of up to `beans` beans by their number of beans, and where each number begins."""
    counts = [comb(held + holes - 1, holes - 1) for held in range(beans + 1)]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)
    found = np.empty(int(starts[-1]), np.uint64)
    for held in range(beans + 1):
        list_rows(packed.POT - holes, held, found[int(starts[held]) : int(starts[held + 1])])
    return found, starts


def shares(found: BoardRows, starts: BoardRows, held: int, most: int) -> Iterator[BoardRows]:
    """The rows that a mover may have among `held` beans, cut so that each share is as much work."""
    ends = starts.astype(np.int64)
    counts = ends[1:] - ends[:-1]
    work = np.repeat(counts[held::-1], counts[: held + 1])[int(starts[1]) :].cumsum()
    cuts = np.searchsorted(work, np.linspace(0, work[-1], most + 1)[1:-1])
    rows_of_mover = found[int(starts[1]) : int(starts[held + 1])]
    yield from (each for each in np.split(rows_of_mover, cuts) if each.size)
