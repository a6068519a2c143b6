"""One row for each match."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import overload

from arena.analysis.evidence import Census, Evidence
from arena.analysis.match_counts import Match
from arena.stats.counts import PairCounts, pair_counts
from arena.stats.estimate import EstimateKind, no_estimate
from arena.stats.match_estimate import MatchEstimate, ScoreAndElo, from_other_side, matchup
from arena.stats.sprt_estimates import as_raw
from arena.stats.text import match_estimate_text

ONLY_FORFEITS = "only forfeits"


@dataclass(frozen=True, slots=True)
class WinRate:
    """One agent against one opponent.

    `row.counts` has all games; the estimates of `row` rest on the `counted` ones, without
    replays. Forfeits are losses there.
    """

    agent: str
    opponent: str
    counted: int
    forfeits: int
    opponent_forfeits: int
    row: MatchEstimate
    text: str


class WinRates(Sequence[WinRate]):
    """Both sides of every pair that met, one after the other.

    Of two hundred agents they are forty thousand, so the second side is made when it is asked for.
    """

    def __init__(self, own: Iterable[WinRate], words: Callable[[MatchEstimate], str]) -> None:
        """`own` has the first sides; `words` says what a row shows."""
        self.own, self.words = tuple(own), words

    def __len__(self) -> int:
        return 2 * len(self.own)

    @overload
    def __getitem__(self, place: int) -> WinRate: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[WinRate, ...]: ...
    def __getitem__(self, place: int | slice) -> WinRate | tuple[WinRate, ...]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(len(self))[place])
        pair, second = divmod(range(len(self))[place], 2)
        return self._turned(self.own[pair]) if second else self.own[pair]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WinRates) and self.own == other.own

    __hash__ = None  # type: ignore[assignment]  # as lists are

    def _turned(self, rate: WinRate) -> WinRate:
        row = from_other_side(rate.row)
        faults = rate.opponent_forfeits, rate.forfeits
        return WinRate(rate.opponent, rate.agent, rate.counted, *faults, row, self.words(row))

    def changed(
        self,
        change: Callable[[MatchEstimate], MatchEstimate],
        words: Callable[[MatchEstimate], str],
    ) -> "WinRates":
        """The same pairs with other rows, which other words describe."""
        rows = ((rate, change(rate.row)) for rate in self.own)
        return WinRates((replace(rate, row=row, text=words(row)) for rate, row in rows), words)


def is_census(match: Match, evidence: Evidence) -> bool:
    """Whether a match covers every opening of a finite set of two or more, without chance."""
    return (
        _named(match, evidence, evidence.census)
        and match.met > 1
        and is_identical_on_repeats(match)
    )


def is_deterministic(match: Match, evidence: Evidence) -> bool:
    """Whether both agents are known to leave nothing to chance, and nothing speaks against it."""
    known = (*evidence.steady, *evidence.census)
    return _named(match, evidence, known) and is_identical_on_repeats(match)


def is_identical_on_repeats(match: Match) -> bool:
    """Whether no two pairings on one opening differed."""
    return match.counted == match.met


def _named(match: Match, evidence: Evidence, pairs: Census) -> bool:
    a, b = evidence.plan.names[match.a], evidence.plan.names[match.b]
    return (a, b) in pairs or (b, a) in pairs


def determinism_violations(evidence: Evidence) -> list[str]:
    """A line for each pair that was known to leave nothing to chance, but played in two ways."""
    known = (*evidence.steady, *evidence.census)
    names = evidence.plan.names
    return [
        f"{names[match.a]} against {names[match.b]}: deterministic = true is contradicted: games "
        "on one opening differed; nothing of this pair is exact"
        for match in evidence.matches
        if _named(match, evidence, known) and not is_identical_on_repeats(match)
    ]


def estimated(match: Match, evidence: Evidence, level: float = 0.95) -> MatchEstimate:
    """What the evidence of a match says of its pair: the one place where it is worked out."""
    fresh, steady = match.evidence(), is_deterministic(match, evidence)
    again = 0 if steady else 2 * (match.pairings - fresh.pairings)
    return matchup(
        fresh.openings,
        fresh.as_first,
        fresh.as_second,
        level=level,
        steady=steady,
        census=is_census(match, evidence),
        varied=not is_identical_on_repeats(match),
        repeats=again,
        times=fresh.times,
        fair=fresh.fair,
    )


def win_rates(evidence: Evidence, stopped: bool) -> WinRates:
    """Every match from both sides; `stopped` says that a sequential test ended the only one."""
    return WinRates((_win_rate(evidence, match, stopped) for match in evidence.matches), _text)


def _win_rate(evidence: Evidence, match: Match, stopped: bool) -> WinRate:
    row = estimated(match, evidence)
    plan = evidence.plan
    same_player = plan.agents[plan.names[match.a]] == plan.agents[plan.names[match.b]]
    row = replace(row, counts=_counts(match, same_player))
    if stopped:
        these = None if row.these is None else _raw_answer(row.these)
        row = replace(row, like=_raw_answer(row.like), these=these)
    own, others = match.forfeits
    if own + others == 2 * match.pairings:
        row = _only_forfeits(row)
    names = plan.names
    a, b, counted = names[match.a], names[match.b], 2 * match.counted
    return WinRate(a, b, counted, own, others, row, _text(row))


def _only_forfeits(row: MatchEstimate) -> MatchEstimate:
    """The row of a match in which no game was played out: it says nothing of strength."""

    def unknown(answer: ScoreAndElo) -> ScoreAndElo:
        score = no_estimate(ONLY_FORFEITS, answer.score.value, answer.score.level)
        none = no_estimate(ONLY_FORFEITS, level=answer.elo.level)
        return replace(answer, score=score, elo=none, normalized=none)

    these = None if row.these is None else unknown(row.these)
    return replace(row, like=unknown(row.like), these=these, superiority=None)


def _raw_answer(answer: ScoreAndElo) -> ScoreAndElo:
    return replace(
        answer,
        score=as_raw(answer.score),
        elo=as_raw(answer.elo),
        normalized=as_raw(answer.normalized),
    )


def _counts(match: Match, same_player: bool) -> PairCounts:
    """Counts of all games of a match, replays included."""
    counts = pair_counts(match.openings, match.as_first, match.as_second, times=match.times)
    return replace(
        counts,
        distinct_games=match.distinct,
        identical_pairs=match.identical,
        same_player=same_player,
        first_mover_margin=match.mover_margin / match.normal if match.normal else None,
    )


def _text(row: MatchEstimate) -> str:
    if row.score.reason == ONLY_FORFEITS:
        return ONLY_FORFEITS
    return match_estimate_text(row) + (", raw" if row.score.kind is EstimateKind.SPRT else "")
