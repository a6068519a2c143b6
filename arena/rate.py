"""Rate results from anywhere: python -m arena.rate games.parquet results.csv games.pgn."""

import argparse
import json
import sys
from pathlib import Path

from arena.reading.foreign_games import GivenGames, Unreadable, read_games
from arena.stats import RATINGS
from games.names import did_you_mean, listed


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m arena.rate",
        description=(
            "Rate agents from games that exist already: our games.parquet, a CSV of "
            "first,second,result[,opening], or the tags of PGN files."
        ),
        epilog="example: python -m arena.rate results/*/*/games.parquet --anchor random",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--method", default="bradley_terry", help=f"how to rate: {listed(RATINGS)} (bradley_terry)"
    )
    parser.add_argument("--anchor", metavar="NAME", help="the agent that is held at 0 Elo")
    parser.add_argument("--draws", type=int, default=200, help="of the bootstrap (200; 0: none)")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def rated_lines(given: GivenGames, asked: argparse.Namespace) -> list[str]:
    """The ratings as a table of lines, or as JSON in one."""
    from arena.stats.bridges import bridges  # noqa: PLC0415  # after --help
    from arena.stats.rating_words import ratings_lines  # noqa: PLC0415
    from arena.stats.ratings import RatingPlan, rate  # noqa: PLC0415
    from arena.stats.results import gather  # noqa: PLC0415

    names = given.names
    anchor = None if asked.anchor is None else names.index(asked.anchor)
    results = gather(given.first, given.second, given.scores, given.openings, len(names))
    plan = RatingPlan(draws=asked.draws, seed=asked.seed, anchor=anchor)
    ratings = rate(results, plan, asked.method)
    if not asked.json:
        return ratings_lines(ratings, bridges(results, ratings), names)
    rows = [
        {
            "agent": names[row.agent],
            "group": row.pool,
            "elo": row.rating.value,
            "low": row.rating.low,
            "high": row.rating.high,
            "games": row.games,
            "points": row.points,
            "openings": row.openings,
        }
        for row in ratings.agents
    ]
    return [json.dumps({"games": len(given.scores), "ratings": rows})]


def check(asked: argparse.Namespace, given: GivenGames) -> str | None:
    """What is wrong with the options, in one line."""
    from arena.stats.ratings import FEWEST_DRAWS  # noqa: PLC0415  # after --help

    if asked.method not in RATINGS:
        near = did_you_mean(asked.method, RATINGS)
        return f"--method must be one of {listed(RATINGS)}, got {asked.method!r}{near}"
    if asked.anchor is not None and asked.anchor not in given.names:
        near = did_you_mean(asked.anchor, given.names)
        return f"--anchor must be one of {listed(given.names)}, got {asked.anchor!r}{near}"
    if asked.draws != 0 and not FEWEST_DRAWS <= asked.draws <= 100_000:
        return f"--draws must be 0 or from {FEWEST_DRAWS} to 100000, got {asked.draws}"
    return None


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 when a file cannot be read."""
    asked = arguments().parse_args(words)
    try:
        given = read_games(asked.files)
    except Unreadable as error:
        print(f"arena.rate: {error}", file=sys.stderr)
        return 2
    if wrong := check(asked, given):
        print(f"arena.rate: {wrong}", file=sys.stderr)
        return 2
    print("\n".join(rated_lines(given, asked)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
