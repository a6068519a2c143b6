"""The deciding match and the claim."""

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec, Options
from agents.sandbox.sandbox import Sandbox
from arena.analysis.duplicates import count_distinct
from arena.planning.games import PAIR_POINTS, Games, concat_games, pair_points, take_games
from arena.planning.openings.openings import Openings
from arena.planning.plan import Plan
from arena.planning.seeds import hash64
from arena.playing.match import MatchResult, play_match
from arena.playing.options import PlayOptions
from arena.stats.elo import elo_from_score, score_from_elo
from arena.stats.estimate import Estimate, no_estimate
from arena.stats.intervals import score_estimate
from arena.stats.sprt import Decision, SprtPlan
from arena.stats.text import elo_text, percent_text, signed_text, sprt_text
from arena.storage.journal import RunDirectory
from arena.tuning.budget import opponents_of
from arena.tuning.equal_time import equal_time_node_ratio, is_limited_by_nodes
from arena.tuning.study_config import StudyConfig, against_seed
from arena.tuning.table import TIME
from arena.tuning.trial_games import CANDIDATE, slice_openings
from arena.tuning.trials import Trial
from games.base.progress import ShowProgress

# Standard errors of a gain that a claim shows in four studies of five (1.96 + 0.84).
SHOWN = 2.8
TUNED, SEED = "tuned", "seed"
Points = NDArray[np.float64]
AGAINST_POOL = "a pool has no Elo"


class ScoreInterval(NamedTuple):
    """An expected score, or a difference of two, with its 95 % interval."""

    value: float
    low: float
    high: float


class StudyClaim(NamedTuple):
    """The expected score against the opponents of the study, from pairings fixed beforehand."""

    score: ScoreInterval
    gain_elo: ScoreInterval | None  # over the seed weights; None against other opponents
    games: int
    against: str


def make_claim(tuning: StudyConfig, games: Sequence[Games]) -> StudyClaim:
    """The claim of these games, a match for each opponent, all on openings of their own."""
    points = np.concatenate([pair_points(each) / 4.0 for each in games])
    score = score_interval(np.arange(len(points)), points)
    alone = against_seed(tuning)
    gain = ScoreInterval(*map(clamped_elo, score)) if alone else None
    return StudyClaim(score, gain, sum(map(len, games)), opponents_text(tuning))


def score_interval(openings: NDArray[np.int64], points: NDArray[np.float64]) -> ScoreInterval:
    """The score with its interval; an end that nothing bounds is that of all scores."""
    found = score_estimate(openings, points)
    low, high = found.low, found.high
    return ScoreInterval(
        float(points.mean()), 0.0 if low is None else low, 1.0 if high is None else high
    )


def clamped_elo(score: float) -> float:
    """The Elo of a score; that of a thousandth where all or nothing was won."""
    return elo_from_score(min(max(score, 0.001), 0.999))


def opponents_text(tuning: StudyConfig) -> str:
    """Whom the candidates play, with shares where there are several."""
    names = {name: f"{name} (seed weights)" if name == tuning.agent else name
             for name, _ in tuning.opponents}  # fmt: skip
    if len(names) == 1:
        return next(iter(names.values()))
    return ", ".join(f"{names[name]} {percent_text(share)}" for name, share in tuning.opponents)


def claim_text(claim: StudyClaim) -> str:
    """The claim in one phrase: score, gain, opponents, games."""
    value, low, high = (percent_text(each) for each in claim.score)
    gain = ""
    if claim.gain_elo is not None:
        elo, least, most = (signed_text(each) for each in claim.gain_elo)
        gain = f", {elo} [{least}, {most}] Elo"
    return (
        f"{value} [{low}, {high}]{gain} against {claim.against}, "
        f"in {claim.games:,} games that the search has not seen"
    )


def detectable_gain(pairs: int, trials: Sequence[Trial]) -> float:
    """The gain in Elo that a claim of so many pairings shows in four studies of five."""
    played = sum(trial.games / 2 for trial in trials)
    variance = sum(trial.noise * (trial.games / 2) ** 2 for trial in trials) / played
    return clamped_elo(0.5 + SHOWN * (variance / pairs) ** 0.5)


