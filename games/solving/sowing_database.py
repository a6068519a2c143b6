"""The endgame database of a sowing game: sized, built once on all processors, kept."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from inspect import getfile
from math import comb

import numpy as np

from games.kernels.context import Context
from games.kernels.jit import bound
from games.solving import database_files
from games.solving.database_files import Values
from games.solving.kernels import sowing_endgames, sowing_rank
from games.solving.kernels.sowing_endgames import UNKNOWN, BoardRows
from games.solving.kernels.sowing_rank import MOST_BEANS, positions
from games.sowing.rules import SowingRules
from games.sowing.states import packed, rows

PACKED = "games.sowing.states.packed"
# Beyond this more beans cost more time to build than they save: 18 beans of 6 holes a side.
USUAL_SIZE = 100_000_000
SHARE = 3 / 8  # of all beans, in a game that has fewer: kalah(6,4) needs 18 of its 48
A_SECOND = 5_000_000  # positions valued by one slow processor
PIECES = 16  # a thread, so that all end a layer together

Progress = Callable[[str], None]


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
    return f"database-{rules.holes}-holes-{database_files.digest_of(sources, words)}"


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
    root, name, chosen = database_files.directory(), name_of(rules), beans is None
    if beans is None:
        beans = fitting(rules, usual_beans(rules), database_files.room(root))
    beans = min(beans, MOST_BEANS)
    size = positions(rules.holes, beans)
    values = database_files.opened(root, name, beans, size)
    if values is None and chosen and seconds is not None:
        beans = fitting(rules, beans, int(seconds * A_SECOND))
        size = positions(rules.holes, beans)
        values = database_files.opened(root, name, beans, size)
    if values is None:
        progress(f"building the endgame database of {beans} beans, {size / 1e6:,.1f} MB, once ...")
        values = built(ctx, rules.holes, beans, size)
        if root is not None and beans:
            database_files.keep(root, name, beans, values)
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
