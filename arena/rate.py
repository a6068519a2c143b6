"""Rate results from anywhere: python -m arena.rate games.parquet results.csv games.pgn."""

import argparse
import json
import sys
from pathlib import Path

from arena.reading.foreign_games import GivenGames, read_games
from arena.stats import RATINGS
from games.names import did_you_mean, listed
from games.shell_commands import here
from games.terminal import DONE, Mistake, status_of


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=here("python -m arena.rate"),
        description=(
            "Rate agents from games already played: our games.parquet, a CSV of "
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


def rated_lines(foreign: GivenGames, chosen: argparse.Namespace) -> list[str]:
    """The ratings as a table of lines, or as JSON in one."""
    from arena.stats.pool_gaps import bridges  # noqa: PLC0415  # after --help
    from arena.stats.rating_words import ratings_lines  # noqa: PLC0415
    from arena.stats.ratings import RatingPlan, rate  # noqa: PLC0415
    from arena.stats.results import gather  # noqa: PLC0415

    names = foreign.names
    anchor = None if chosen.anchor is None else names.index(chosen.anchor)
    results = gather(foreign.first, foreign.second, foreign.scores, foreign.openings, len(names))
    plan = RatingPlan(draws=chosen.draws, seed=chosen.seed, anchor=anchor)
    ratings = rate(results, plan, chosen.method)
    if not chosen.json:
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
    return [json.dumps({"games": len(foreign.scores), "ratings": rows})]


def check(chosen: argparse.Namespace, foreign: GivenGames) -> None:
    """Raise a Mistake if an option is wrong."""
    from arena.stats.ratings import FEWEST_DRAWS  # noqa: PLC0415  # after --help

    if chosen.method not in RATINGS:
        near = did_you_mean(chosen.method, RATINGS)
        raise Mistake(f"--method must be one of {listed(RATINGS)}, got {chosen.method!r}{near}")
    if chosen.anchor is not None and chosen.anchor not in foreign.names:
        near = did_you_mean(chosen.anchor, foreign.names)
        raise Mistake(
            f"--anchor must be one of {listed(foreign.names)}, got {chosen.anchor!r}{near}"
        )
    if chosen.draws != 0 and not FEWEST_DRAWS <= chosen.draws <= 100_000:
        raise Mistake(f"--draws must be 0 or from {FEWEST_DRAWS} to 100000, got {chosen.draws}")


def main(words: list[str] | None = None) -> int:
    """Run the command; 2 if a file cannot be read."""
    chosen = arguments().parse_args(words)
    return status_of("arena.rate", lambda: rated(chosen))


def rated(chosen: argparse.Namespace) -> int:
    """Read, rate and print; the exit status."""
    foreign = read_games(chosen.files)
    check(chosen, foreign)
    print("\n".join(rated_lines(foreign, chosen)))
    return DONE


if __name__ == "__main__":
    sys.exit(main())
