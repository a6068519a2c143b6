"""The validation: recommended against seed weights, on held-out openings with new seeds."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import Weights
from arena.concluding.repeated_games import keys_of
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan, draw
from arena.planning.openings import Openings
from arena.planning.pairing_seeds import digest_word
from arena.planning.records import Games, games_of_rows, pair_points
from arena.playing.tournament import Tick, play
from arena.playing.workers import PlayOptions
from arena.stats.estimate import Estimate, nothing
from arena.stats.gsprt import log_likelihood_ratio
from arena.stats.sprt import Decision, SprtPlan, SprtState
from arena.stats.stopped import corrected_estimate, raw_estimate
from arena.stats.words import elo_text, sprt_text
from arena.tuning.claim import StudyClaim, against_seed, claim_of
from arena.tuning.study_plan import opponents_of
from arena.tuning.trial_games import CANDIDATE, between
from arena.tuning.tune_file import Tuning

TUNED, SEED = "tuned", "seed"


class StudyVerdict(StrEnum):
    """The verdict of the match on the recommended weights."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"
    FLAT = "flat"  # the seed weights are kept: there is nothing to validate


VERDICTS = {Decision.ELO1: StudyVerdict.BETTER, Decision.ELO0: StudyVerdict.NOT_BETTER}


class Validation(NamedTuple):
    """A finished validation: verdict, Elo of the tuned weights, and the path of the test."""

    verdict: StudyVerdict
    elo: Estimate  # corrected for the stopping rule
    raw: Estimate
    games: int
    distinct_games: int
    openings: int
    text: str
    points: NDArray[np.float64]  # score of each pairing, in the order played
    llr: NDArray[np.float64]  # after each pairing
    plan: SprtPlan
    bounds: tuple[float, float]
    claim: StudyClaim | None = None  # none of the seed weights


def unneeded(plan: SprtPlan, elo: float) -> Validation:
    """No game is played: the seed weights stay. A gain of so much `elo` could have been shown."""
    none, empty = nothing("no games"), np.empty(0)
    text = f"flat: the seed weights stay; a gain of {elo:.0f} Elo could have been shown"
    return Validation(
        StudyVerdict.FLAT, none, none, 0, 0, 0, text, empty, empty, plan, plan.bounds
    )  # fmt: skip


class Shown(NamedTuple):
    """How a match is played and shown."""

    directory: Path
    options: PlayOptions
    show: Callable[[Tick], None]


def validate(
    tuning: Tuning, weights: Weights, openings: Openings, claimed: int, shown: Shown
) -> Validation:
    """Play what is left of the match; the verdict with the claim.

    The claim is the first `claimed` pairings. They are played whatever the test says: a claim
    that ends with the test, or is only made of winners, would be too high.
    """
    drawn = match_of(tuning, weights, openings)
    digest = str(digest_word(sorted(weights.items()), drawn.plan.pairs, drawn.plan.seed))
    with Journal(shown.directory / f"validation-{digest}", digest) as store:
        if store.finished() < claimed:
            first = replace(drawn.plan, pairs=claimed, stop=None)
            play(draw(first, openings), store, shown.options, shown.show)
        state = play(drawn, store, shown.options, shown.show).sprt
        games = store.games(drawn.pairings)
    assert state is not None
    claim = [games_of_rows(games, np.arange(2 * claimed))]
    if not against_seed(tuning):
        claim = against_pool(tuning, weights, openings, claimed, shown)
    return judged(tuning.validation.plan(), state, games)._replace(claim=claim_of(tuning, claim))


def against_pool(
    tuning: Tuning, weights: Weights, openings: Openings, pairs: int, shown: Shown
) -> list[Games]:
    """The games of the claim where the file names opponents: a match with each, by its share."""
    games, first = list[Games](), 0
    for opponent in opponents_of(tuning, 2 * pairs):
        plan = replace(
            match_of(tuning, weights, openings).plan,
            agents={CANDIDATE: tuning.spec.changed(weights=weights), opponent.name: opponent.spec},
            pairs=opponent.pairs,
            stop=None,
        )
        drawn = draw(plan, between(openings, first, first + opponent.pairs))
        digest = str(digest_word(sorted(weights.items()), opponent.name, plan.pairs, plan.seed))
        with Journal(shown.directory / f"claim-{digest}", digest) as store:
            play(drawn, store, shown.options, shown.show)
            games.append(store.games(drawn.pairings))
        first += opponent.pairs
    return games


def judged(plan: SprtPlan, state: SprtState, games: Games) -> Validation:
    """The verdict of these games and of the test that stopped them."""
    games = games_of_rows(games, np.arange(2 * state.observations))  # the claim may have more
    points = pair_points(games) / 4.0
    tables = np.cumsum(np.eye(5, dtype=np.int64)[np.rint(4 * points).astype(int)], axis=0)
    llr = log_likelihood_ratio(tables, plan.elo0, plan.elo1, plan.model)
    raw, elo = raw_estimate(state), corrected_estimate(plan, state)
    verdict = VERDICTS.get(state.decision, StudyVerdict.UNDECIDED)
    distinct = len(np.unique(keys_of(games)))
    text = (
        f"{verdict}: {sprt_text(plan, state)}; raw {elo_text(raw)}, corrected {elo_text(elo)}; "
        f"{len(games):,} games, {distinct:,} distinct"
    )
    return Validation(
        verdict, elo, raw, len(games), distinct, len(np.unique(games.opening)), text,
        np.asarray(points, np.float64), llr, plan, (state.lower, state.upper),
    )  # fmt: skip


def match_of(tuning: Tuning, weights: Weights, openings: Openings) -> DrawnPlan:
    """An ordinary match with a stop rule, on openings that no trial has seen."""
    plan = replace(
        tuning.plan,
        agents={TUNED: tuning.spec.changed(weights=weights), SEED: tuning.spec},
        matches=((0, 1),),
        pairs=len(openings),
        seed=fresh_seed(tuning.plan.seed),
        stop=tuning.validation.plan(),
    )
    return draw(plan, openings)


def fresh_seed(seed: int) -> int:
    """The seed of the validation: agents draw other random numbers than in any trial."""
    return int(digest_word("validation", seed)) >> 1


def as_json(validation: Validation) -> dict[str, object]:
    """The verdict as JSON holds it."""
    return {
        "verdict": str(validation.verdict),
        "text": validation.text,
        "elo": [validation.elo.value, validation.elo.low, validation.elo.high],
        "raw_elo": [validation.raw.value, validation.raw.low, validation.raw.high],
        "games": validation.games,
        "distinct_games": validation.distinct_games,
        "openings": validation.openings,
        "bounds_elo": [validation.plan.elo0, validation.plan.elo1],
    }
