"""The validation: the deciding match, the claim, and the gain at another cost."""

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
from arena.stats.text import elo_text, percent_text, sign_text, sprt_text
from arena.storage.journal import RunDirectory
from arena.tuning.budget import equal_time_node_ratio, is_limited_by_nodes, trial_opponents
from arena.tuning.study_config import StudyConfig, plays_only_seed
from arena.tuning.table import TIME
from arena.tuning.trial_games import CANDIDATE, select_openings
from arena.tuning.trials import Trial
from games.base.progress import ShowProgress

# A gain of this many standard errors is shown in four studies of five (1.96 + 0.84).
DETECTABLE = 2.8
TUNED, SEED = "tuned", "seed"
Points = NDArray[np.float64]
AGAINST_POOL = "a pool has no Elo"


class ScoreInterval(NamedTuple):
    """An expected score, or a difference of two, with its 95 % interval."""

    value: float
    low: float
    high: float


class StudyClaim(NamedTuple):
    """The expected score against the opponents of the study, from a fixed number of pairs."""

    score: ScoreInterval
    gain_elo: ScoreInterval | None  # over the seed weights; None against other opponents
    games: int
    against: str


def make_claim(tuning: StudyConfig, games: Sequence[Games]) -> StudyClaim:
    """Return the claim of some games, one match for each opponent."""
    points = pair_scores(games)
    score = score_interval(np.arange(len(points)), points)
    alone = plays_only_seed(tuning)
    gain = ScoreInterval(*map(finite_elo, score)) if alone else None
    return StudyClaim(score, gain, sum(map(len, games)), opponents_text(tuning))


def pair_scores(matches: Sequence[Games]) -> Points:
    """Return the score of each pair of some matches."""
    return np.concatenate([pair_points(games) / PAIR_POINTS for games in matches])


def score_interval(openings: NDArray[np.int64], points: Points) -> ScoreInterval:
    """Return the mean score with its interval, from 0 to 1 where nothing bounds it."""
    found = score_estimate(openings, points)
    low, high = found.low, found.high
    return ScoreInterval(
        float(points.mean()), 0.0 if low is None else low, 1.0 if high is None else high
    )


def finite_elo(score: float) -> float:
    """Return the Elo of a score between 0.001 and 0.999."""
    return elo_from_score(min(max(score, 0.001), 0.999))


def opponents_text(tuning: StudyConfig) -> str:
    """Return the opponents of candidates, with shares if there are several."""
    names = {name: f"{name} (seed weights)" if name == tuning.agent else name
             for name, _ in tuning.opponents}  # fmt: skip
    if len(names) == 1:
        return next(iter(names.values()))
    return ", ".join(f"{names[name]} {percent_text(share)}" for name, share in tuning.opponents)


def claim_text(claim: StudyClaim) -> str:
    """Return score, gain, opponents and games of the claim in one phrase."""
    value, low, high = (percent_text(each) for each in claim.score)
    gain = ""
    if claim.gain_elo is not None:
        elo, least, most = (sign_text(each) for each in claim.gain_elo)
        gain = f", {elo} [{least}, {most}] Elo"
    return (
        f"{value} [{low}, {high}]{gain} against {claim.against}, "
        f"in {claim.games:,} games that the search has not seen"
    )


def detectable_gain(pairs: int, trials: Sequence[Trial]) -> float:
    """Return the gain in Elo that a claim of some pairs shows in four studies of five."""
    played = sum(trial.games / 2 for trial in trials)
    variance = sum(trial.noise * (trial.games / 2) ** 2 for trial in trials) / played
    return finite_elo(0.5 + DETECTABLE * (variance / pairs) ** 0.5)


class StudyVerdict(StrEnum):
    """The verdict of the match on the recommended weights."""

    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"
    FLAT = "flat"  # the seed weights stay


VERDICTS = {Decision.ELO1: StudyVerdict.BETTER, Decision.ELO0: StudyVerdict.NOT_BETTER}


class ConditionGain(NamedTuple):
    """The gain over the seed weights at equal time or at equal nodes."""

    condition: str
    score: ScoreInterval
    gain_elo: ScoreInterval
    games: int


class Validation(NamedTuple):
    """A finished validation: verdict, Elo of the tuned weights, and the course of the test."""

    verdict: StudyVerdict
    elo: Estimate  # corrected for the stopping rule
    raw: Estimate
    games: int
    distinct_games: int
    openings: int
    text: str  # in plain words
    details: str  # of the test, and every estimate
    points: Points  # score of each pair, in the order played
    llr: Points  # after each pair
    plan: SprtPlan
    bounds: tuple[float, float]
    claim: StudyClaim | None = None  # None if the seed weights stay
    other_cost: ConditionGain | None = None

    @property
    def shows_gain(self) -> bool:
        """Return whether the gain is certain; without Elo, whether the verdict is better."""
        if self.elo.low is None:
            return self.verdict is StudyVerdict.BETTER
        return self.elo.low > 0.0


