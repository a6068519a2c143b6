"""Options that several commands share, and the types of their values."""

import argparse
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.config.run_options import RESULTS, RunOptions, open_run_options, parse_address
from games.base.cli import CommandParser
from games.base.errors import UserError
from games.base.text import quote

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
MAX_WORKERS = 256
MAX_SECONDS = 1e7
MAX_DATABASE_BEANS = 30  # with six holes a side a database of 10 GB


def duration(text: str) -> float:
    """Parse a time such as `30s`, `5m`, `0.5h`, or a number of seconds."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})([smh]?)", text)
    seconds = float(found[1]) * UNITS[found[2]] if found else 0.0
    if not 0.0 < seconds < MAX_SECONDS:
        raise argparse.ArgumentTypeError(
            f"must be a time such as 30s, 5m or 0.5h, got {quote(text)}"
        )
    return seconds


def duration_or_zero(text: str) -> float:
    """Parse a time; `0` is allowed."""
    return 0.0 if text == "0" else duration(text)


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Return the type of whole numbers from `low` to `high`."""

    def parse(text: str) -> int:
        found = re.fullmatch(r"-?\d{1,18}", text)
        if not found or not low <= int(text) <= high:
            span = f"from {low} to {high}" if high < 1 << 31 else f"of at least {low}"
            raise argparse.ArgumentTypeError(f"must be a whole number {span}, got {quote(text)}")
        return int(text)

    return parse


def number(text: str) -> float:
    """Parse a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = float("inf")
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number, got {quote(text)}")
    return value


depth, nodes = whole_number(1, 100), whole_number(1, 1 << 40)
seed_number = whole_number(0, (1 << 63) - 1)
pair_count = whole_number(1, 10_000_000)


def group(*options: tuple[tuple[str, ...], dict[str, Any]]) -> CommandParser:
    """Return a parser with these options, to be a parent of others."""
    parser = CommandParser(add_help=False)
    for names, settings in options:
        parser.add_argument(*names, **settings)
    return parser


def option(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return an option for `group`, written as in `add_argument`."""
    return names, settings


def limits(depth_type: Callable[[str], int | str] = depth) -> CommandParser:
    """Return the options that limit a search; they exclude each other."""
    parser = CommandParser(add_help=False)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--depth", type=depth_type, metavar="N", help="search depth in plies")
    one.add_argument(
        "--nodes", type=nodes, metavar="N", help="number of positions to search for a move"
    )
    one.add_argument("--seconds", type=duration, metavar="TIME", help="thinking time for a move")
    return parser


EXPERIMENT = group(
    option("experiment", type=Path, metavar="FILE", help="an experiment file (TOML)")
)
CHANGES = group(
    option(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="changes",
        help="change a value of the file, as in agents.smart.depth=6; may be repeated",
    ),
)
SEED = group(option("--seed", type=seed_number, metavar="N", help="the seed of all random choices"))
WORKERS = group(
    option(
        "--workers",
        type=whole_number(0, MAX_WORKERS),
        metavar="N",
        help="number of worker processes (default: one per core); 0: work in this process",
    )
)
CLUSTER = group(
    option(
        "--cluster",
        type=parse_address,
        metavar="ADDRESS",
        help="use a Dask cluster, tcp://HOST:PORT or local:4; none: use only this machine",
    )
)
CACHE = group(
    option(
        "--cache",
        metavar="DIR",
        help="directory of the game cache (finished games that later runs reuse); off: no cache",
    )
)
RESULTS_DIRECTORY = group(
    option(
        "--results",
        type=Path,
        default=RESULTS,
        metavar="DIR",
        help="directory of the runs (default: results)",
    )
)
FRESH = group(
    option(
        "--fresh",
        action="store_true",
        help="start again; the earlier run is kept under another name",
    )
)
QUIET = group(option("--quiet", action="store_true", help="print only the result"))
JSON = group(option("--json", action="store_true", help="print the result as one JSON object"))
PLAY = (SEED, WORKERS, CLUSTER, CACHE, RESULTS_DIRECTORY, FRESH, QUIET, JSON)
PAIRS = group(
    option(
        "--pairs",
        type=pair_count,
        metavar="N",
        help="pairs per match (default: 100, with a stop rule at most 10,000, or as in the file); "
        "a pair is one opening played from both sides",
    )
)
WIDTH = group(
    option(
        "--width",
        type=number,
        metavar="ELO",
        help="stop when half the width of the 95 %% interval is at most this many Elo",
    )
)
DRY_RUN = group(
    option(
        "--dry-run",
        action="store_true",
        help="test each bot and forecast games, time and precision from a few trial games; store "
        "nothing",
    )
)
SHOW_OUTPUT = group(
    option(
        "--show-output",
        action="store_true",
        help="show what bots print, also on stderr; runs keep it in output.log",
    )
)
LIMITS = limits()
RUN = group(option("run", type=Path, metavar="RUN", help="the directory of a run"))
DATABASE_BEANS = group(
    option(
        "--database-beans",
        type=whole_number(0, MAX_DATABASE_BEANS),
        metavar="N",
        help="solve endgames of up to N beans in advance (default: as many as save time)",
    )
)
MOVED_EXPERIMENT = group(
    option(
        "--experiment",
        type=Path,
        metavar="FILE",
        help="where the experiment file is now, if it has moved with its bots",
    )
)


def search_limits(arguments: argparse.Namespace) -> dict[str, float | str]:
    """Return the limits on searches that the command line sets."""
    given = {name: getattr(arguments, name) for name in ("depth", "nodes", "seconds")}
    return {name: value for name, value in given.items() if value is not None}


def overrides(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return all changes to the experiment file: those of --set, then those of other options."""
    short = {key: getattr(arguments, key, None) for key in ("seed", "pairs")}
    named = [f"{key}={value}" for key, value in short.items() if value is not None]
    width = getattr(arguments, "width", None)
    stop = [] if width is None else [f"stop={{ width = {width!r} }}"]
    return (*getattr(arguments, "changes", ()), *named, *stop)


@contextmanager
def run_options(arguments: argparse.Namespace) -> Iterator[RunOptions]:
    """Open the cluster and the cache of a command that plays, and close them at the end."""
    fields = ("budget", "fresh", "json", "junit", "page", "live", "pinned", "show_output")
    more = {name: getattr(arguments, name) for name in fields if hasattr(arguments, name)}
    with open_run_options(
        arguments.interrupts,
        results=arguments.results,
        workers=arguments.workers,
        cluster=arguments.cluster,
        cache=arguments.cache,
        quiet=arguments.quiet or arguments.json,
        overrides=overrides(arguments),
        **more,
    ) as options:
        yield options


def refuse_with_dry_run(arguments: argparse.Namespace) -> None:
    """Refuse options that have no effect with --dry-run."""
    for name in ("fresh", "quiet", "json", "live", "junit", "show_output"):
        if getattr(arguments, name, None):
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"--dry-run stores and prints no results: leave out {flag}")
