"""The validation against a pool: recommended and seed weights play the opponents of the study."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec
from arena.concluding.repeated_games import keys_of
from arena.keeping.journal import Journal
from arena.planning.drawing import draw
from arena.planning.openings import Openings
from arena.planning.pairing_seeds import digest_word
from arena.planning.records import Games, games_of_rows, joined, pair_points
from arena.playing.tournament import play
from arena.stats.elo import score_from_elo
from arena.stats.estimate import nothing
from arena.tuning.claim import Score, claim_of, scored
from arena.tuning.study_plan import opponents_of
from arena.tuning.trial_games import CANDIDATE, between
from arena.tuning.tune_file import Tuning
from arena.tuning.validation import Shown, StudyVerdict, Validation, in_order, match_of

AGAINST_POOL = "a pool has no Elo"


class PoolGames(NamedTuple):
    """The games of one agent against each opponent, a match each, on openings of its own."""

    matches: list[Games]

    @property
    def points(self) -> NDArray[np.float64]:
        """The score of every pairing."""
        return np.concatenate([pair_points(each) / 4.0 for each in self.matches])

    def first(self, pairs: list[int]) -> list[Games]:
        """The first pairings of each match."""
        each = zip(self.matches, pairs, strict=True)
        return [games_of_rows(games, np.arange(2 * count)) for games, count in each]


def validate_pool(
    tuning: Tuning, changes: dict[str, object], openings: Openings, claimed: int, shown: Shown
) -> Validation:
    """Play what is left of both agents' matches; the verdict on their difference.

    They are played to the end, so the interval is that of a number of games fixed beforehand. The
    claim is the first games of the tuned one.
    """
    tuned = pool_games(tuning, tuning.candidate.changed(**changes), openings, shown)
    seed = pool_games(tuning, tuning.spec, openings, shown)
    pairs = [each.pairs for each in opponents_of(tuning, 2 * claimed)]
    most = [len(games) // 2 for games in tuned.matches]
    claim = claim_of(tuning, tuned.first(list(map(min, pairs, most))))
    return compared(tuning, tuned, seed)._replace(claim=claim)


def pool_games(tuning: Tuning, spec: AgentSpec, openings: Openings, shown: Shown) -> PoolGames:
    """The games of an agent with each opponent, by its share of the openings."""
    games, first = list[Games](), 0
    for opponent in opponents_of(tuning, 2 * len(openings)):
        begin = min(first, len(openings) - 1)  # each has one, where shares are tiny
        own = between(openings, begin, min(first + opponent.pairs, len(openings)))
        plan = replace(
            match_of(tuning, {}, openings).plan,
            agents={CANDIDATE: spec, opponent.name: opponent.spec},
            pairs=len(own),
            stop=None,
        )
        drawn = draw(plan, own)
        digest = str(digest_word(in_order(spec.to_json()), opponent.name, plan.pairs, plan.seed))
        with Journal(shown.directory / f"pool-{digest}", digest) as store:
            play(drawn, store, shown.options, shown.show)
            games.append(store.games(drawn.pairings))
        first += opponent.pairs
    return PoolGames(games)


def compared(tuning: Tuning, tuned: PoolGames, seed: PoolGames) -> Validation:
    """The verdict on the scores of both on the same openings against the same opponents."""
    plan, none = tuning.validation.plan(), nothing(AGAINST_POOL)
    halves = 0.5 + (tuned.points - seed.points) / 2.0
    gain = Score(*(2.0 * each - 1.0 for each in scored(np.arange(len(halves)), halves)))
    verdict = verdict_of(gain, score_from_elo(plan.elo0) - 0.5, score_from_elo(plan.elo1) - 0.5)
    both = joined([*tuned.matches, *seed.matches])
    text = (
        f"{verdict}: the tuned weights score {points_text(tuned.points)} against the pool, the "
        f"seed weights {points_text(seed.points)}, in {len(both):,} games"
    )
    details = "difference in points {:+.1f} [{:+.1f}, {:+.1f}]".format(
        *(100 * each for each in gain)
    )
    return Validation(
        verdict, none, none, len(both), len(np.unique(keys_of(both))), len(halves), text, details,
        halves, np.full(len(halves), np.nan), plan, plan.bounds,
    )  # fmt: skip


def verdict_of(gain: Score, little: float, enough: float) -> StudyVerdict:
    """Whether the interval of the gain lies above what is too little, or below what is enough."""
    if gain.low > little:
        return StudyVerdict.BETTER
    return StudyVerdict.NOT_BETTER if gain.high < enough else StudyVerdict.UNDECIDED


def points_text(points: NDArray[np.float64]) -> str:
    """The mean of pair scores in per cent."""
    return f"{100 * points.mean():.1f} %"
