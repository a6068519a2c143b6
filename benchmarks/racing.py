"""Simulate races: pairs needed, wrong answers, savings: python -m benchmarks.racing."""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.planning.rounds import Participants, Tournament
from arena.planning.schedules import place, rank
from arena.planning.schedules.best import BestRace, start_best
from arena.stats.anytime import log_betting_capital

DRAWS = 0.08  # share of drawn games, smaller if one side nearly always wins
LIMIT = 10**9
DELTA = 0.05
SEED = 12
MOST_EQUAL_PLAY = 400_000  # pairs; equal play stops there without a result

Floats = NDArray[np.float64]


class RaceResults(NamedTuple):
    """The results of many races of one kind."""

    agents: int
    kind: str
    pair_counts: Floats  # of each race
    rounds: Floats
    wrong: int  # races with a wrong answer
    undecided: int

    @property
    def error(self) -> float:
        """The standard error of the mean number of pairs."""
        return float(self.pair_counts.std(ddof=1) / math.sqrt(len(self.pair_counts)))


def evenly_spaced_elo(agents: int, apart: float) -> Floats:
    """Return the Elo of agents that are `apart` Elo from each other, the strongest first."""
    return -apart * np.arange(agents)


def above_equals(agents: int, apart: float) -> Floats:
    """Return the Elo of agents of which one is `apart` Elo above the others."""
    return np.where(np.arange(agents) == 0, apart, 0.0)


RATINGS: Mapping[str, Callable[[int], Floats]] = {
    "60 apart": lambda agents: evenly_spaced_elo(agents, 60.0),
    "20 apart": lambda agents: evenly_spaced_elo(agents, 20.0),
    "one 60 above equals": lambda agents: above_equals(agents, 60.0),
}


def pair_score_probabilities(elo: Floats) -> Floats:
    """Return the probabilities of the five pair scores by agents; games are independent."""
    score = 1.0 / (1.0 + 10.0 ** ((elo[None, :] - elo[:, None]) / 400.0))
    drawn = np.minimum(DRAWS, 2.0 * np.minimum(score, 1.0 - score))
    won = score - drawn / 2.0
    lost = 1.0 - won - drawn
    parts = [lost**2, 2 * lost * drawn, drawn**2 + 2 * won * lost, 2 * won * drawn, won**2]
    return np.stack(parts, axis=-1)


def simulate_race(
    stage: Tournament, shares: Floats, rng: np.random.Generator
) -> tuple[Tournament, int]:
    """Play a race to its end with results drawn from `shares`; return it and its pairs."""
    pairs = 0
    while meetings := stage.meetings:
        points = [
            np.repeat(np.arange(5, dtype=np.int8), rng.multinomial(n, shares[a, b]))
            for a, b, n, _ in meetings
        ]
        pairs += sum(each.pairs for each in meetings)
        stage = stage.after_round(points)
    return stage, pairs


def entrants(agents: int) -> Participants:
    """Return participants without a limit."""
    return Participants([f"a{place}" for place in range(agents)], LIMIT)


def best_races(agents: int, kind: str, repetitions: int) -> RaceResults:
    """Race for the best of agents by one of the `RATINGS`, shuffled for each race."""
    return best_of_pool(kind, RATINGS[kind](agents), repetitions)


def best_of_pool(kind: str, elo: Floats, repetitions: int) -> RaceResults:
    """Race for the best of agents with these ratings."""
    pair_counts, rounds, wrong, undecided = [], [], 0, 0
    for repetition in range(repetitions):
        rng = np.random.default_rng((SEED, repetition))
        shuffled = rng.permutation(elo)
        start = start_best({"best": 1, "delta": DELTA, "indifference": 0.0}, entrants(len(elo)))
        stage, played = simulate_race(start, pair_score_probabilities(shuffled), rng)
        assert isinstance(stage, BestRace)
        pair_counts.append(played)
        rounds.append(stage.state.rounds)
        best = int(np.argmax(shuffled))
        wrong += best not in stage.remaining
        undecided += len(stage.remaining) > 1
    return RaceResults(len(elo), kind, np.array(pair_counts), np.array(rounds), wrong, undecided)


