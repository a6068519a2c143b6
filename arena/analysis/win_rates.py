"""One row for each match."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from arena.analysis.evidence import AgentPairs, Evidence
from arena.analysis.match_counts import Match
from arena.stats.counts import PairCounts, pair_counts
from arena.stats.estimate import EstimateKind, no_estimate
from arena.stats.match_estimate import MatchEstimate, ScoreAndElo, estimate_match, mirror_estimate
from arena.stats.sprt_estimates import as_raw
from arena.stats.stopping import StopPlan, WidthPlan, anytime_row
from arena.stats.text import match_estimate_text

ONLY_FORFEITS = "only forfeits"
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class WinRate:
    """One agent against one opponent; forfeits are losses.

    `row.counts` has all games; the estimates of `row` use `evidence_games`, without repeats.
    """

    agent: str
    opponent: str
    evidence_games: int
    forfeits: int
    opponent_forfeits: int
    row: MatchEstimate
    text: str


@dataclass(frozen=True)
class WinRates:
    """Both sides of every match, one after the other.

    Two hundred agents have forty thousand rows, so the second sides in `own` are made on demand.
    `text` describes a row.
    """

    own: tuple[WinRate, ...]
    text: Callable[[MatchEstimate], str]

    def __len__(self) -> int:
        return 2 * len(self.own)

    def __iter__(self) -> Iterator[WinRate]:
        for rate in self.own:
            yield rate
            row = mirror_estimate(rate.row)
            forfeits = rate.opponent_forfeits, rate.forfeits
            text = self.text(row)
            yield WinRate(rate.opponent, rate.agent, rate.evidence_games, *forfeits, row, text)

    def with_rows(
        self,
        change: Callable[[MatchEstimate], MatchEstimate],
        text: Callable[[MatchEstimate], str],
    ) -> "WinRates":
        """Return the same matches with changed rows and their text."""
        rows = ((rate, change(rate.row)) for rate in self.own)
        return WinRates(tuple(replace(rate, row=row, text=text(row)) for rate, row in rows), text)


def is_census(match: Match, evidence: Evidence) -> bool:
    """Return whether a match has every opening of a finite set of two or more, without chance."""
    return (
        _is_among(match, evidence, evidence.census_pairs)
        and match.distinct_openings > 1
        and is_identical_on_repeats(match)
    )


def is_deterministic(match: Match, evidence: Evidence) -> bool:
    """Return whether both agents are declared deterministic and no game contradicts that."""
    return _is_declared(match, evidence) and is_identical_on_repeats(match)


def is_identical_on_repeats(match: Match) -> bool:
    """Return whether no two pairs on one opening differed."""
    return match.evidence_pairs == match.distinct_openings


def _is_declared(match: Match, evidence: Evidence) -> bool:
    return _is_among(match, evidence, (*evidence.deterministic_pairs, *evidence.census_pairs))


def _is_among(match: Match, evidence: Evidence, pairs: AgentPairs) -> bool:
    a, b = evidence.plan.names[match.a], evidence.plan.names[match.b]
    return (a, b) in pairs or (b, a) in pairs


def determinism_violations(evidence: Evidence) -> list[str]:
    """Return a line for each pair of declared deterministic agents whose games varied."""
    names = evidence.plan.names
    return [
        f"{names[match.a]} against {names[match.b]}: deterministic = true is contradicted: games "
        "on one opening differed; nothing of this pair is exact"
        for match in evidence.matches
        if _is_declared(match, evidence) and not is_identical_on_repeats(match)
    ]


def estimate_from_evidence(
    match: Match, evidence: Evidence, stop: StopPlan | None = None
) -> MatchEstimate:
    """Estimate a match from its evidence; every table and check uses this function.

    The rule `stop` ended the match; None: the number of its pairs was fixed.
    """
    fresh, deterministic = match.evidence(), is_deterministic(match, evidence)
    row = estimate_match(
        fresh.openings,
        fresh.as_first,
        fresh.as_second,
        level=stop.fixed_level if isinstance(stop, WidthPlan) else LEVEL,
        deterministic=deterministic,
        census=is_census(match, evidence),
        varied=not is_identical_on_repeats(match),
        repeats=0 if deterministic else 2 * (match.pairs - fresh.pairs),
        times=fresh.times,
        fair=fresh.fair,
    )
    if isinstance(stop, WidthPlan):
        return anytime_row(stop, row, evidence.plan.pairs)
    as_raw_answer = partial(ScoreAndElo.map_estimates, change=as_raw)
    return row if stop is None else row.map_answers(as_raw_answer)


def win_rates(evidence: Evidence, stop: StopPlan | None) -> WinRates:
    """Return all matches; the rule `stop` ended the only one."""
    own = (_win_rate(evidence, match, stop) for match in evidence.matches)
    return WinRates(tuple(own), _row_text)


def _win_rate(evidence: Evidence, match: Match, stop: StopPlan | None) -> WinRate:
    plan = evidence.plan
    a, b = plan.names[match.a], plan.names[match.b]
    row = replace(
        estimate_from_evidence(match, evidence, stop),
        counts=_counts(match, plan.agents[a] == plan.agents[b]),
    )
    if sum(match.forfeits) == 2 * match.pairs:
        row = _without_strength(row)
    return WinRate(a, b, 2 * match.evidence_pairs, *match.forfeits, row, _row_text(row))


def _without_strength(row: MatchEstimate) -> MatchEstimate:
    """Withhold all estimates of a match in which every game was forfeited."""

    def unknown(answer: ScoreAndElo) -> ScoreAndElo:
        score = no_estimate(ONLY_FORFEITS, answer.score.value, answer.score.level)
        none = no_estimate(ONLY_FORFEITS, level=answer.elo.level)
        return replace(answer, score=score, elo=none, normalized=none)

    return replace(row.map_answers(unknown), superiority=None)


def _counts(match: Match, same_player: bool) -> PairCounts:
    """Count all games of a match, repeats included."""
    counts = pair_counts(match.openings, match.as_first, match.as_second, match.times)
    return replace(
        counts,
        distinct_games=match.distinct_games,
        identical_pairs=match.identical_pairs,
        same_player=same_player,
        first_mover_margin=match.mover_margin / match.normal_games if match.normal_games else None,
    )


def _row_text(row: MatchEstimate) -> str:
    if row.score.reason == ONLY_FORFEITS:
        return ONLY_FORFEITS
    kinds = {EstimateKind.SPRT: ", raw", EstimateKind.ANYTIME: ", anytime-valid"}
    return match_estimate_text(row) + kinds.get(row.score.kind, "")