class StudyVerdict(StrEnum):
    """The verdict of the match on the recommended weights."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"
    FLAT = "flat"  # the seed weights are kept: there is nothing to validate


VERDICTS = {Decision.ELO1: StudyVerdict.BETTER, Decision.ELO0: StudyVerdict.NOT_BETTER}


class ConditionGain(NamedTuple):
    """The gain over the seed weights at equal time or at equal nodes, from games of its own."""

    terms: str
    score: ScoreInterval
    gain_elo: ScoreInterval
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
    other_cost: ConditionGain | None = None  # at equal time, or at equal nodes

    @property
    def shows_gain(self) -> bool:
        """Whether the interval of the gain lies above 0; against a pool, whether the verdict is."""
        if self.elo.low is None:
            return self.verdict is StudyVerdict.BETTER
        return self.elo.low > 0.0


def no_validation(plan: SprtPlan, elo: float) -> Validation:
    """No game is played: the seed weights stay. A gain of so much `elo` could have been shown."""
    none, empty = no_estimate("no games"), np.empty(0)
    text = f"flat: the seed weights stay; a gain of {elo:.0f} Elo could have been shown"
    return Validation(
        StudyVerdict.FLAT, none, none, 0, 0, 0, text, "", empty, empty, plan, plan.bounds
    )  # fmt: skip


class Shown(NamedTuple):
    """How a match is played and shown."""

    directory: RunDirectory
    options: PlayOptions
    show: ShowProgress

    def play(
        self, plan: Plan, openings: Openings, section: str, key: str, play_at_least: int = 0
    ) -> MatchResult:
        """Play what is left of a match."""
        return play_match(
            plan, self.directory.section(section, key), self.options, openings=openings,
            play_at_least=play_at_least, show=self.show,
        )  # fmt: skip


def validate(
    tuning: StudyConfig, changes: Options, openings: Openings, claimed: int, shown: Shown
) -> Validation:
    """Play what is left of the match; the verdict with the claim.

    The claim is the first `claimed` pairings. They are played whatever the test says: a claim
    that ends with the test, or is only made of winners, would be too high.
    """
    plan = validation_plan(tuning, changes, len(openings))
    key = str(hash64(canonical_json(changes), plan.pairs, plan.seed))
    match = shown.play(plan, openings, "validation", key, claimed)
    claim = make_claim(tuning, [match.first_games(claimed)])
    return validation_result(match)._replace(claim=claim)


def validation_result(match: MatchResult) -> Validation:
    """The verdict of a match and of the test that stopped it."""
    plan, state, games = match.schedule.plan.stop, match.sprt, match.games
    assert plan is not None
    assert state is not None
    raw, elo = match.raw_elo, match.elo
    verdict = VERDICTS.get(state.decision, StudyVerdict.UNDECIDED)
    distinct = count_distinct(games)
    details = (
        f"{sprt_text(plan, state)}; raw {elo_text(raw)}, corrected {elo_text(elo)}; "
        f"{len(games):,} games, {distinct:,} distinct"
    )
    gain = elo_text(elo).replace(f" {elo.kind}", "")  # how it is corrected is a detail
    text = f"{verdict}: {plain_text(verdict, plan, gain)}, in {len(games):,} games"
    return Validation(
        verdict, elo, raw, len(games), distinct, len(np.unique(games.opening)), text, details,
        match.pair_points / PAIR_POINTS, match.llr, plan, (state.lower, state.upper),
    )  # fmt: skip


def plain_text(verdict: StudyVerdict, plan: SprtPlan, gain: str) -> str:
    """The verdict in plain words."""
    if verdict is StudyVerdict.BETTER:
        return f"the tuned weights beat the seed weights by {gain}"
    if verdict is StudyVerdict.NOT_BETTER:
        return f"a gain of {plan.elo1:g} Elo over the seed weights is ruled out ({gain})"
    return f"so many games cannot tell a gain of {plan.elo1:g} Elo from {plan.elo0:g} ({gain})"


def validation_plan(tuning: StudyConfig, changes: Options, pairs: int) -> Plan:
    """An ordinary match with a stop rule, on openings that no trial has seen."""
    return replace(
        tuning.plan,
        agents={TUNED: tuning.candidate.replace(**changes), SEED: tuning.spec},
        matches=((0, 1),),
        pairs=pairs,
        seed=fresh_seed(tuning.plan.seed),
        stop=tuning.validation.plan(),
    )


def canonical_json(changes: Options) -> str:
    """The changes as text, whatever the order of their names."""
    return json.dumps(changes, sort_keys=True)


def fresh_seed(seed: int) -> int:
    """The seed of the validation: agents draw other random numbers than in any trial."""
    return int(hash64("validation", seed)) >> 1


def validation_to_json(validation: Validation) -> dict[str, object]:
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


def other_cost(
    tuning: StudyConfig, changes: Options, openings: Openings, pairs: int, shown: Shown
) -> ConditionGain | None:
    """The gain at equal time, if the search had equal nodes; at equal nodes, if it had not.

    It is played from the first openings of the claim: then the difference is not that of the
    openings. None without pairs, or for an agent that no nodes limit.
    """
    if not pairs or not is_limited_by_nodes(tuning.spec, tuning.plan.of):
        return None
    tuned, openings = tuning.spec.replace(**changes), slice_openings(openings, 0, pairs)
    if tuning.equal == TIME:
        return gain_of("equal nodes", played(tuning, tuned, openings, shown))
    share = share_of(tuning, tuned, openings, shown)
    slower = replace(tuning, share=share).candidate.replace(**changes)
    return gain_of(
        f"equal time ({share:.2f} of the nodes)", played(tuning, slower, openings, shown)
    )


def share_of(tuning: StudyConfig, tuned: AgentSpec, openings: Openings, shown: Shown) -> float:
    """The share of nodes at equal time, measured once for a study."""
    key = str(hash64(canonical_json(tuned.to_json()), tuning.plan.seed))
    section = shown.directory.section("equal-time", key)
    if section.read_fact("share") is None:
        of, wall = tuning.plan.of, shown.options.wall or Sandbox(tuning.plan.walls_required)
        share = equal_time_node_ratio(tuned, tuning.spec, of, openings, wall)
        section.write_fact("share", share)
    return float(section.read_fact("share"))


def played(tuning: StudyConfig, tuned: AgentSpec, openings: Openings, shown: Shown) -> Points:
    """The pair scores of an agent against the seed weights."""
    agents = {TUNED: tuned, SEED: tuning.spec}
    plan = replace(validation_plan(tuning, {}, len(openings)), agents=agents, stop=None)
    keys = hash64(openings.keys.tobytes())
    key = str(hash64(canonical_json(tuned.to_json()), keys, plan.seed))
    return shown.play(plan, openings, "other-cost", key).pair_points / PAIR_POINTS


def gain_of(terms: str, points: Points) -> ConditionGain:
    """The gain that these pair scores show."""
    score = score_interval(np.arange(len(points)), points)
    return ConditionGain(terms, score, ScoreInterval(*map(clamped_elo, score)), 2 * len(points))


def gain_text(gain: ConditionGain) -> str:
    """The gain in one phrase."""
    elo, least, most = (signed_text(part) for part in gain.gain_elo)
    return f"{elo} [{least}, {most}] Elo at {gain.terms}, in {gain.games:,} games of its own"


def gain_json(gain: ConditionGain | None) -> dict[str, object] | None:
    """The gain as JSON holds it."""
    if gain is None:
        return None
    score, elo = list(gain.score), list(gain.gain_elo)
    return {"terms": gain.terms, "score": score, "gain_elo": elo, "games": gain.games}


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
        return [take_games(games, np.arange(2 * count)) for games, count in each]


def validate_against_opponents(
    tuning: StudyConfig, changes: dict[str, object], openings: Openings, claimed: int, shown: Shown
) -> Validation:
    """Play what is left of both agents' matches; the verdict on their difference.

    They are played to the end, so the interval is that of a number of games fixed beforehand. The
    claim is the first games of the tuned one.
    """
    tuned = pool_games(tuning, tuning.candidate.replace(**changes), openings, shown, "pool-tuned")
    seed = pool_games(tuning, tuning.spec, openings, shown, "pool-seed")
    pairs = [each.pairs for each in opponents_of(tuning, 2 * claimed)]
    most = [len(games) // 2 for games in tuned.matches]
    claim = make_claim(tuning, tuned.first(list(map(min, pairs, most))))
    return difference_verdict(tuning, tuned, seed)._replace(claim=claim)


def pool_games(
    tuning: StudyConfig, spec: AgentSpec, openings: Openings, shown: Shown, section: str
) -> PoolGames:
    """The games of an agent with each opponent, by its share of the openings."""
    games, first = list[Games](), 0
    for opponent in opponents_of(tuning, 2 * len(openings)):
        begin = min(first, len(openings) - 1)  # each has one, where shares are tiny
        own = slice_openings(openings, begin, min(first + opponent.pairs, len(openings)))
        agents = {CANDIDATE: spec, opponent.name: opponent.spec}
        plan = replace(validation_plan(tuning, {}, len(own)), agents=agents, stop=None)
        key = str(hash64(canonical_json(spec.to_json()), opponent.name, plan.pairs, plan.seed))
        games.append(shown.play(plan, own, f"{section}-{opponent.name}", key).games)
        first += opponent.pairs
    return PoolGames(games)


def difference_verdict(tuning: StudyConfig, tuned: PoolGames, seed: PoolGames) -> Validation:
    """The verdict on the scores of both on the same openings against the same opponents."""
    plan, none = tuning.validation.plan(), no_estimate(AGAINST_POOL)
    halves = 0.5 + (tuned.points - seed.points) / 2.0
    gain = ScoreInterval(
        *(2.0 * each - 1.0 for each in score_interval(np.arange(len(halves)), halves))
    )
    verdict = verdict_of(gain, score_from_elo(plan.elo0) - 0.5, score_from_elo(plan.elo1) - 0.5)
    both = concat_games([*tuned.matches, *seed.matches])
    text = (
        f"{verdict}: the tuned weights score {points_text(tuned.points)} against the pool, the "
        f"seed weights {points_text(seed.points)}, in {len(both):,} games"
    )
    details = "difference in points {:+.1f} [{:+.1f}, {:+.1f}]".format(
        *(100 * each for each in gain)
    )
    return Validation(
        verdict, none, none, len(both), count_distinct(both), len(halves), text, details,
        halves, np.full(len(halves), np.nan), plan, plan.bounds,
    )  # fmt: skip


def verdict_of(gain: ScoreInterval, little: float, enough: float) -> StudyVerdict:
    """Whether the interval of the gain lies above what is too little, or below what is enough."""
    if gain.low > little:
        return StudyVerdict.BETTER
    return StudyVerdict.NOT_BETTER if gain.high < enough else StudyVerdict.UNDECIDED


def points_text(points: NDArray[np.float64]) -> str:
    """The mean of pair scores in per cent."""
    return f"{100 * points.mean():.1f} %"