def several_races(agents: int, best: int, repetitions: int) -> RaceResults:
    """Race for the `best` strongest of agents 60 Elo apart."""
    pair_counts, rounds, wrong, elo = [], [], 0, evenly_spaced_elo(agents, 60.0)
    for repetition in range(repetitions):
        rng = np.random.default_rng((SEED, repetition))
        shuffled = rng.permutation(elo)
        start = start_best({"best": best, "delta": DELTA, "indifference": 0.0}, entrants(agents))
        stage, played = simulate_race(start, pair_score_probabilities(shuffled), rng)
        pair_counts.append(played)
        rounds.append(stage.standing.rounds)
        true = set(np.argsort(-shuffled)[:best].tolist())
        wrong += {row.agent for row in stage.standing.rows if row.state == "best"} != true
    return RaceResults(agents, f"best {best}", np.array(pair_counts), np.array(rounds), wrong, 0)


def rank_races(
    agents: int, apart: float, repetitions: int, indifference: float = 0.0
) -> RaceResults:
    """Race for the order of agents."""
    pair_counts, rounds, wrong, elo = [], [], 0, evenly_spaced_elo(agents, apart)
    for repetition in range(repetitions):
        rng = np.random.default_rng((SEED, repetition))
        shuffled = rng.permutation(elo)
        start = rank.start_ranking({"delta": DELTA, "indifference": indifference}, entrants(agents))
        stage, played = simulate_race(start, pair_score_probabilities(shuffled), rng)
        assert isinstance(stage, rank.Ranking)
        pair_counts.append(played)
        rounds.append(stage.state.rounds)
        wrong += stage.order != np.argsort(-shuffled).tolist()
    return RaceResults(agents, "order", np.array(pair_counts), np.array(rounds), wrong, 0)


def place_races(others: int, apart: float, repetitions: int) -> RaceResults:
    """Place a newcomer midway between two of the others, or as far beyond the ends."""
    pair_counts, rounds, wrong, undecided = [], [], 0, 0
    for repetition in range(repetitions):
        rng = np.random.default_rng((SEED, repetition))
        low = int(rng.integers(0, others + 1))
        elo = np.append(evenly_spaced_elo(others, apart), -apart * (low - 0.5))
        start = place.start_placement(
            {"place": f"a{others}", "order": (), "delta": DELTA, "indifference": 10.0},
            entrants(others + 1),
        )
        stage, played = simulate_race(start, pair_score_probabilities(elo), rng)
        assert isinstance(stage, place.PlacementRace)
        pair_counts.append(played)
        rounds.append(stage.state.rounds)
        level = stage.level_with is not None
        undecided += level
        wrong += level or stage.low != low
    kind = f"place, {apart:g} apart"
    return RaceResults(others, kind, np.array(pair_counts), np.array(rounds), wrong, undecided)


def equal_play(elo: Floats, repetition: int) -> float:
    """Return the pairs until the same test finds the best if all matches grow equally."""
    rng = np.random.default_rng((SEED, repetition))
    shares, agents = pair_score_probabilities(rng.permutation(elo)), len(elo)
    level = math.log((agents - 1) / DELTA)
    counts = np.zeros((agents, agents, 5), np.int64)
    above = np.zeros((agents, agents), np.bool_)
    pairs = agents * (agents - 1) // 2
    played = 0
    while played * pairs < MOST_EQUAL_PLAY:
        size = max(4, math.ceil(played / 8))
        for a in range(agents):
            for b in range(a + 1, agents):
                seen = rng.multinomial(size, shares[a, b])
                counts[a, b] += seen
                counts[b, a] += seen[::-1]
        played += size
        above |= log_betting_capital(counts, 0.5) >= level
        if np.count_nonzero(~above.any(axis=0)) <= 1:
            return float(played * pairs)
    return math.nan


