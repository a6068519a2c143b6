"""Play matches that measure the agents' strength: python -m benchmarks.strength [ROW ...]."""

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.core import AgentSpec
from agents.registry import kind_of
from arena.stats.sprt import Decision, SprtPlan
from arena.stats.text import sprt_text
from benchmarks import learned_strength
from benchmarks.matches import (
    Score,
    margins,
    pair_score,
    random_openings,
    score_of_games,
    sprt_match,
)
from benchmarks.strength_page import write_page
from games import Game, game

SEED = 20_000  # of openings and games that were not used to choose weights
OPENING_PLIES = 6
AHEAD, MOST_PAIRS = SprtPlan(0.0, 20.0), 2_000
SOLVED = Path(__file__).parent.parent / "tests/golden/kalah/solved.csv"
HEAD = ("match", "seed", "result", "score", "wanted", "")

SMART, RANDOM, GREEDY = (AgentSpec(kind) for kind in ("smart", "random", "greedy"))
POLICIES = ("first", "last", "nearest_pot", "fewest")
SIZES = [(holes, beans) for holes in range(3, 7) for beans in range(2, 7)]
# Perfect play for boards that the golden file lacks: alphabeta with endgame = 256 and
# table_bits = 23, exact to the last bean; (4,6) took 32 million nodes.
SOLVED_HERE = {
    **{(4, 4): 2, (4, 5): 4, (4, 6): 0},
    **{(5, 2): 2, (5, 3): 6, (5, 4): 10, (6, 2): 6, (6, 3): 2},
}
# The nodes searched in 50 ms on the machine of the results; node limits are reproducible.
NODES_IN_50_MS = {"kalah(6,4)": 2_500_000, "othello": 1_100_000}


class StrengthRow(NamedTuple):
    """The result of one match and the result that is required."""

    match: str
    result: str
    score: str
    wanted: str
    held: bool
    seed: int = SEED


def share(score: Score) -> str:
    """Return the points per game with a 95 % interval; one-sided if all games have one result."""
    if score.error == 0:
        bound = 100 * 0.05 ** (1 / score.games)  # Clopper and Pearson, one-sided
        return f"100 %, > {bound:.2f} %" if score.share == 1 else f"{100 * score.share:.0f} %"
    return f"{100 * score.share:.2f} % ± {196 * score.error:.2f}"


