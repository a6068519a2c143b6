"""The command line of everything that plays an experiment: arguments, options, ending."""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agents.sandbox.sandbox import Sandbox
from arena.config.user_settings import cluster_address, is_address
from arena.playing.options import Interrupts
from games.base.cli import CommandParser, shell_command
from games.base.errors import Unfinished, UserError, printable, status_of
from games.base.text import quote

if TYPE_CHECKING:
    from arena.playing.cluster.connection import Cluster
    from arena.playing.options import PlayOptions
    from arena.storage.game_cache import GameCache

RESULTS = Path("results")
CACHE_VARIABLE = "PITFLIP_KNOWN"  # in the environment: what --known says otherwise


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to play, where to keep the games, what to print; nothing here decides a game."""

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
    pinned: bool = True  # whether workers keep to cores with their bots

    @property
    def at_once(self) -> int:
        """How many games are played at a time."""
        return max(1, self.workers)

    @property
    def playing(self) -> "PlayOptions":
        """The options for playing."""
        from arena.playing.options import PlayOptions  # noqa: PLC0415  # it loads the kernels

        return PlayOptions(
            self.workers,
            self.interrupts,
            self.cluster,
            self.wall,
            self.known,
            self.pinned,
        )


def add_play_options(
    module: str, description: str, epilog: str, *, keeps_games: bool = True
) -> argparse.ArgumentParser:
    """A command line with the arguments of every command that plays an experiment."""
    parser = CommandParser(
        usage="%(prog)s [options] experiment",  # one line, however many options there are
        prog=shell_command(f"python -m {module}"),
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("experiment", type=Path, help="a TOML file: docs/experiment-file.md")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="changes",
        help="change one value of the file, such as agents.smart.depth=6",
    )  # fmt: skip
    parser.add_argument("--seed", metavar="N", help="the same as --set seed=N")
    add_workers(parser)
    parser.add_argument(
        "--on", type=is_address, metavar="ADDRESS",
        help="play on a Dask cluster, tcp://HOST:PORT or local:4; or none",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="DIR", help="not results/, but DIR"
    )
    parser.add_argument(
        "--known", metavar="DIR", help="where games known from earlier runs are kept; off: play all"
    )
    if keeps_games:
        add_answer_options(parser)
    return parser


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the number of processes that play or judge."""
    parser.add_argument(
        "--workers", type=worker_count, metavar="N", help="processes (all cores); 0: this one"
    )


def add_answer_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that keeps games and answers once they are played."""
    parser.add_argument("--fresh", action="store_true", help="set an earlier run aside, begin anew")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the answer")
    parser.add_argument("--json", action="store_true", help="print the answer as one JSON object")


def overrides(chosen: argparse.Namespace) -> tuple[str, ...]:
    """All values of the file that the command line changes."""
    short = {key: getattr(chosen, key, None) for key in ("seed", "pairs")}
    named = [f"{key}={value}" for key, value in short.items() if value is not None]
    return (*chosen.changes, *named)


@contextmanager
def open_run_options(chosen: argparse.Namespace, interrupts: Interrupts) -> Iterator[RunOptions]:
    """The options that a command line names, with a cluster that is left at the end."""
    address = cluster_address(chosen.on)
    with ExitStack() as stack:
        cluster = None if address is None else stack.enter_context(connect_cluster(address))
        known = open_game_cache(chosen.known)
        if known is not None:
            stack.callback(known.close)
        options = _options(chosen, interrupts, cluster, known)
        stack.callback(options.wall.close)
        yield options


@contextmanager
def with_cluster(options: "PlayOptions", on: str | None) -> Iterator["PlayOptions"]:
    """The options with the cluster that `on` or the settings name, if they name one."""
    address = cluster_address(on)
    if address is None:
        yield options
        return
    with connect_cluster(address) as cluster:
        yield options._replace(cluster=cluster, workers=max(1, cluster.slots))


def open_game_cache(asked: str | None) -> "GameCache | None":
    """The store of known games that a command line, else the environment, asks for.

    If the one that is asked for cannot be used: a Mistake, or Unfinished where its disk is full.
    Without the usual one all is played.
    """
    asked = os.environ.get(CACHE_VARIABLE) if asked is None else asked
    if asked == "off":
        return None
    # After --help, which needs none of it.
    from arena.storage.game_cache import (  # noqa: PLC0415
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
            raise kind(f"--known {printable(asked)}: {error}") from None
        return None


def connect_cluster(address: str) -> "Cluster":
    """The cluster at an address; a Mistake says why there is none."""
    try:
        from arena.playing.cluster.connection import Cluster  # noqa: PLC0415  # it loads Dask
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        needs = f"to play on {quote(address)} needs Dask"
        raise UserError(f"{needs}: pip install 'pitflip[cluster]' (or --on none)") from None
    return Cluster(address)


def _options(
    chosen: argparse.Namespace,
    interrupts: Interrupts,
    cluster: "Cluster | None",
    known: "GameCache | None",
) -> RunOptions:
    return RunOptions(
        results=chosen.results,
        workers=number_of(chosen.workers) if cluster is None else max(1, cluster.slots),
        interrupts=interrupts,
        cluster=cluster,
        budget=getattr(chosen, "budget", None),
        fresh=getattr(chosen, "fresh", False),
        quiet=getattr(chosen, "quiet", False) or getattr(chosen, "json", False),
        json=getattr(chosen, "json", False),
        overrides=overrides(chosen),
        junit=getattr(chosen, "junit", None),
        page=getattr(chosen, "page", False),
        live=getattr(chosen, "live", False),
        pinned=getattr(chosen, "pinned", True),
        known=known,
    )


def run_resumable(
    module: str,
    words: Sequence[str] | None,
    chosen: argparse.Namespace,
    work: Callable[[argparse.Namespace, Interrupts], int],
) -> int:
    """The exit status of work that the same command continues if it is stopped."""
    interrupts, again = Interrupts(), same_command(module, words)
    with interrupts.installed():
        return status_of(module, lambda: work(chosen, interrupts), again, str(chosen.experiment))


def worker_count(text: str) -> int:
    """A number of processes."""
    if not text.isdecimal() or not int(text) <= 256:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 256, got {text!r}")
    return int(text)


def number_of(workers: int | None) -> int:
    """The processes that a command line asks for, or one for each core."""
    return available_cores() if workers is None else workers


def available_cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def same_command(command: str, words: Sequence[str] | None) -> str:
    """The command that continues this run: the same one without --fresh."""
    same = [word for word in (sys.argv[1:] if words is None else words) if word != "--fresh"]
    return shell_command(shlex.join([*command.split(), *same]))


def command_text(path: Path, overrides: Sequence[str], *more: str) -> str:
    """The command that runs an experiment, for a shell."""
    changes = [word for override in overrides for word in ("--set", override)]
    return shell_command(shlex.join(["pitflip", "run", str(path), *changes, *more]))