def no_validation(plan: SprtPlan, elo: float) -> Validation:
    """Return the verdict for seed weights, which need no match; `elo` could have been detected."""
    none, empty = no_estimate("no games"), np.empty(0)
    text = f"flat: the seed weights stay; a gain of {elo:.0f} Elo could have been shown"
    return Validation(
        StudyVerdict.FLAT, none, none, 0, 0, 0, text, "", empty, empty, plan, plan.bounds
    )  # fmt: skip


class MatchRunner(NamedTuple):
    """The journal, the workers and the display of the matches."""

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
    tuning: StudyConfig, changes: Options, openings: Openings, claimed: int, runner: MatchRunner
) -> Validation:
    """Play what is left of the match against the seed weights, and return verdict and claim.

    The claim is the first `claimed` pairs. All of them are played even if the test ends earlier: a
    claim that ends with the test would be too high.
    """
    plan = validation_plan(tuning, changes, len(openings))
    key = str(hash64(canonical_json(changes), plan.pairs, plan.seed))
    match = runner.play(plan, openings, "validation", key, claimed)
    claim = make_claim(tuning, [match.first_games(claimed)])
    return validation_result(match)._replace(claim=claim)


def validation_result(match: MatchResult) -> Validation:
    """Return the verdict of a match with a sequential test."""
    plan, state, games = match.schedule.plan.stop, match.sprt, match.games
    assert isinstance(plan, SprtPlan)
    assert state is not None
    raw, elo = match.raw_elo, match.elo
    verdict = VERDICTS.get(state.decision, StudyVerdict.UNDECIDED)
    distinct = count_distinct(games)
    details = (
        f"{sprt_text(plan, state)}; raw {elo_text(raw)}, corrected {elo_text(elo)}; "
        f"{len(games):,} games, {distinct:,} distinct"
    )
    gain = elo_text(elo).replace(f" {elo.kind}", "")  # the kind is a detail
    text = f"{verdict}: {plain_text(verdict, plan, gain)}, in {len(games):,} games"
    return Validation(
        verdict, elo, raw, len(games), distinct, len(np.unique(games.opening)), text, details,
        match.pair_points / PAIR_POINTS, match.llr, plan, (state.lower, state.upper),
    )  # fmt: skip


def plain_text(verdict: StudyVerdict, plan: SprtPlan, gain: str) -> str:
    """Return the verdict in plain words."""
    if verdict is StudyVerdict.BETTER:
        return f"the tuned weights beat the seed weights by {gain}"
    if verdict is StudyVerdict.NOT_BETTER:
        return f"a gain of {plan.elo1:g} Elo over the seed weights is ruled out ({gain})"
    return f"these games cannot tell a gain of {plan.elo1:g} Elo from {plan.elo0:g} ({gain})"


def validation_plan(tuning: StudyConfig, changes: Options, pairs: int) -> Plan:
    """Return the plan of the match, on openings that no trial has seen."""
    return replace(
        tuning.plan,
        agents={TUNED: tuning.candidate.replace(**changes), SEED: tuning.spec},
        matches=((0, 1),),
        pairs=pairs,
        seed=validation_seed(tuning.plan.seed),
        stop=tuning.validation.plan(),
    )


def canonical_json(changes: Options) -> str:
    """Return changes as text, whatever the order of their names."""
    return json.dumps(changes, sort_keys=True)


def validation_seed(seed: int) -> int:
    """Return the seed of the validation, which no trial uses."""
    return int(hash64("validation", seed)) >> 1


def validation_to_json(validation: Validation) -> dict[str, object]:
    """Return the validation as JSON holds it."""
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
    tuning: StudyConfig, changes: Options, openings: Openings, pairs: int, runner: MatchRunner
) -> ConditionGain | None:
    """Return the gain at equal time after a search with equal nodes, and the other way round.

    The first openings of the claim are played, so that openings make no difference. None without
    pairs, or for an agent that other things than nodes limit.
    """
    if not pairs or not is_limited_by_nodes(tuning.spec, tuning.plan.game):
        return None
    tuned, openings = tuning.spec.replace(**changes), select_openings(openings, slice(pairs))
    if tuning.equal == TIME:
        return make_gain("equal nodes", play_against_seed(tuning, tuned, openings, runner))
    share = equal_time_ratio(tuning, tuned, openings, runner)
    slower = replace(tuning, share=share).candidate.replace(**changes)
    return make_gain(
        f"equal time ({share:.2f} of the nodes)",
        play_against_seed(tuning, slower, openings, runner),
    )


def equal_time_ratio(
    tuning: StudyConfig, tuned: AgentSpec, openings: Openings, runner: MatchRunner
) -> float:
    """Return the ratio of nodes at equal time, measured once in a study."""
    key = str(hash64(canonical_json(tuned.to_json()), tuning.plan.seed))
    section = runner.directory.section("equal-time", key)
    if section.read_fact("share") is None:
        of, sandbox = (
            tuning.plan.game,
            runner.options.sandbox or Sandbox(tuning.plan.sandbox_required),
        )
        share = equal_time_node_ratio(tuned, tuning.spec, of, openings, sandbox)
        section.write_fact("share", share)
    return float(section.read_fact("share"))