def smart_v_random() -> Iterator[StrengthRow]:
    """Play 10,000 games a side of kalah(6,4) from the start; only `random` varies."""
    of, games = game("kalah(6,4)"), 10_000
    none = np.empty((games, 0), np.int16)
    first = score_of_games(np.sign(margins(of, SMART, RANDOM, none, SEED)))
    second = score_of_games(-np.sign(margins(of, RANDOM, SMART, none, SEED)))
    for side, score, most in (("first", first, 0), ("second", second, games // 5_000)):
        match = f"smart, moving {side}, v random, kalah(6,4), {games:,} games"
        yield StrengthRow(
            match, str(score), share(score), f"losses <= {most}", score.losses <= most
        )


def smart_v_policies() -> Iterator[StrengthRow]:
    """Play every small Kalah against deterministic agents, one game a policy and side."""
    values = perfect_margins()
    for policy in POLICIES:
        wins, missed, unclear = 0, list[str](), list[str]()
        for holes, beans in SIZES:
            of = game(f"kalah({holes},{beans})")
            value = values.get((holes, beans))
            for side, margin in enumerate(both_sides(of, policy)):
                name = f"({holes},{beans}) moving {('first', 'second')[side]}"
                wins += margin > 0
                if margin <= 0 and value is None:
                    unclear.append(name)
                elif margin <= 0 and value is not None and (value if side == 0 else -value) > 0:
                    missed.append(name)
        result = f"{wins} of {2 * len(SIZES)} won"
        result += f"; missed {', '.join(missed)}" if missed else ""
        result += f"; not won, perfect play unknown: {', '.join(unclear)}" if unclear else ""
        match = f"smart v {policy}, kalah (3,2) to (6,6), both sides"
        yield StrengthRow(match, result, "", "all that perfect play wins", not missed)


def both_sides(of: Game, policy: str) -> tuple[int, int]:
    """Return the margins of `smart` in its game moving first and in its game moving second."""
    none, other = np.empty((1, 0), np.int16), AgentSpec(policy)
    first = margins(of, SMART, other, none, SEED)
    second = margins(of, other, SMART, none, SEED)
    return int(first[0]), -int(second[0])


def perfect_margins() -> dict[tuple[int, int], int]:
    """Return the first player's margin under perfect play, by holes and beans."""
    with SOLVED.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["ruleset"] == "cs32_2009"]
    return SOLVED_HERE | {
        (int(row["m"]), int(row["n"])): int(row["first_player_margin"]) for row in rows
    }


def greedy_v_random() -> Iterator[StrengthRow]:
    """Play the classroom's greedy agent, 10,000 games a colour of both rule sets."""
    for name, published, width in (("othello", 68.7, 2.5), ("othello-adjacent", 95.7, 1.5)):
        none = np.empty((10_000, 0), np.int16)
        score = pair_score(game(name), GREEDY, RANDOM, none, SEED)
        held = abs(100 * score.share - published) <= width
        match = f"greedy v random, {name}, 20,000 games"
        yield StrengthRow(match, str(score), share(score), f"{published} % ± {width}", held)


def alphabeta_v_greedy() -> Iterator[StrengthRow]:
    """Play depth 5 with unit weights on random openings, both colours."""
    of, pairs = game("othello"), 1_000
    openings = random_openings(of, OPENING_PLIES, pairs, SEED)
    score = pair_score(of, AgentSpec("alphabeta", depth=5), GREEDY, openings, SEED)
    held = abs(100 * score.share - 99.0) <= 1.0
    match = f"alphabeta depth 5, unit weights, v greedy, othello, {pairs:,} pairs"
    yield StrengthRow(match, str(score), share(score), "99 % ± 1", held)


def smart_v_plain() -> Iterator[StrengthRow]:
    """Play the shipped weights against the classroom's at equal nodes."""
    own = kind_of("smart").option("nodes").default
    for name, most in NODES_IN_50_MS.items():
        for nodes in (own, most):
            of = game(name)
            openings = random_openings(of, OPENING_PLIES, MOST_PAIRS, SEED)
            agents = AgentSpec("smart", nodes=nodes), AgentSpec("alphabeta", nodes=nodes)
            score, state = sprt_match(of, *agents, openings, SEED, AHEAD)
            weights = "pot difference" if name.startswith("kalah") else "unit weights"
            match = f"smart v {weights}, {name}, {nodes:,} nodes a move"
            result = f"{score}; {sprt_text(AHEAD, state)}"
            held = state.decision is Decision.ELO1
            yield StrengthRow(match, result, f"raw {share(score)}", "clearly ahead", held)


def learned_v_classic() -> Iterator[StrengthRow]:
    """Play learned tables against six tuned weights, limited by time and by nodes."""
    for found in learned_strength.play():
        match = found.match
        name = f"smart v smart_classic, {match.game}, {match.words}, {3 * match.pairs} pairs"
        result = f"{found.score}; {found.elo_words}"
        wanted = f"at least {match.elo:+.0f} Elo" if match.elo else "not worse"
        held = found.ends[1] >= match.elo if match.elo else found.ends[2] >= 0
        yield StrengthRow(name, result, share(found.score), wanted, held, learned_strength.SEED)


ROWS: Mapping[str, Callable[[], Iterator[StrengthRow]]] = {
    row.__name__: row
    for row in (
        smart_v_random,
        smart_v_policies,
        greedy_v_random,
        alphabeta_v_greedy,
        smart_v_plain,
        learned_v_classic,
    )
}


def main(words: list[str] | None = None) -> int:
    """Print the lines of a Markdown table as they finish; return 1 if a match misses its goal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strength", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(ROWS)}; all if none")
    parser.add_argument("--page", type=Path, metavar="FILE", help="only write the page for readers")
    options = parser.parse_args(words)
    if options.page:
        write_page(options.page)
        return 0
    unknown = [name for name in options.rows if name not in ROWS]
    if unknown:
        parser.error(f"there is no row {unknown[0]!r} (there are {', '.join(ROWS)})")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    held = True
    for name in options.rows or ROWS:
        for line in ROWS[name]():
            cells = (line.match, str(line.seed), line.result, line.score, line.wanted)
            print(f"| {' | '.join(cells)} | {'ok' if line.held else 'below'} |", flush=True)
            held = held and line.held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
