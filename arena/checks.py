"""Checks: claims about a run, each with a verdict and, if it fails, a game to look at."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents import build
from arena.evidence import Match, Rows, forfeited_rows, matches, repeats
from arena.experiment import Check, Experiment
from arena.proof import NoProof, prove
from arena.records import DRAW, Games, Termination, moves_of
from arena.speed import timings
from arena.stats.elo import elo_from_score, score_from_elo
from arena.stats.intervals import ScoreCheck, score_at_least
from arena.stats.intervals import Verdict as Answer
from arena.stats.words import check_text, percent, signed
from arena.win_rates import is_census
from arena.written import move_texts
from games import Game

HOLDS, FAILS, VACUOUS = "holds", "fails", "vacuous"
STATUS = {Answer.PASSED: HOLDS, Answer.FAILED: FAILS, Answer.VACUOUS: VACUOUS}

Replay = Callable[[int], Sequence[int]]


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


@dataclass(frozen=True, slots=True)
class Case:
    """What checks may look at: the games of a run and how to see one of them again.

    `starts` are the openings in move numbers; `replay` gives the moves of the game in a row,
    None if they are unknown where they were not kept.
    """

    experiment: Experiment
    games: Games
    matches: Sequence[Match]
    census: Collection[tuple[str, str]]
    starts: Sequence[Sequence[int]]
    replay: Replay | None

    @property
    def names(self) -> tuple[str, ...]:
        """The agents by place."""
        return tuple(self.experiment.agents)

    def about(self, check: Check) -> list[str]:
        """The agents that a claim on single agents is about."""
        return list(self.names) if check.subject == "all" else [str(check.subject)]

    def between(self, check: Check) -> Match | None:
        """The games of "A beats B", seen by A; None if there are none."""
        winner, loser = (self.names.index(name) for name in check.parties or ())
        for match in self.matches:
            if (match.a, match.b) == (winner, loser):
                return match
            if (match.a, match.b) == (loser, winner):
                return match.mirrored()
        return None

    def shortest(self, rows: Rows) -> int:
        """The row of the shortest of some games, the first of equals."""
        ordered = np.sort(rows)
        return int(ordered[np.argmin(self.games.plies[ordered])])

    def command(self, row: int) -> str | None:
        """The command that shows the game in a row; None if its moves are lost."""
        if self.games.moves is not None:
            return replay_command(self.experiment.of, moves_of(self.games, row))
        return self.replay and replay_command(self.experiment.of, self.replay(row))


def verdicts(
    experiment: Experiment,
    games: Games,
    *,
    census: Collection[tuple[str, str]] = (),
    starts: Sequence[Sequence[int]] = ((),),
    replay: Replay | None = None,
) -> list[Verdict]:
    """A verdict on every check of the experiment; arguments as in `Case` and `summarise`."""
    if not experiment.checks:
        return []
    found = matches(games, repeats(games))
    case = Case(experiment, games, found, census, starts, replay)
    return [CHECKS[check.test](check, case) for check in experiment.checks]


def always(check: Check, case: Case) -> Verdict:
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


def proved(check: Check, case: Case) -> Verdict:
    """Every game won that the other side could make of the openings; nothing is left to chance."""
    of, name = case.experiment.of, (check.parties or ("",))[0]
    agent = build(case.experiment.agents[name], of)
    try:
        proofs = [prove(of, agent, player, case.starts) for player in (0, 1)]
    except NoProof as reason:
        return _verdict(check, FAILS, str(reason))
    lines = [(proof.counterexample, seat) for seat, proof in enumerate(proofs)]
    lost = [(line, seat) for line, seat in lines if line is not None]
    walked = f"{sum(proof.positions for proof in proofs):,} positions"
    if not lost:
        detail = f"proved against every reply, on both sides: {walked}"
        return _verdict(check, HOLDS, detail)
    line, seat = min(lost, key=lambda each: len(each[0]))
    detail = f"{name} does not always win when it moves {SEATS[seat]}: disproved in {walked}"
    return _verdict(check, FAILS, detail, replay_command(of, line))


def at_least_score(check: Check, case: Case) -> Verdict:
    """The score is at least so much, by its one-sided bound."""
    found = _bounded(check, case, check.score_at_least or 0.0)
    # The text begins with the answer, which the status says already.
    return _verdict(check, STATUS[found.verdict], check_text(found).partition(": ")[2])


def at_least_elo(check: Check, case: Case) -> Verdict:
    """The Elo difference is at least so much, by the bound on the score."""
    wanted = check.elo_at_least or 0.0
    found = _bounded(check, case, score_from_elo(wanted))
    if found.score is None or found.bound is None:
        return _verdict(check, STATUS[found.verdict], found.reason)
    detail = (
        f"at least {signed(wanted)} Elo wanted, found {_elo(found.score)}, "
        f"bound {_elo(found.bound)} ({found.reason}), K = {found.openings}"
    )
    return _verdict(check, STATUS[found.verdict], detail)


def no_forfeits(check: Check, case: Case) -> Verdict:
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


def fast_enough(check: Check, case: Case) -> Verdict:
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


CHECKS: Mapping[str, Callable[[Check, Case], Verdict]] = {
    "always": always,
    "score_at_least": at_least_score,
    "elo_at_least": at_least_elo,
    "no_forfeits": no_forfeits,
    "faster_than_seconds_per_move": fast_enough,
}
SEATS = ("first", "second")


def replay_command(of: Game, moves: Sequence[int]) -> str:
    """The command that shows a game move by move."""
    return f'python -m games.replay "{of.name}" "{" ".join(move_texts(of, moves))}"'


def ended(case: Case, row: int, agent: int) -> str:
    """How one game ended for an agent."""
    games = case.games
    seat = 0 if games.first[row] == agent else 1
    lead = f"{case.names[agent]} moved {SEATS[seat]} and"
    if games.result[row] == DRAW:
        return f"{lead} drew"
    how = Termination(int(games.termination[row]))
    if how is not Termination.NORMAL:
        return f"{lead} forfeited ({how.name.lower()})"
    return f"{lead} lost by {abs(int(games.margin[row]))}"


def _faults(case: Case, agent: int) -> Rows:
    """The games that an agent lost by a fault of its own."""
    own = [match for match in case.matches if agent in (match.a, match.b)]
    rows = [forfeited_rows(case.games, match, agent) for match in own]
    return np.concatenate([np.empty(0, np.int64), *rows])


def _bounded(check: Check, case: Case, wanted: float) -> ScoreCheck:
    match = case.between(check)
    fresh = None if match is None else match.evidence()
    return score_at_least(
        [] if fresh is None else fresh.openings,
        [] if fresh is None else fresh.scores,
        wanted,
        level=check.confidence,
        min_distinct=check.min_distinct,
        census=match is not None and is_census(match, case.names, case.census),
    )


def _elo(score: float) -> str:
    return percent(score) if score in (0.0, 1.0) else signed(elo_from_score(score))


def _too_few(check: Check, openings: int) -> Verdict:
    needed = f"at least {check.min_distinct} needed"
    return _verdict(check, VACUOUS, f"{openings} distinct openings, {needed}")


def _verdict(check: Check, status: str, detail: str, replay: str | None = None) -> Verdict:
    return Verdict(check.that, check.test, status, detail, replay)
