"""Measure the gain of learned weights over the tuned ones: rows of `benchmarks.strength`."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from agents.core import AgentSpec
from arena.stats.elo import elo_from_score
from benchmarks.matches import Score, pair_score, random_openings
from games import game

SEED = 30_000  # of openings not used in learning; they are also shorter than those
PLIES = (6, 8, 9)


class LearnedMatch(NamedTuple):
    """A match of `smart` against `smart_classic` and the Elo difference that it must reach."""

    game: str
    limit: dict[str, float]
    pairs: int  # of each length of openings
    elo: float

    @property
    def words(self) -> str:
        """The limit as the table shows it."""
        if "seconds" in self.limit:
            return f"{1000 * self.limit['seconds']:g} ms a move"
        return f"{self.limit['nodes']:,} nodes a move"


MATCHES = (
    LearnedMatch("othello", {"seconds": 0.001}, 60, 350),
    LearnedMatch("othello", {"nodes": 2_000}, 80, 350),
    LearnedMatch("othello", {"nodes": 20_000}, 30, 350),
    LearnedMatch("othello(6)", {"nodes": 1_000}, 100, 100),
    LearnedMatch("kalah(6,4)", {"nodes": 1_000}, 250, 140),
    LearnedMatch("kalah(6,4)", {"nodes": 20_000}, 250, 90),
    LearnedMatch("owari", {"nodes": 1_000}, 150, 50),
    LearnedMatch("owari", {"nodes": 20_000}, 50, 50),
    LearnedMatch("kalah(6,6)", {"nodes": 1_000}, 120, 0),
    LearnedMatch("kalah(6,6)", {"nodes": 20_000}, 30, 0),
    LearnedMatch("kalah(4,4)", {"nodes": 1_000}, 150, 0),
    LearnedMatch("kalah(4,4)", {"nodes": 20_000}, 50, 0),
)


class LearnedScore(NamedTuple):
    """The result of a match."""

    match: LearnedMatch
    score: Score

    @property
    def ends(self) -> tuple[float, float, float]:
        """The low end, value and high end of the Elo difference, a 95 % interval."""
        width = 1.96 * self.score.error
        shares = (self.score.share - width, self.score.share, self.score.share + width)
        low, value, high = (elo_from_score(min(max(each, 0.001), 0.999)) for each in shares)
        return low, value, high

    @property
    def elo_words(self) -> str:
        """The Elo difference and its interval as text."""
        low, value, high = self.ends
        return f"{value:+.0f} [{low:+.0f}, {high:+.0f}] Elo"


def play() -> Iterator[LearnedScore]:
    """Play every match and yield its result."""
    for match in MATCHES:
        agents = [AgentSpec(kind, **match.limit) for kind in ("smart", "smart_classic")]
        yield LearnedScore(match, play_match_by_lengths(match, agents[0], agents[1], SEED))


def play_match_by_lengths(
    match: LearnedMatch, one: AgentSpec, other: AgentSpec, seed: int
) -> Score:
    """Return the score of `one`; equal shares of its openings have 6, 8 and 9 random plies."""
    of, scores = game(match.game), []
    for plies in PLIES:
        openings = random_openings(of, plies, match.pairs, seed + plies)
        scores.append(pair_score(of, one, other, openings, seed + plies))
    return pool_scores(scores)


def pool_scores(scores: list[Score]) -> Score:
    """Combine scores of equal numbers of pairs into one."""
    counts = np.array([[each.wins, each.draws, each.losses] for each in scores]).sum(axis=0)
    error = float(np.sqrt(np.square([each.error for each in scores]).sum())) / len(scores)
    return scores[0]._replace(
        **dict(zip(("wins", "draws", "losses"), map(int, counts), strict=True)), error=error
    )
