"""Rate games from any files."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.config.experiment import Anchor, AnchorError, parse_anchor
from arena.pipeline.external_games import ExternalGames, RatingPool, read_games
from arena.stats import RATINGS
from games.base.cli import CommandParser
from games.base.errors import OK, UserError, print_error, print_safely, printable, status_of
from games.base.text import did_you_mean, listed

if TYPE_CHECKING:  # at run time they are loaded after --help and mistakes
    from arena.analysis.standings import Standings
    from arena.analysis.tables import EloRow


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandParser(
        prog="pitflip rate",
        description=(
            "Rate agents from games already played: directories of runs, their games.parquet, CSV "
            "with the usual headers (first,second,result[,opening]), PGN, GGF. No game counts "
            "twice; different games, and versions of an agent, are rated apart."
        ),
        epilog="example: pitflip rate results/*/* --anchor random=0",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--method", default="bradley_terry", help=f"how to rate: {listed(RATINGS)} (bradley_terry)"
    )
    parser.add_argument(
        "--anchor", metavar="NAME[=ELO]", help="the agent that is held at a rating (0)"
    )
    parser.add_argument("--pool", action="store_true", help="rate different games on one scale")
    parser.add_argument(
        "--same", action="append", default=[], metavar="NAME", help="its versions are one agent"
    )
    parser.add_argument("--draws", type=int, default=200, help="of the bootstrap (200; 0: none)")
    parser.add_argument("--seed", type=int, default=0, help="for other draws of the bootstrap (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write elo.parquet there")
    return parser


def anchor_argument(word: str | None, given: ExternalGames) -> Anchor | None:
    """The anchor of the command line."""
    if word is None:
        return None
    try:
        return parse_anchor(word, given.names)
    except AnchorError as error:
        raise UserError(f"--anchor {error}") from None


def check(chosen: argparse.Namespace) -> None:
    """Raise a Mistake if an option is wrong whatever the files hold."""
    from arena.stats.ratings import FEWEST_DRAWS  # noqa: PLC0415  # after --help

    if chosen.method not in RATINGS:
        near = did_you_mean(chosen.method, RATINGS)
        raise UserError(f"--method must be one of {listed(RATINGS)}, got {chosen.method!r}{near}")
    if chosen.draws != 0 and not FEWEST_DRAWS <= chosen.draws <= 100_000:
        raise UserError(f"--draws must be 0 or from {FEWEST_DRAWS} to 100000, got {chosen.draws}")
    if chosen.seed < 0:
        raise UserError(f"--seed must be 0 or more, got {chosen.seed}")


def rate_pool(scale: RatingPool, chosen: argparse.Namespace, anchor: Anchor | None) -> "Standings":
    """The standings of the games of one scale."""
    from arena.pipeline.external_games import rate_external_games  # noqa: PLC0415  # after --help
    from arena.stats.ratings import RatingPlan  # noqa: PLC0415

    plan = RatingPlan(draws=chosen.draws, seed=chosen.seed)
    if anchor is not None and anchor.name in scale.names:
        place = scale.names.index(anchor.name)
        plan = RatingPlan(draws=chosen.draws, seed=chosen.seed, anchor=place, anchor_elo=anchor.elo)
    return rate_external_games(scale, plan, chosen.method)


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if a file cannot be read."""
    chosen = arguments().parse_args(words)
    return status_of("pitflip rate", lambda: rated(chosen))


def rated(chosen: argparse.Namespace) -> int:
    """Read, rate, print and write; the exit status."""
    from arena.analysis.tables import rating_rows  # noqa: PLC0415  # after --help

    check(chosen)
    given = read_games(chosen.files, pool=chosen.pool, same=chosen.same)
    anchor = anchor_argument(chosen.anchor, given)
    found = [(scale, rate_pool(scale, chosen, anchor)) for scale in given.scales]
    rows = [
        (scale.game, row) for scale, each in found for row in rating_rows(each.agents, each.groups)
    ]
    if chosen.json:
        print_safely(lambda: print(as_json(given, rows)))
    else:
        print_safely(lambda: print_ratings(given, found))
    if chosen.out is not None:
        write(chosen.out, chosen.files, rows)
    return OK


def as_json(given: ExternalGames, rows: Sequence[tuple[str, "EloRow"]]) -> str:
    """All ratings as one JSON object; the keys are the columns of elo.parquet."""
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
    """Print one table for each game, then what was left out or kept apart."""
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
    """Write elo.parquet; different games follow one another, with groups of their own."""
    from arena.analysis.tables import EloRow  # noqa: PLC0415  # after --help
    from arena.storage.parquet import write_rows  # noqa: PLC0415

    directory.mkdir(parents=True, exist_ok=True)
    source = {"files": [str(file) for file in files], "games": [game for game, _ in rows]}
    write_rows(directory / "elo.parquet", EloRow, [row for _, row in rows], source)
    print_error(f"written: {printable(str(directory / 'elo.parquet'))}")


if __name__ == "__main__":
    sys.exit(main())
