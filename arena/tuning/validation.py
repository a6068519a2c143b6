"""The validation: recommended against seed weights, on held-out openings with new seeds."""

import json
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import Settings
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
from arena.tuning.claim import Score, StudyClaim, claim_of
from arena.tuning.tune_file import Tuning

TUNED, SEED = "tuned", "seed"


class StudyVerdict(StrEnum):
    """The verdict of the match on the recommended weights."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"
    FLAT = "flat"  # the seed weights are kept: there is nothing to validate


VERDICTS = {Decision.ELO1: StudyVerdict.BETTER, Decision.ELO0: StudyVerdict.NOT_BETTER}


class TermGain(NamedTuple):
    """The gain over the seed weights on some terms, from games of its own."""

    terms: str
    score: Score
    gain_elo: Score
    games: int


class Validation(NamedTuple):
    """A finished validation: verdict, Elo of the tuned weights, and the path of the test."""

    verdict: StudyVerdict
    elo: Estimate  # corrected for the stopping rule
    raw: Estimate
    games: int
    distinct_games: int
    openings: int
    text: str  # in plain words
    details: str  # how the test stands, and every estimate
    points: NDArray[np.float64]  # score of each pairing, in the order played
    llr: NDArray[np.float64]  # after each pairing
    plan: SprtPlan
    bounds: tuple[float, float]
    claim: StudyClaim | None = None  # none of the seed weights
    gains: tuple[TermGain, ...] = ()  # on other terms, each from games of its own

    @property
    def shows_gain(self) -> bool:
        """Whether the interval of the gain lies above 0; against a pool, whether the verdict is."""
        if self.elo.low is None:
            return self.verdict is StudyVerdict.BETTER
        return self.elo.low > 0.0


def unneeded(plan: SprtPlan, elo: float) -> Validation:
    """No game is played: the seed weights stay. A gain of so much `elo` could have been shown."""
    none, empty = nothing("no games"), np.empty(0)
    text = f"flat: the seed weights stay; a gain of {elo:.0f} Elo could have been shown"
    return Validation(
        StudyVerdict.FLAT, none, none, 0, 0, 0, text, "", empty, empty, plan, plan.bounds
    )  # fmt: skip


class Shown(NamedTuple):
    """How a match is played and shown."""

    directory: Path
    options: PlayOptions
    show: Callable[[Tick], None]


def validate(
    tuning: Tuning, changes: Settings, openings: Openings, claimed: int, shown: Shown
) -> Validation:
    """Play what is left of the match; the verdict with the claim.

    The claim is the first `claimed` pairings. They are played whatever the test says: a claim
    that ends with the test, or is only made of winners, would be too high.
    """
    drawn = match_of(tuning, changes, openings)
    digest = str(digest_word(in_order(changes), drawn.plan.pairs, drawn.plan.seed))
    with Journal(shown.directory / f"validation-{digest}", digest) as store:
        if store.finished() < claimed:
            first = replace(drawn.plan, pairs=claimed, stop=None)
            play(draw(first, openings), store, shown.options, shown.show)
        state = play(drawn, store, shown.options, shown.show).sprt
        games = store.games(drawn.pairings)
    assert state is not None
    claim = claim_of(tuning, [games_of_rows(games, np.arange(2 * claimed))])
    return judged(tuning.validation.plan(), state, games)._replace(claim=claim)


def judged(plan: SprtPlan, state: SprtState, games: Games) -> Validation:
    """The verdict of these games and of the test that stopped them."""
    games = games_of_rows(games, np.arange(2 * state.observations))  # the claim may have more
    points = pair_points(games) / 4.0
    tables = np.cumsum(np.eye(5, dtype=np.int64)[np.rint(4 * points).astype(int)], axis=0)
    llr = log_likelihood_ratio(tables, plan.elo0, plan.elo1, plan.model)
    raw, elo = raw_estimate(state), corrected_estimate(plan, state)
    verdict = VERDICTS.get(state.decision, StudyVerdict.UNDECIDED)
    distinct = len(np.unique(keys_of(games)))
    details = (
        f"{sprt_text(plan, state)}; raw {elo_text(raw)}, corrected {elo_text(elo)}; "
        f"{len(games):,} games, {distinct:,} distinct"
    )
    gain = elo_text(elo).replace(f" {elo.kind}", "")  # how it is corrected is a detail
    text = f"{verdict}: {plain_text(verdict, plan, gain)}, in {len(games):,} games"
    return Validation(
        verdict, elo, raw, len(games), distinct, len(np.unique(games.opening)), text, details,
        np.asarray(points, np.float64), llr, plan, (state.lower, state.upper),
    )  # fmt: skip


def plain_text(verdict: StudyVerdict, plan: SprtPlan, gain: str) -> str:
    """The verdict in plain words."""
    if verdict is StudyVerdict.BETTER:
        return f"the tuned weights beat the seed weights by {gain}"
    if verdict is StudyVerdict.NOT_BETTER:
        return f"a gain of {plan.elo1:g} Elo over the seed weights is ruled out ({gain})"
    return f"so many games cannot tell a gain of {plan.elo1:g} Elo from {plan.elo0:g} ({gain})"


def match_of(tuning: Tuning, changes: Settings, openings: Openings) -> DrawnPlan:
    """An ordinary match with a stop rule, on openings that no trial has seen."""
    plan = replace(
        tuning.plan,
        agents={TUNED: tuning.candidate.changed(**changes), SEED: tuning.spec},
        matches=((0, 1),),
        pairs=len(openings),
        seed=fresh_seed(tuning.plan.seed),
        stop=tuning.validation.plan(),
    )
    return draw(plan, openings)


def in_order(changes: Settings) -> str:
    """The changes as text, whatever the order of their names."""
    return json.dumps(changes, sort_keys=True)


def fresh_seed(seed: int) -> int:
    """The seed of the validation: agents draw other random numbers than in any trial."""
    return int(digest_word("validation", seed)) >> 1


def as_json(validation: Validation) -> dict[str, object]:
    """The verdict as JSON holds it."""
    return {
        "verdict": str(validation.verdict),
        "text": validation.text,
        "details": validation.details,
        "elo": [validation.elo.value, validation.elo.low, validation.elo.high],
        "raw_elo": [validation.raw.value, validation.raw.low, validation.raw.high],
        "games": validation.games,
        "distinct_games": validation.distinct_games,
        "openings": validation.openings,
        "bounds_elo": [validation.plan.elo0, validation.plan.elo1],
    }