def pool_pair_scores(path: Path) -> tuple[list[str], Floats]:
    """Return names and pair-score frequencies of a round robin's games.parquet."""
    frame = pd.read_parquet(path)
    names = sorted({*frame["first"], *frame["second"]})
    place = {name: at for at, name in enumerate(names)}
    counts = np.zeros((len(names), len(names), 5), np.int64)
    first = frame.iloc[0::2]
    points = 2 * (first["result"].to_numpy() + 1.0 - frame.iloc[1::2]["result"].to_numpy())
    for a, b, quarters in zip(first["first"], first["second"], points, strict=True):
        counts[place[a], place[b], int(quarters)] += 1
        counts[place[b], place[a], 4 - int(quarters)] += 1
    met = np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return names, counts / met


def pool_races(path: Path, repetitions: int) -> tuple[str, RaceResults]:
    """Race with results drawn from a real round robin; return the most frequent winner too."""
    names, shares = pool_pair_scores(path)
    pair_counts, rounds, winners = [], [], Counter[str]()
    for repetition in range(repetitions):
        rng = np.random.default_rng((SEED, repetition))
        order = rng.permutation(len(names))
        start = start_best({"best": 1, "delta": DELTA, "indifference": 0.0}, entrants(len(names)))
        stage, played = simulate_race(start, shares[np.ix_(order, order)], rng)
        assert isinstance(stage, BestRace)
        pair_counts.append(played)
        rounds.append(stage.state.rounds)
        winners[", ".join(names[order[agent]] for agent in stage.remaining)] += 1
    best, often = winners.most_common(1)[0]
    kind = "resampled games"
    wrong = repetitions - often
    row = RaceResults(len(names), kind, np.array(pair_counts), np.array(rounds), wrong, 0)
    return f"{best} in {often} of {repetitions} races", row


def row_text(each: RaceResults, equal: float = math.nan) -> str:
    """Return a row of the Markdown table."""
    high = np.percentile(each.pair_counts, 90)
    saved = "-" if math.isnan(equal) else f"{equal:,.0f}"
    wrong = f"{each.wrong} of {len(each.pair_counts):,}"
    return (
        f"| {each.agents}, {each.kind} | {each.pair_counts.mean():,.0f} ± {each.error:,.0f} | "
        f"{high:,.0f} | {each.rounds.mean():.0f} | {wrong} | {saved} |"
    )


def best_rows(repetitions: int, equal: int) -> Iterator[str]:
    """Yield races for the best by each kind of ratings, with the pairs of equal play."""
    for kind, elo_of in RATINGS.items():
        for agents in (4, 8, 16, 32):
            mean = math.nan
            if equal and kind == "60 apart":
                mean = float(np.mean([equal_play(elo_of(agents), r) for r in range(equal)]))
            yield row_text(best_races(agents, kind, repetitions), mean)


def other_rows(repetitions: int) -> Iterator[str]:
    """Yield races for the best few, for the order, and for a newcomer's place."""
    for agents, best in ((8, 2), (16, 4)):
        yield row_text(several_races(agents, best, repetitions))
    for agents in (4, 8, 16):
        yield row_text(rank_races(agents, 60.0, repetitions))
    for apart in (60.0, 120.0):
        for others in (3, 7, 15, 31):
            yield row_text(place_races(others, apart, repetitions))


HEAD = (
    "| agents | pairings of a race | 90 % need at most | rounds | wrong | equal play |",
    "|---|---|---|---|---|---|",
)


def main(words: list[str] | None = None) -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.racing", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=2000, help="races for every row (2000)")
    parser.add_argument(
        "--equal", type=int, default=10, help="repetitions of equal play (10; 0: none)"
    )
    parser.add_argument("--pool", type=Path, help="games.parquet of a round robin to resample")
    chosen = parser.parse_args(words)
    print("\n".join(HEAD), flush=True)
    if chosen.pool is not None:
        best, row = pool_races(chosen.pool, chosen.repetitions)
        print(f"{row_text(row)}\n\n{best}")
        return 0
    for line in best_rows(chosen.repetitions, chosen.equal):
        print(line, flush=True)
    for line in other_rows(chosen.repetitions):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
