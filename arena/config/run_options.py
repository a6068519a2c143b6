"""How an experiment is played: workers, cluster, game cache, and the settings of a user."""

import argparse
import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, Protocol

from agents.sandbox.sandbox import Sandbox
from arena.config.toml_file import Problems, Source, read_text, toml_tables
from arena.playing.options import Interrupts, PlayOptions
from games.base.cli import shell_command
from games.base.errors import Unfinished, UserError, print_error, printable
from games.base.schema import Key, read_table
from games.base.text import quote

if TYPE_CHECKING:
    from arena.config.experiment import Experiment
    from arena.playing.cluster.connection import Cluster
    from arena.storage.game_cache import GameCache

log = logging.getLogger(__name__)
RESULTS = Path("results")
CACHE_VARIABLE = "PITFLIP_CACHE"  # the environment's default for --cache
ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:(?P<port>[0-9]{1,5})|local:([1-9][0-9]?|1[0-9]{2})|none")
ADDRESS_FORMS = "tcp://HOST:PORT, tls://HOST:PORT, local:N for N processes of this machine, or none"
SETTINGS_KEYS = (
    Key(
        "cluster",
        "table",
        "the cluster that plays",
        keys=(Key("address", "text", f"the address of a Dask scheduler: {ADDRESS_FORMS}"),),
    ),
)


def settings_path() -> Path:
    """Return the path of the settings file."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "pitflip" / "settings.toml"


def parse_address(text: str) -> str:
    """Return a valid address of a cluster; an argparse type."""
    if not is_valid_address(text):
        raise argparse.ArgumentTypeError(f"must be {ADDRESS_FORMS}, got {quote(text)}")
    return text


def is_valid_address(text: str) -> bool:
    """Return whether a text is an address of a cluster, with a valid port."""
    found = ADDRESS.fullmatch(text)
    return found is not None and (found["port"] is None or 0 < int(found["port"]) < 1 << 16)


def cluster_address(option: str | None) -> str | None:
    """Return the address of the option, else that of the settings; None for this machine."""
    stored = read_address(settings_path())
    address = stored if option is None else option
    return None if address == "none" else address


def read_address(path: Path) -> str | None:
    """Return the address in the settings file; an ExperimentError lists its problems."""
    if not path.is_file():
        return None
    text = read_text(path)
    tables = toml_tables(path, text)
    problems = Problems(Source(path, text, tables))
    values = read_table(tables, (), SETTINGS_KEYS, problems.add)["cluster"] or {}
    address = values.get("address")
    if address is not None and not is_valid_address(address):
        problems.add(
            ("cluster", "address"), f"address must be {ADDRESS_FORMS}, got {quote(address)}"
        )
    problems.raise_if_any()
    return address


class LiveSite(Protocol):
    """Pages that a run rewrites while it plays."""

    def notify(self, line: str) -> None:
        """Print a line about the run."""

    def watch(self, experiment: "Experiment") -> AbstractContextManager[Any]:
        """Show the games of a run while the context lasts."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to play, store and print; none of these options changes a game."""

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
    sandbox: Sandbox = field(default_factory=Sandbox)  # started with the first bot
    page: bool = False
    live: bool = False  # show a live page in the browser
    site: "LiveSite | None" = None  # pages of a class, which are rewritten during the run
    cache: "GameCache | None" = None  # finished games of earlier runs
    tables: bool = True  # whether a study prints its result
    pinned: bool = True  # whether workers and their bots stay on their cores
    show_output: bool = False  # print what bots write

    @property
    def parallel_games(self) -> int:
        """The number of games that are played at a time."""
        return self.playing.items_at_once

    @property
    def notify(self) -> Callable[[str], None]:
        """A function that prints a line about the run, or logs it if the run is quiet."""
        if self.quiet:
            return log.info
        return print_error if self.site is None else self.site.notify

    @property
    def playing(self) -> PlayOptions:
        """The options that concern playing."""
        return PlayOptions(
            self.workers,
            self.interrupts,
            self.cluster,
            self.sandbox,
            self.cache,
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
        connected = None if address is None else stack.enter_context(connect_cluster(address))
        game_cache = open_game_cache(cache)
        if game_cache is not None:
            stack.callback(game_cache.close)
        processes = number_of_workers(workers) if connected is None else max(1, connected.slots)
        options = RunOptions(
            results, processes, interrupts, cluster=connected, cache=game_cache, **more
        )
        stack.callback(options.sandbox.close)
        yield options


@contextmanager
def with_cluster(options: PlayOptions, address: str | None) -> Iterator[PlayOptions]:
    """Add the cluster of --cluster or of the user's settings to the options, if there is one."""
    address = cluster_address(address)
    if address is None:
        yield options
        return
    with connect_cluster(address) as cluster:
        yield options._replace(cluster=cluster, workers=max(1, cluster.slots))


def open_game_cache(name: str | None) -> "GameCache | None":
    """Open the game cache that --cache or the environment names; None for `off`.

    A named cache that cannot be used raises a UserError, or Unfinished if its disk is full. If
    the default cache cannot be used, all games are played.
    """
    name = os.environ.get(CACHE_VARIABLE) if name is None else name
    if name == "off":
        return None
    from arena.storage.game_cache import (  # noqa: PLC0415  # not needed for --help
        CacheDiskFull,
        CacheError,
        GameCache,
        default_cache_directory,
    )

    try:
        return GameCache(Path(name) if name else default_cache_directory())
    except CacheError as error:
        if name:
            kind = Unfinished if isinstance(error, CacheDiskFull) else UserError
            raise kind(f"--cache {printable(name)}: {error}") from None
        return None


def connect_cluster(address: str) -> "Cluster":
    """Connect to the cluster at an address; a UserError if Dask is missing."""
    try:
        from arena.playing.cluster.connection import Cluster  # noqa: PLC0415  # it loads Dask
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        needs = f"playing on {quote(address)} needs Dask"
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
