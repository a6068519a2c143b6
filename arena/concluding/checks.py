"""Checks: claims about a run, each with a verdict and, if it fails, a game to look at."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agents import build
from arena.concluding.case import SEATS, Case, Lines, Replay, ended, ending, replay_command
from arena.concluding.evidence import Flags, Rows, forfeited_rows, matches, repeats
from arena.concluding.proof import NoProof, prove
from arena.concluding.timing import timings
from arena.concluding.win_rates import is_census
from arena.planning.plan import Plan
from arena.planning.records import Games, Termination
from arena.reading.file_tables import CheckTable
from arena.stats.anytime import anytime_estimate, observe, watch
from arena.stats.counts import one_per_opening
from arena.stats.elo import elo_from_score, score_from_elo
from arena.stats.intervals import ScoreCheck, Status, score_at_least
from arena.stats.words import check_text, percent, signed
from games.transcripts import move_texts

HOLDS, FAILS, VACUOUS = "holds", "fails", "vacuous"
STATUS = {Status.PASSED: HOLDS, Status.FAILED: FAILS, Status.VACUOUS: VACUOUS}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one check; a vacuous one rests on too little, and does not hold.

    `test` is the key that states the claim. `replay` is a command that shows the shortest
    game against it.
    """

    that: str
    test: str
    status: str
    detail: str
    replay: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the claim is borne out."""
        return self.status == HOLDS


def verdicts(
    plan: Plan,
    checks: Sequence[CheckTable],
    games: Games,
    *,
    census: Collection[tuple[str, str]] = (),
    starts: Lines | Callable[[], Lines] = ((),),
    replay: Replay | None = None,
    repeat: Flags | None = None,
) -> list[Verdict]:
    """A verdict on every check; arguments as in `Case` and `summarise`."""
    if not checks:
        return []
    found = matches(games, repeats(games) if repeat is None else repeat)
    begin = starts if callable(starts) else lambda: starts
    case = Case(plan, games, found, census, begin, replay)
    return [CHECKS[check.test](check, case) for check in checks]


def always(check: CheckTable, case: Case) -> Verdict:
    """Every game won, from every opening and on both sides; a forfeit of the loser is a win."""
    if check.always == "proved":
        return proved(check, case)
    match = case.between(check)
    if match is None:
        return _verdict(check, VACUOUS, "no games")
    won = np.concatenate([match.as_first, match.as_second]) == 1.0
    openings = len(np.unique(match.openings))
    if not won.all():
        row = case.shortest(match.rows[~won])
        detail = f"{np.count_nonzero(~won)} of {len(won)} games not won; the shortest is {row}: "
        return _verdict(check, FAILS, detail + ended(case, row, match.a), case.command(row))
    if openings < check.min_distinct:
        return _too_few(check, openings)
    detail = f"all {len(won)} games won, from {openings} openings on both sides"
    return _verdict(check, HOLDS, detail)


def proved(check: CheckTable, case: Case) -> Verdict:
    """Every game won that the other side could make of the openings; nothing is left to chance."""
    of, name = case.plan.of, (check.parties or ("",))[0]
    agent = build(case.plan.agents[name], of)
    starts = case.starts()
    try:
        proofs = [prove(of, agent, player, starts) for player in (0, 1)]
    except NoProof as reason:
        return _verdict(check, FAILS, str(reason))
    lines = [(proof.counterexample, seat) for seat, proof in enumerate(proofs)]
    lost = [(line, seat) for line, seat in lines if line is not None]
    walked = f"{sum(proof.positions for proof in proofs):,} positions"
    if not lost:
        detail = f"proved against every reply, on both sides: {walked}"
        return _verdict(check, HOLDS, detail)
    line, seat = min(lost, key=lambda each: len(each[0]))
    last = of.replay(" ".join(move_texts(of, line)))[-1]
    end = ending(of.margin(last) * (1 - 2 * seat))
    detail = f"disproved in {walked}: {name} moves {SEATS[seat]} and {end} against these replies"
    return _verdict(check, FAILS, detail, replay_command(of, line))


def at_least_score(check: CheckTable, case: Case) -> Verdict:
    """The score is at least so much, by its one-sided bound."""
    found = _bounded(check, case, check.score_at_least or 0.0)
    # The text begins with the answer, which the status says already.
    return _verdict(check, STATUS[found.verdict], check_text(found).partition(": ")[2])


def at_least_elo(check: CheckTable, case: Case) -> Verdict:
    """The Elo difference is at least so much, by the bound on the score."""
    wanted = check.elo_at_least or 0.0
    found = _bounded(check, case, score_from_elo(wanted))
    if found.score is None or found.bound is None:
        return _verdict(check, STATUS[found.verdict], found.reason)
    detail = (
        f"at least {signed(wanted)} Elo wanted, found {_elo(found.score)}, "
        f"bound {_elo(found.bound, down=True)} ({found.reason}), K = {found.openings}"
    )
    return _verdict(check, STATUS[found.verdict], detail)


def no_forfeits(check: CheckTable, case: Case) -> Verdict:
    """No game lost by a fault."""
    places = {case.names.index(name): name for name in case.about(check)}
    games = sum(2 * len(m.openings) for m in case.matches if {m.a, m.b} & set(places))
    faults = {name: _faults(case, place) for place, name in places.items()}
    told = ", ".join(f"{name} forfeited {len(rows)}" for name, rows in faults.items() if len(rows))
    if not told:
        return _verdict(check, HOLDS if games else VACUOUS, f"none in {games} games")
    row = case.shortest(np.concatenate(list(faults.values())))
    why = case.games.traces.get(row, "").partition("\n")[0]
    how = Termination(int(case.games.termination[row])).name.lower()
    detail = f"{told}; the shortest is game {row}: {how}{', ' if why else ''}{why}"
    return _verdict(check, FAILS, detail, case.command(row))


def fast_enough(check: CheckTable, case: Case) -> Verdict:
    """The mean thinking time of a move is below a limit."""
    limit = check.faster_than_seconds_per_move or 0.0
    found = timings(case.games, case.names)
    words, status = [], HOLDS
    for name in case.about(check):
        moves = sum(each.moves for each in found if each.agent == name)
        if not moves:
            return _verdict(check, VACUOUS, f"{name} chose no move")
        mean = sum(each.seconds for each in found if each.agent == name) / moves
        words.append(f"{name} {mean:.3g} s a move")
        status = status if mean < limit else FAILS
    return _verdict(check, status, f"less than {limit:g} s wanted; {', '.join(words)}")


CHECKS: Mapping[str, Callable[[CheckTable, Case], Verdict]] = {
    "always": always,
    "score_at_least": at_least_score,
    "elo_at_least": at_least_elo,
    "no_forfeits": no_forfeits,
    "faster_than_seconds_per_move": fast_enough,
}


def _faults(case: Case, agent: int) -> Rows:
    """The games that an agent lost by a fault of its own."""
    own = [match for match in case.matches if agent in (match.a, match.b)]
    rows = [forfeited_rows(case.games, match, agent) for match in own]
    return np.concatenate([np.empty(0, np.int64), *rows])


def _bounded(check: CheckTable, case: Case, wanted: float) -> ScoreCheck:
    match = case.between(check)
    fresh = None if match is None else match.evidence()
    found = score_at_least(
        [] if fresh is None else fresh.openings,
        [] if fresh is None else fresh.scores,
        wanted,
        level=check.confidence,
        min_distinct=check.min_distinct,
        census=match is not None and is_census(match, case.names, case.census),
    )
    if case.plan.stop is None or fresh is None or found.bound is None:
        return found
    return _anytime(found, fresh.scores[one_per_opening(fresh.openings)])


def _anytime(found: ScoreCheck, scores: NDArray[np.float64]) -> ScoreCheck:
    """The check by a bound that stays true whenever a test stops the run."""
    both_sides = max(2.0 * found.level - 1.0, 0.01)
    bound = anytime_estimate(observe(watch(both_sides), scores)).low or 0.0
    verdict = Status.PASSED if bound >= found.wanted else Status.FAILED
    reason = f"anytime {100 * found.level:g} % bound: a test could stop the run"
    return replace(found, verdict=verdict, bound=bound, reason=reason)


def _elo(score: float, down: bool = False) -> str:
    """The Elo of a score, rounded down if it is a bound."""
    if score in (0.0, 1.0):
        return percent(score)
    elo = elo_from_score(score)
    return signed(math.floor(elo) if down else elo)


def _too_few(check: CheckTable, openings: int) -> Verdict:
    needed = f"at least {check.min_distinct} needed"
    return _verdict(check, VACUOUS, f"{openings} distinct openings, {needed}")


def _verdict(check: CheckTable, status: str, detail: str, replay: str | None = None) -> Verdict:
    return Verdict(check.that, check.test, status, detail, replay)
