"""Measure the coverage and width of intervals: python -m benchmarks.calibration.

The results are drawn from known distributions and from real games: a round robin of twelve Kalah
agents on shared openings, deterministic and with random moves. The true score is the mean of the
distribution, or of all games it is drawn from. `width` is relative to that of an interval with
known standard deviation, 3.92 SD. The output is the table of the docs.
"""

import argparse
import contextlib
import io
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arena.commands.registry import run_verb
from arena.stats.anytime import (
    anytime_estimate,
    anytime_estimate_these,
    start_anytime,
    update_anytime,
)
from arena.stats.intervals import estimate_from_spread, has_interval, lower_bound
from arena.stats.rating_data import RatingData, rating_data
from arena.stats.ratings import RatingPlan, rate
from arena.stats.spread import spread, spread_fixed_openings
from arena.storage.parquet import read_columns

LEVELS = (0.95, 0.99)
RUNS, RATING_RUNS, LIVE_RUNS = 1_000, 100, 200
HEAD = "| what | score | K x n | covers | width | false pass 5 % | 1 % | missed at any look |"
SCORES = (0.5, 0.75, 0.9, 0.97, 0.99, 0.999)
DESIGNS = ((4, 1), (12, 1), (20, 1), (50, 1), (200, 1), (2000, 1))
NOISY_DESIGNS = ((4, 100), (12, 20), (20, 50), (50, 20))
THESE_DESIGNS = ((1, 200), (4, 50), (50, 20))
# Two of three openings have a tenth of the repeats, as in a run that was stopped early.
UNEQUAL = (24, 20)
DRAWS = 0.05
Draw = Callable[[np.random.Generator], tuple[np.ndarray, float, float]]
AGENTS = (
    *((f"plies{depth}", f'kind = "alphabeta"\ndepth = {depth}') for depth in range(1, 6)),
    *(
        (f"pots{depth}", f'kind = "alphabeta"\ndepth = {depth}\nweights = {{ pot = 1 }}')
        for depth in (1, 2, 3, 4)
    ),
    *((name, f'kind = "{name}"') for name in ("greedy", "first", "last")),
)


class Row(NamedTuple):
    """One distribution and sample size with the observed behaviour of its intervals."""

    what: str
    score: float
    size: str
    covers: float
    width: float
    passes: tuple[float, float]
    missed: float | None


def beta_distribution(score: float, size: tuple[int, int], shape: float) -> Draw:
    """Draw games with strengths Beta(shape s, shape (1 - s)) by opening and 5 % draws."""
    openings, repeats = size

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
        strength = rng.beta(shape * score, shape * (1.0 - score), size=(openings, 1, 1))
        draws = np.minimum(DRAWS, 2.0 * np.minimum(strength, 1.0 - strength))
        chance = rng.random((openings, repeats, 2))
        games = 1.0 * (chance < strength - draws / 2) + 0.5 * (
            np.abs(chance - strength) <= draws / 2
        )
        return games.mean(axis=2), score, float(strength.mean())

    return draw


def pool_distribution(pool: np.ndarray, size: tuple[int, int]) -> Draw:
    """Draw runs from real pair scores, by opening and repeat."""
    openings, repeats = size

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, float, float]:
        rows = rng.integers(len(pool), size=openings)
        columns = rng.integers(pool.shape[1], size=(openings, repeats))
        return pool[rows[:, None], columns], float(pool.mean()), float(pool[rows].mean())

    return draw


def covers(low: float | None, high: float | None, truth: float) -> bool:
    """Return whether an interval contains the true value."""
    return (low is None or low <= truth) and (high is None or truth <= high)


