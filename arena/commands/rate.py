"""The command `pitflip rate`."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.commands.options import JSON, seed_number
from arena.pipeline.external_games import ExternalGames, RatingPool, rate_files
from games.base.errors import OK, print_error, print_safely, printable

if TYPE_CHECKING:
    from arena.analysis.standings import Standings
    from arena.analysis.tables import EloRow

PARENTS = (JSON,)
BOOTSTRAP = 200
EPILOG = """\
FILE is the directory of a run, a games.parquet, or a PGN, GGF or CSV file. CSV
needs the header first,second,result[,opening]. Each game counts once.
Different games, and different versions of an agent, are rated separately.
exit status: 0 rated; 2 a file cannot be read

examples:
  pitflip rate results/*/* --anchor random=0
  pitflip rate my_games.pgn --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a file or run with games"
    )
    parser.add_argument(
        "--anchor",
        metavar="NAME[=ELO]",
        help="fix the rating of this agent, at 0 unless ELO is given",
    )
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
        help=f"bootstrap samples for the intervals (default: {BOOTSTRAP}; 0: no intervals)",
    )
    parser.add_argument(
        "--seed",
        type=seed_number,
        default=0,
        metavar="N",
        help="the seed of the bootstrap (default: 0)",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write DIR/elo.parquet")


def run(arguments: argparse.Namespace) -> int:
    """Read, rate, print and write."""
    from arena.analysis.tables import rating_rows

    external, rated = rate_files(
        arguments.files,
        anchor=arguments.anchor,
        same=arguments.same,
        bootstrap=arguments.bootstrap,
        seed=arguments.seed,
    )
    rows = [
        (scale.game, row) for scale, each in rated for row in rating_rows(each.agents, each.groups)
    ]
    if arguments.json:
        print_safely(lambda: print(ratings_json(external, rows)))
    else:
        print_safely(lambda: print_ratings(external, rated))
    if arguments.out is not None:
        write_ratings(arguments.out, arguments.files, rows)
    return OK


def ratings_json(external: ExternalGames, rows: Sequence[tuple[str, "EloRow"]]) -> str:
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
    content = {"games": external.games, "notes": external.notes, "ratings": ratings}
    return json.dumps(content, allow_nan=False, ensure_ascii=False)


def print_ratings(external: ExternalGames, rated: Sequence[tuple[RatingPool, "Standings"]]) -> None:
    """Print a table for each scale, then the notes."""
    from arena.terminal import tables as terminal_tables

    console = terminal_tables.stdout_console()
    for scale, standings in rated:
        if len(rated) > 1:
            terminal_tables.print_line(
                console, f"{scale.game}: {len(scale.scores):,} games", "bold"
            )
        terminal_tables.print_ratings(console, standings.agents, standings.groups)
    for note in external.notes:
        terminal_tables.print_line(console, note)


def write_ratings(
    directory: Path, files: Sequence[Path], rows: Sequence[tuple[str, "EloRow"]]
) -> None:
    """Write elo.parquet, one game after the other."""
    from arena.analysis.tables import EloRow
    from arena.storage.parquet import write_rows

    directory.mkdir(parents=True, exist_ok=True)
    source = {"files": [str(file) for file in files], "games": [game for game, _ in rows]}
    write_rows(directory / "elo.parquet", EloRow, [row for _, row in rows], source)
    print_error(f"written: {printable(str(directory / 'elo.parquet'))}")
