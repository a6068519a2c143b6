"""How to play an experiment: where, with how many workers, with which cluster and cache."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

from agents.sandbox.sandbox import Sandbox
from arena.config.user_settings import cluster_address
from arena.playing.options import Interrupts
from games.base.cli import shell_command
from games.base.errors import Unfinished, UserError, printable
from games.base.text import quote

if TYPE_CHECKING:
    from arena.playing.cluster.connection import Cluster
    from arena.playing.options import PlayOptions
    from arena.storage.game_cache import GameCache

RESULTS = Path("results")
CACHE_VARIABLE = "PITFLIP_CACHE"  # the environment's default for --cache


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to play, where to store the games, what to print; none of it decides a game."""

    results: Path
    workers: int  # processes; 0: games are played in this one
    interrupts: Interrupts
    cluster: "Cluster | None" = None  # in place of processes
    budget: float | None = None  # seconds
    fresh: bool = False
    quiet: bool = False
    json: bool = False
    overrides: tuple[str, ...] = ()
    junit: Path | None = None
    wall: Sandbox = field(default_factory=Sandbox)  # begun with the first bot
    page: bool = False
    live: bool = False  # on a page in the browser
    known: "GameCache | None" = None  # games that need not be played
    tables: bool = True  # whether they are printed
    pinned: bool = True  # whether workers stay on their cores with their bots

    @property
    def at_once(self) -> int:
        """Return how many games are played at a time."""
        return max(1, self.workers)

    @property
    def playing(self) -> "PlayOptions":
        """Return the options for playing."""
        from arena.playing.options import PlayOptions  # noqa: PLC0415  # it loads the kernels

        return PlayOptions(
            self.workers,
            self.interrupts,
            self.cluster,
            self.wall,
            self.known,
            self.pinned,
        )


@contextmanager
def open_run_options(
    interrupts: Interrupts,
    *,
    results: Path = RESULTS,
    workers: int | None = None,
    cluster: str | None = None,
    cache: str | None = None,
    **more: Any,
) -> Iterator[RunOptions]:
    """Connect to the cluster, open the game cache, and close both at the end.

    `cluster` and `cache` are as in --cluster and --cache; `more` are fields of RunOptions.
    """
    address = cluster_address(cluster)
    with ExitStack() as stack:
        joined = None if address is None else stack.enter_context(connect_cluster(address))
        known = open_game_cache(cache)
        if known is not None:
            stack.callback(known.close)
        processes = number_of_workers(workers) if joined is None else max(1, joined.slots)
        options = RunOptions(results, processes, interrupts, cluster=joined, known=known, **more)
        stack.callback(options.wall.close)
        yield options


@contextmanager
def with_cluster(options: "PlayOptions", address: str | None) -> Iterator["PlayOptions"]:
    """Add the cluster of --cluster or of the user's settings to the options, if there is one."""
    address = cluster_address(address)
    if address is None:
        yield options
        return
    with connect_cluster(address) as cluster:
        yield options._replace(cluster=cluster, workers=max(1, cluster.slots))


def open_game_cache(asked: str | None) -> "GameCache | None":
    """Open the game cache that --cache or the environment names; None for `off`.

    A named cache that cannot be used is a UserError, or Unfinished if its disk is full. Without
    the default cache all games are played.
    """
    asked = os.environ.get(CACHE_VARIABLE) if asked is None else asked
    if asked == "off":
        return None
    from arena.storage.game_cache import (  # noqa: PLC0415  # not needed for --help
        CacheDiskFull,
        CacheError,
        GameCache,
        default_cache_directory,
    )

    try:
        return GameCache(Path(asked) if asked else default_cache_directory())
    except CacheError as error:
        if asked:
            kind = Unfinished if isinstance(error, CacheDiskFull) else UserError
            raise kind(f"--cache {printable(asked)}: {error}") from None
        return None


def connect_cluster(address: str) -> "Cluster":
    """Connect to the cluster at an address; a UserError says why it is not possible."""
    try:
        from arena.playing.cluster.connection import Cluster  # noqa: PLC0415  # it loads Dask
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        needs = f"to play on {quote(address)} needs Dask"
        raise UserError(f"{needs}: pip install 'pitflip[cluster]' (or --cluster none)") from None
    return Cluster(address)


def number_of_workers(workers: int | None) -> int:
    """Return the number of processes: as given, else one for each core."""
    return available_cores() if workers is None else workers


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def command_text(path: Path, overrides: Sequence[str], *more: str) -> str:
    """Return the command that runs an experiment, for the user's shell."""
    changes = [word for override in overrides for word in ("--set", override)]
    return shell_command(join(["pitflip", "run", str(path), *changes, *more]))