def play_against_seed(
    tuning: StudyConfig, tuned: AgentSpec, openings: Openings, runner: MatchRunner
) -> Points:
    """Return the pair scores of an agent against the seed weights."""
    agents = {TUNED: tuned, SEED: tuning.spec}
    plan = replace(validation_plan(tuning, {}, len(openings)), agents=agents, stop=None)
    keys = hash64(openings.keys.tobytes())
    key = str(hash64(canonical_json(tuned.to_json()), keys, plan.seed))
    return runner.play(plan, openings, "other-cost", key).pair_points / PAIR_POINTS


def make_gain(terms: str, points: Points) -> ConditionGain:
    """Return the gain that pair scores show."""
    score = score_interval(np.arange(len(points)), points)
    return ConditionGain(terms, score, ScoreInterval(*map(finite_elo, score)), 2 * len(points))


def gain_text(gain: ConditionGain) -> str:
    """Return the gain in one phrase."""
    elo, least, most = (sign_text(part) for part in gain.gain_elo)
    return f"{elo} [{least}, {most}] Elo at {gain.condition}, in {gain.games:,} further games"


def gain_json(gain: ConditionGain | None) -> dict[str, object] | None:
    """Return the gain as JSON holds it."""
    if gain is None:
        return None
    score, elo = list(gain.score), list(gain.gain_elo)
    return {"terms": gain.condition, "score": score, "gain_elo": elo, "games": gain.games}


def validate_against_opponents(
    tuning: StudyConfig,
    changes: dict[str, object],
    openings: Openings,
    claimed: int,
    runner: MatchRunner,
) -> Validation:
    """Play what is left of both agents' matches, and return the verdict on their difference.

    All pairs are played, so the interval needs no correction. The claim is the first games of the
    tuned agent.
    """
    tuned = pool_games(tuning, tuning.candidate.replace(**changes), openings, runner, "pool-tuned")
    seed = pool_games(tuning, tuning.spec, openings, runner, "pool-seed")
    pairs = [each.pairs for each in trial_opponents(tuning, 2 * claimed)]
    first = zip(tuned, pairs, strict=True)
    claim = make_claim(tuning, [take_games(g, np.arange(min(2 * n, len(g)))) for g, n in first])
    return difference_verdict(tuning, tuned, seed)._replace(claim=claim)


def pool_games(
    tuning: StudyConfig, spec: AgentSpec, openings: Openings, runner: MatchRunner, section: str
) -> list[Games]:
    """Return the games of an agent, with a share of the openings for each opponent."""
    games, first = list[Games](), 0
    for opponent in trial_opponents(tuning, 2 * len(openings)):
        begin = min(first, len(openings) - 1)  # at least one each
        own = select_openings(openings, slice(begin, first + opponent.pairs))
        agents = {CANDIDATE: spec, opponent.name: opponent.spec}
        plan = replace(validation_plan(tuning, {}, len(own)), agents=agents, stop=None)
        key = str(hash64(canonical_json(spec.to_json()), opponent.name, plan.pairs, plan.seed))
        games.append(runner.play(plan, own, f"{section}-{opponent.name}", key).games)
        first += opponent.pairs
    return games


def difference_verdict(tuning: StudyConfig, tuned: list[Games], seed: list[Games]) -> Validation:
    """Return the verdict on two agents with the same openings and opponents."""
    plan, none = tuning.validation.plan(), no_estimate(AGAINST_POOL)
    of_tuned, of_seed = pair_scores(tuned), pair_scores(seed)
    halves = 0.5 + (of_tuned - of_seed) / 2.0
    ends = score_interval(np.arange(len(halves)), halves)
    gain = ScoreInterval(*(2.0 * each - 1.0 for each in ends))
    verdict = verdict_from_interval(
        gain, score_from_elo(plan.elo0) - 0.5, score_from_elo(plan.elo1) - 0.5
    )
    both = concat_games([*tuned, *seed])
    text = (
        f"{verdict}: the tuned weights score {points_text(of_tuned)} against the pool, the "
        f"seed weights {points_text(of_seed)}, in {len(both):,} games"
    )
    details = "difference in points {:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * x for x in gain))
    return Validation(
        verdict, none, none, len(both), count_distinct(both), len(halves), text, details,
        halves, np.full(len(halves), np.nan), plan, plan.bounds,
    )  # fmt: skip


def verdict_from_interval(gain: ScoreInterval, little: float, enough: float) -> StudyVerdict:
    """Return better for a gain above `little`, not better for one below `enough`."""
    if gain.low > little:
        return StudyVerdict.BETTER
    return StudyVerdict.NOT_BETTER if gain.high < enough else StudyVerdict.UNDECIDED


def points_text(points: Points) -> str:
    """Return the mean of pair scores in per cent."""
    return f"{100 * points.mean():.1f} %"