def row_of(
    what: str,
    size: tuple[int, int],
    draw: Draw,
    runs: int,
    *,
    these: bool = False,
    unequal: bool = False,
) -> Row:
    """Draw runs and count how often their intervals cover the true score."""
    rng = np.random.default_rng((7, *size, runs, these))
    kept = np.full(size, True)
    if unequal:
        kept[np.arange(size[0]) % 3 > 0, size[1] // 10 :] = False
    names = np.nonzero(kept)[0]
    held, widths, errors, passes, truths = 0, [], [], np.zeros(2), []
    for _ in range(runs):
        scores, like, exactly = draw(rng)
        truth, scores = exactly if these else like, scores[kept]
        found = (spread_fixed_openings if these else spread)(names, scores)
        assert found is not None
        estimate = estimate_from_spread(found)
        held += covers(estimate.low, estimate.high, truth)
        high = 1.0 if estimate.high is None else estimate.high
        widths.append(high - (estimate.low or 0.0))
        errors.append(scores.mean() - truth)
        truths.append(truth)
        if has_interval(found):
            passes += [lower_bound(found, level) > truth for level in LEVELS]
    width = float(np.mean(widths)) / (3.92 * float(np.std(errors)) or 1.0)
    missed = None if unequal else _miss_rate(draw, min(runs, LIVE_RUNS), size, these)
    share = passes / runs
    sizes = f"{size[1] // 10} or {size[1]}" if unequal else size[1]
    return Row(
        what, float(np.mean(truths)), f"{size[0]} x {sizes}", held / runs, width,
        (float(share[0]), float(share[1])), missed,
    )  # fmt: skip


def _miss_rate(draw: Draw, runs: int, size: tuple[int, int], these: bool) -> float:
    """Return the share of runs in which the live interval is wrong at some look."""
    rng = np.random.default_rng((8, *size))
    total = size[0] * size[1]
    looks = sorted(
        {*np.geomspace(3, total, 12).astype(int).tolist(), *range(0, total, size[0])} - {0}
    )
    wrong = 0
    for _ in range(runs):
        scores, like, exactly = draw(rng)
        state, at = start_anytime(size[0], again=size[1] > 1), 0
        values = scores.T.ravel()
        for look in looks[:: max(1, len(looks) // 24)]:
            state, at = update_anytime(state, values[at:look]), look
            found = anytime_estimate_these(state) if these else anytime_estimate(state)
            if found is not None and not covers(found.low, found.high, exactly if these else like):
                wrong += 1
                break
    return wrong / runs


def score_rows(runs: int) -> Iterator[Row]:
    """Yield the rows of known distributions: deterministic, noisy, and fixed openings."""
    for score in SCORES:
        for size in DESIGNS:
            if size[0] * (1.0 - score) >= 0.5:
                yield row_of("own, like these", size, beta_distribution(score, size, 4.0), runs)
    for score in (0.5, 0.8, 0.97):
        for size in NOISY_DESIGNS:
            yield row_of("own, noisy, like these", size, beta_distribution(score, size, 30.0), runs)
        draw = beta_distribution(score, UNEQUAL, 30.0)
        yield row_of("own, noisy, like these", UNEQUAL, draw, runs, unequal=True)
        for size in THESE_DESIGNS:
            draw = beta_distribution(score, size, 30.0)
            yield row_of("own, noisy, exactly these", size, draw, runs, these=True)


def experiment(pairs: int, ways: str, chance: str) -> str:
    """Return the text of a round robin of twelve Kalah agents."""
    tables = [f"[agents.{name}]\n{text}\n{chance * ('alpha' in text)}" for name, text in AGENTS]
    head = f'game = "kalah(6,4)"\npairs = {pairs}\nseed = 12\nkeep_moves = false\n'
    return f"{head}openings = {{ {ways} }}\n" + "\n".join(tables)


def round_robin_games(pairs: int, ways: str, chance: str = "") -> dict[str, np.ndarray]:
    """Play that round robin and return the columns of its games."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()):
        path = Path(scratch) / "pool.toml"
        path.write_text(experiment(pairs, ways, chance))
        run_verb("run", [str(path), "--results", scratch, "--quiet"])
        (table,) = Path(scratch).glob("pool/*/games.parquet")
        return read_columns(table, ("first", "second", "result", "opening"))


def pair_scores_by_match(games: dict[str, np.ndarray]) -> dict[tuple[str, str], np.ndarray]:
    """Return pair scores by opening and repeat for each match, from the stronger side."""
    first, second, result, opening = (
        games[name][0::2] for name in ("first", "second", "result", "opening")
    )
    scores = (result + 1.0 - games["result"][1::2]) / 2.0
    found = {}
    for one, other in sorted(set(zip(first.tolist(), second.tolist(), strict=True))):
        own = np.flatnonzero((first == one) & (second == other))
        own = own[np.argsort(opening[own], kind="stable")]
        repeats = np.unique(opening[own], return_counts=True)[1].min()
        pool = np.stack(
            [scores[own][opening[own] == each][:repeats] for each in np.unique(opening[own])]
        )
        found[one, other] = pool if pool.mean() >= 0.5 else 1.0 - pool
    return found


def real_rows(
    runs: int, games: dict[str, np.ndarray], noisy: dict[str, np.ndarray]
) -> Iterator[Row]:
    """Yield the rows of runs drawn from real games, at scores close to `SCORES`."""
    for pools, what, designs in (
        (pair_scores_by_match(games), "Kalah, like these", DESIGNS[1:5]),
        (pair_scores_by_match(noisy), "Kalah, noisy, like these", ((12, 20), (20, 25))),
    ):
        # Equal agents split every opening, which leaves no variance to estimate.
        means = {pair: float(pool.mean()) for pair, pool in pools.items() if pool.std() > 0.05}
        near = [min(means, key=lambda each: abs(means[each] - score)) for score in SCORES[:4]]
        for pair in dict.fromkeys(near):
            for size in designs:
                yield row_of(what, size, pool_distribution(pools[pair], size), runs)
            if "noisy" in what:
                draw = pool_distribution(pools[pair], UNEQUAL)
                yield row_of(what, UNEQUAL, draw, runs, unequal=True)
    for size in ((1, 200), (12, 20)):
        pools = pair_scores_by_match(noisy)
        pair = min(pools, key=lambda each: abs(float(pools[each].mean()) - 0.75))
        draw = pool_distribution(pools[pair], size)
        yield row_of("Kalah, noisy, exactly these", size, draw, runs, these=True)


def rating_rows(runs: int, games: dict[str, np.ndarray]) -> Iterator[Row]:
    """Yield rows of ratings from openings drawn from real games; the truth is the full fit."""
    names = sorted(set(games["first"].tolist()))
    first, second = (np.searchsorted(names, games[seat].tolist()) for seat in ("first", "second"))
    whole = rating_data(first, second, games["result"], games["opening"], len(names))
    truth = rate(whole, RatingPlan(draws=0)).groups[0].fit.ratings[0]
    by_opening = [np.flatnonzero(games["opening"] == each) for each in range(whole.openings)]
    for openings in (12, 50, 200):
        rng = np.random.default_rng((9, openings))
        held, widths, errors = [], [], []
        for run in range(runs):
            drawn = rng.integers(whole.openings, size=openings)
            rows = np.concatenate([by_opening[each] for each in drawn])
            number = np.repeat(np.arange(openings), [len(by_opening[each]) for each in drawn])
            results: RatingData = rating_data(
                first[rows], second[rows], games["result"][rows], number, len(names)
            )
            found = rate(results, RatingPlan(seed=run))
            if len(found.groups) > 1:
                continue
            for row in found.agents:
                held.append(covers(row.rating.low, row.rating.high, truth[row.agent]))
                widths.append((row.rating.high or 0.0) - (row.rating.low or 0.0))
            errors.append(found.groups[0].fit.ratings[0] - truth)
        deviation = float(np.mean(np.std(np.array(errors), axis=0)))
        yield Row(
            "Kalah, ratings of 12", 0.5, f"{openings} x 1", float(np.mean(held)),
            float(np.mean(widths)) / (3.92 * deviation), (float("nan"), float("nan")), None,
        )  # fmt: skip


def row_text(row: Row) -> str:
    """Return a row of the Markdown table."""
    passes = [f"{100 * share:.1f}" if not np.isnan(share) else "" for share in row.passes]
    missed = "" if row.missed is None else f"{100 * row.missed:.1f}"
    score = f"{100 * row.score:.1f}"
    cells = [row.what, score, row.size, f"{100 * row.covers:.1f}", f"{row.width:.2f}"]
    return f"| {' | '.join([*cells, *passes, missed])} |"


def rows(runs: int) -> Iterable[Row]:
    """Yield all rows of the table."""
    yield from score_rows(runs)
    games = round_robin_games(400, "random_plies = 6")
    noisy = round_robin_games(750, "enumerate = 2, repeat = true", "epsilon = 0.15\n")
    yield from real_rows(runs, games, noisy)
    yield from rating_rows(max(20, runs * RATING_RUNS // RUNS), games)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"number of runs per row ({RUNS})")
    runs = parser.parse_args().runs
    print(HEAD)
    print("|" + "---|" * 8)
    for row in rows(runs):
        print(row_text(row), flush=True)


if __name__ == "__main__":
    main()
