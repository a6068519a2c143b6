"""The validation: recommended against seed weights, on held-out openings with new seeds."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.concluding.evidence import keys_of
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan, draw
from arena.planning.openings import Openings
from arena.planning.pairing_seeds import digest_word
from arena.planning.records import Games, pair_points
from arena.playing.tournament import Tick, play
from arena.playing.workers import PlayOptions
from arena.stats.estimate import Estimate, nothing
from arena.stats.gsprt import log_likelihood_ratio
from arena.stats.sprt import Decision, SprtPlan, SprtState
from arena.stats.stopped import corrected_estimate, raw_estimate
from arena.stats.words import elo_text, sprt_text
from arena.tuning.tune_file import Tuning

TUNED, SEED = "tuned", "seed"
FLAT = "flat: the seed weights are kept, there is nothing to validate"


class StudyVerdict(StrEnum):
    """The verdict of the match on the recommended weights."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


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


def unneeded(plan: SprtPlan) -> Validation:
    """The validation of the seed weights against themselves: no game is played."""
    none, empty = nothing("no games"), np.empty(0)
    return Validation(
        StudyVerdict.NOT_BETTER, none, none, 0, 0, 0, FLAT, empty, empty, plan, plan.bounds
    )


def validate(
    tuning: Tuning,
    weights: dict[str, tuple[float, ...]],
    openings: Openings,
    directory: Path,
    options: PlayOptions,
    show: Callable[[Tick], None],
) -> Validation:
    """Play what is left of the match; the verdict."""
    drawn = match_of(tuning, weights, openings)
    digest = str(digest_word(sorted(weights.items()), drawn.plan.pairs, drawn.plan.seed))
    with Journal(directory / f"validation-{digest}", digest) as store:
        state = play(drawn, store, options, show).sprt
        games = store.games(drawn.pairings)
    assert state is not None
    return judged(tuning.validation.plan(), state, games)


def judged(plan: SprtPlan, state: SprtState, games: Games) -> Validation:
    """The verdict of these games and of the test that stopped them."""
    points = pair_points(games)[: state.observations] / 4.0
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


def match_of(
    tuning: Tuning, weights: dict[str, tuple[float, ...]], openings: Openings
) -> DrawnPlan:
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
