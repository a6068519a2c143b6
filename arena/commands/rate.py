"""The command `pitflip rate`."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import JSON, seed
from arena.pipeline.external_games import ExternalGames, RatingPool, rate_files
from arena.stats import RATINGS
from games.base.errors import OK, print_error, print_safely, printable

if TYPE_CHECKING:
    from arena.analysis.standings import Standings
    from arena.analysis.tables import EloRow

PARENTS = (JSON,)
BOOTSTRAP = 200
EPILOG = """\
examples:
  pitflip rate results/*/* --anchor random=0
  pitflip rate my_games.pgn --json
FILE is the directory of a run, its games.parquet, PGN, GGF, or CSV with the
headers first,second,result[,opening]. No game counts twice. Different games,
and different versions of an agent, are rated separately.
exit status: 0 rated; 2 a file cannot be read"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command alone."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file with games")
    parser.add_argument(
        "--method",
        choices=tuple(RATINGS),
        default="bradley_terry",
        help="how ratings are estimated (default: bradley_terry)",
    )
    parser.add_argument(
        "--anchor", metavar="NAME[=ELO]", help="fix the rating of this agent (default: at 0)"
    )
    parser.add_argument("--pool", action="store_true", help="rate different games on one scale")
    parser.add_argument(
        "--same",
        action="append",
        default=[],
        metavar="NAME",
        help="rate all versions of this agent as one; may be repeated",
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=BOOTSTRAP,
        metavar="N",
        help=f"bootstrap samples (default: {BOOTSTRAP}; 0: none)",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="the seed of the bootstrap (default: 0)"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write DIR/elo.parquet")


def run(arguments: argparse.Namespace) -> int:
    """Read, rate, print and write."""
    from arena.analysis.tables import rating_rows  # noqa: PLC0415  # not needed for --help

    given, found = rate_files(
        arguments.files,
        method=arguments.method,
        anchor=arguments.anchor,
        pool=arguments.pool,
        same=arguments.same,
        bootstrap=arguments.bootstrap,
        seed=arguments.seed,
    )
    rows = [
        (scale.game, row) for scale, each in found for row in rating_rows(each.agents, each.groups)
    ]
    if arguments.json:
        print_safely(lambda: print(as_json(given, rows)))
    else:
        print_safely(lambda: print_ratings(given, found))
    if arguments.out is not None:
        write(arguments.out, arguments.files, rows)
    return OK


def as_json(given: ExternalGames, rows: Sequence[tuple[str, "EloRow"]]) -> str:
    """Return all ratings as one JSON object; its keys are the columns of elo.parquet."""
    ratings = [
        {
            "game": game,
            **row._asdict(),
            "low": row.elo_low,
            "high": row.elo_high,
            "games": row.counted_games,
        }
        for game, row in rows
    ]
    content = {"games": given.games, "notes": given.notes, "ratings": ratings}
    return json.dumps(content, allow_nan=False, ensure_ascii=False)


def print_ratings(given: ExternalGames, found: Sequence[tuple[RatingPool, "Standings"]]) -> None:
    """Print a table for each game, then notes on games that do not count."""
    from arena.terminal import tables as terminal_tables  # noqa: PLC0415  # not needed for JSON

    console = terminal_tables.terminal()
    for scale, standings in found:
        if len(found) > 1:
            terminal_tables.print_line(
                console, f"{scale.game}: {len(scale.scores):,} games", "bold"
            )
        terminal_tables.show_ratings(console, standings.agents, standings.groups)
    for note in given.notes:
        terminal_tables.print_line(console, note)


def write(directory: Path, files: Sequence[Path], rows: Sequence[tuple[str, "EloRow"]]) -> None:
    """Write elo.parquet, one game after the other."""
    from arena.analysis.tables import EloRow  # noqa: PLC0415  # not needed for --help
    from arena.storage.parquet import write_rows  # noqa: PLC0415

    directory.mkdir(parents=True, exist_ok=True)
    source = {"files": [str(file) for file in files], "games": [game for game, _ in rows]}
    write_rows(directory / "elo.parquet", EloRow, [row for _, row in rows], source)
    print_error(f"written: {printable(str(directory / 'elo.parquet'))}")
