"""Measure stop rules on simulated and real pairs: python -m benchmarks.stop_rules.

A run of the rule `width` is compared with a fixed-size run that knew the answer: the fewest pairs
whose usual 95 % interval is expected to have the width. The real rows draw pairs from matches of
built-in agents; their true Elo is that of all pairs of the match. The output is two tables of the
docs.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.stats.elo import elo_from_score, score_from_elo
from arena.stats.sample_size import forecast_score
from arena.stats.spread import QUARTERS, spread
from arena.stats.sprt import Decision, SprtPlan
from arena.stats.stopping import (
    StopPlan,
    WidthPlan,
    half_width,
    start_stop,
    update_stop,
    width_score,
)
from pitflip.api import match

RUNS = 2_000
TEST_SHARE = 4  # of tests that many times fewer runs are simulated
SEED = 11
ENOUGH = 3  # times the pairs of the fixed-size run
REAL_PAIRS = 3_000
Floats = NDArray[np.float64]
# Share of draws between equals, share of pairs that the first mover wins twice, and share of pairs
# with one winner.
PAIRS: Mapping[str, tuple[float, float, float]] = {
    "no draws": (0.0, 0.0, 0.0),
    "30 % draws": (0.3, 0.0, 0.0),
    "60 % draws": (0.6, 0.0, 0.0),
    "10 % draws, first movers win 40 % of pairs": (0.1, 0.4, 0.0),
    "10 % draws, one winner in 40 % of pairs": (0.1, 0.0, 0.4),
}
WIDTH_HEAD = (
    "| pairs | true Elo | width | fixed | pairs played | ratio | misses % | at any look % |\n"
    "|---|---|---|---|---|---|---|---|"
)
GIVE_UP_HEAD = (
    "| rule | at most | true Elo | ends % | gives up % | wrongly % | after |\n"
    "|---|---|---|---|---|---|---|"
)
REAL = (
    ("random", "greedy", 50.0),
    ("random", "minimax:depth=2", 60.0),
    ("greedy", "minimax:depth=1", 25.0),
    ("minimax:depth=2", "minimax:depth=3", 25.0),
)


class WidthRow(NamedTuple):
    """Runs with the rule `width`, and the share of them that missed the truth."""

    fixed: int
    pairs: float
    misses: float
    ever_missed: float

    @property
    def ratio(self) -> float:
        """Return the games relative to the fixed-size run."""
        return self.pairs / self.fixed


class GiveUpRow(NamedTuple):
    """Shares of runs that end by their rule, give up, and give up although they would end."""

    ends: float
    gives_up: float
    wrongly: float
    pairs: float  # mean of the runs that give up


def pair_law(elo: float, draws: float, first_mover: float, one_winner: float) -> Floats:
    """Return the shares of the five pair scores at a true Elo."""
    score = score_from_elo(elo)
    apart = 1.0 - first_mover - one_winner
    own = (score * (1.0 - one_winner) - 0.5 * first_mover) / apart  # in independent pairs
    drawn = draws * 4.0 * own * (1.0 - own)
    game = np.array([1.0 - own - drawn / 2, drawn, own - drawn / 2])
    law = apart * np.convolve(game, game)
    return np.asarray(
        law + np.array([one_winner * (1.0 - score), 0.0, first_mover, 0.0, one_winner * score])
    )


def fixed_size(law: Floats, width: float) -> int:
    """Return the fewest pairs whose interval is expected to have the width."""

    def suffices(pairs: int) -> bool:
        half = half_width(forecast_score(tuple(law), pairs))
        return half is not None and half <= width

    high = 2
    while not suffices(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def width_row(law: Floats, width: float, runs: int) -> WidthRow:
    """Simulate runs with the rule `width`."""
    rng, plan, fixed = np.random.default_rng(SEED), WidthPlan(width), fixed_size(law, width)
    truth, pairs, misses, ever = float(law @ np.array(QUARTERS)), 0, 0, 0
    for _ in range(runs):
        scores = rng.choice(QUARTERS, ENOUGH * fixed + 50, p=law)
        state = update_stop(plan, start_stop(plan), scores)
        assert state.decision is Decision.WIDTH
        size = state.observations
        known = width_score(plan, spread(np.arange(size), scores[:size]))
        assert known.value is not None
        low, high = known.low or 0.0, 1.0 if known.high is None else known.high
        errors = np.cumsum(scores[:size] - truth) / size
        pairs += size
        misses += not low <= truth <= high
        ever += bool((errors > known.value - low).any() or (errors < known.value - high).any())
    return WidthRow(fixed, pairs / runs, misses / runs, ever / runs)


def give_up_row(plan: StopPlan, law: Floats, most: int, runs: int) -> GiveUpRow:
    """Simulate runs of at most `most` pairs; those that give up are also played to their end."""
    rng = np.random.default_rng(SEED)
    ends, wrongly, sizes = 0, 0, list[int]()
    for _ in range(runs):
        scores = rng.choice(QUARTERS, most, p=law)
        state = update_stop(plan, start_stop(plan), scores, most)
        if state.decision is not Decision.GAVE_UP:
            ends += state.is_finished
            continue
        sizes.append(state.observations)
        wrongly += update_stop(plan, start_stop(plan), scores).is_finished
    mean = float(np.mean(sizes)) if sizes else float("nan")
    return GiveUpRow(ends / runs, len(sizes) / runs, wrongly / runs, mean)


def real_laws() -> Iterator[tuple[str, float, Floats]]:
    """Play matches of built-in agents; yield their names, a width and the shares of pair scores."""
    with tempfile.TemporaryDirectory() as results:
        for first, second, width in REAL:
            games = match(
                first, second, pairs=REAL_PAIRS, openings={"random_plies": 8}, results=results
            ).games
            points = (games.result[0::2].to_numpy() + 1.0 - games.result[1::2].to_numpy()) * 2.0
            counts = np.bincount(np.rint(points).astype(np.int64), minlength=5)
            yield f"{first} against {second}", width, counts / counts.sum()


def width_text(name: str, law: Floats, width: float, runs: int) -> str:
    """Return a row of the first table."""
    row, elo = width_row(law, width, runs), elo_from_score(float(law @ np.array(QUARTERS)))
    cells = (
        name, f"{elo:+.0f}" if round(elo) else "0", f"± {width:g}", f"{row.fixed:,}",
        f"{row.pairs:,.0f}", f"{row.ratio:.2f}", f"{100 * row.misses:.1f}",
        f"{100 * row.ever_missed:.1f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def width_rows(runs: int) -> Iterator[str]:
    """Yield the rows of the rule `width`."""
    for name, kind in PAIRS.items():
        for elo in (0.0, 50.0, 200.0):
            yield width_text(name, pair_law(elo, *kind), 20.0, runs)
    for width in (10.0, 50.0, 100.0):
        yield width_text("30 % draws", pair_law(50.0, *PAIRS["30 % draws"]), width, runs)
    for name, width, law in real_laws():
        yield width_text(f"Kalah: {name}", law, width, runs)


def give_up_rows(runs: int) -> Iterator[str]:
    """Yield the rows about giving up."""
    kind = PAIRS["30 % draws"]
    tests: Sequence[tuple[SprtPlan, int]] = ((SprtPlan(0.0, 20.0), 200), (SprtPlan(0.0, 10.0), 800))
    for test, most in tests:
        for elo in (-20.0, 0.0, test.elo1, 40.0, 60.0):
            row = give_up_row(test, pair_law(elo, *kind), most, runs // TEST_SHARE)
            name = f"sprt [{test.elo0:g}, {test.elo1:g}], 30 % draws"
            yield give_up_text(name, most, elo, row)
    for name in ("30 % draws", "10 % draws, first movers win 40 % of pairs"):
        law, plan = pair_law(0.0, *PAIRS[name]), WidthPlan(20.0)
        needed = 1.31 * fixed_size(law, 20.0)
        for share in (0.1, 0.8, 0.9, 1.0, 1.1):
            row = give_up_row(plan, law, round(share * needed), runs)
            yield give_up_text(f"width 20, {name}", round(share * needed), 0.0, row)


def give_up_text(rule: str, most: int, elo: float, row: GiveUpRow) -> str:
    """Return a row of the second table."""
    after = "" if np.isnan(row.pairs) else f"{row.pairs:,.0f}"
    shares = (f"{100 * share:.1f}" for share in row[:3])
    return f"| {' | '.join([rule, f'{most:,}', f'{elo:+g}' if elo else '0', *shares, after])} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stop_rules", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"number of runs per row ({RUNS})")
    runs = parser.parse_args().runs
    for head, rows in ((WIDTH_HEAD, width_rows), (GIVE_UP_HEAD, give_up_rows)):
        print(head)
        for text in rows(runs):
            print(text, flush=True)
        print()


if __name__ == "__main__":
    main()
