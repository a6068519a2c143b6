"""Move losses of written games, for any rules."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from games.core import Game, Position
from games.solving.solution import JUDGED, WHOLE_STATES, lowest_best, still_open
from games.solving.solver import PACKED_SOWING, Allowance, Bounds, Budget, Solver, sign

UNKNOWN = -(1 << 31)  # in place of a value
NO_MOVE = -1
RESULT_ALONE = 1 << 30  # of an after: 1, 0 or -1 times this is a result whose margin is unknown
UNSIZED_NODES = 200_000  # of a question, where nobody knows what makes a position hard
# A ply: who moves, for which side of the board, beans in play or empty squares, legal moves;
# bounds of the value before, the value after the move, both for the mover; a best move.
PLY = np.dtype(
    [
        ("player", np.int8),
        ("side", np.int8),
        ("left", np.int16),
        ("choices", np.int16),
        ("low", np.int32),
        ("high", np.int32),
        ("after", np.int32),
        ("best", np.int16),
    ]
)
Plies = NDArray[np.void]
MARGINS = JUDGED[WHOLE_STATES]  # beans in play up to which margins are asked for on whole states


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """How far back a game is judged: beans or empty squares left, positions a question."""

    last: int | None = None  # None: all
    nodes: int = 100_000_000


class Reached(NamedTuple):
    """How far back a game is judged: the value of the position before ply `ply`, from 0."""

    ply: int
    value: int  # for its mover


class LineJudge(Protocol):
    """Judges written games of one kind of rules."""

    def judged(self, text: str, limits: JudgeLimits, reached: Reached | None) -> Plies:
        """The plies of a game; those before `reached` if that is known already.

        The plies from there on are left unknown.
        """


def first_judged(plies: Plies) -> Reached | None:
    """The first ply from which all are judged without a gap; None if not even the last is."""
    exact = (plies["low"] == plies["high"]) & (plies["low"] != UNKNOWN)
    if not exact.size or not exact[-1]:
        return None
    ply = int(exact.size - np.argmin(exact[::-1])) if not exact.all() else 0
    return Reached(ply, int(plies["low"][ply]))


class Losses(NamedTuple):
    """What each ply cost its mover: margin, result, and whether these are known."""

    margin: NDArray[np.int32]
    result: NDArray[np.int8]
    known: NDArray[np.bool_]
    result_known: NDArray[np.bool_]


def is_margin(after: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the value after a move is known as a margin."""
    return np.isin(after, (UNKNOWN, RESULT_ALONE, -RESULT_ALONE), invert=True)


def losses_of(plies: Plies) -> Losses:
    """The losses of plies; 0 where unknown."""
    low, high, after = plies["low"], plies["high"], plies["after"]
    tried = (after != UNKNOWN) & (low != UNKNOWN)
    known = tried & (low == high) & is_margin(after)
    result_known = tried & (np.sign(low) == np.sign(high))
    margin = np.where(known, low.astype(np.int64) - after, 0).astype(np.int32)
    result = np.where(result_known, np.sign(low) - np.sign(after), 0).astype(np.int8)
    return Losses(margin, result, known, result_known)


class SolverJudge:
    """Judges games of any rules with the questions of a solver."""

    def __init__(self, solver: Solver) -> None:
        """A solver may be shared: what it remembers changes no value."""
        self.solver, self.game = solver, solver.game

    def judged(self, text: str, limits: JudgeLimits, reached: Reached | None) -> Plies:
        """One question a ply: was there a better move than the one played?"""
        of, solver = self.game, self.solver
        positions = of.replay(text)
        moves = [
            of.parse_move(position, word)
            for position, word in zip(positions, of.notation.split(text), strict=False)
        ]
        plies = unjudged(of, positions)
        limits, farthest = self._of_margins(limits), limits
        value = self._value_reached(positions, limits, reached)
        for ply in range(len(moves) if reached is None else reached.ply, 0, -1):
            before, after = positions[ply - 1 : ply + 1]
            if value is None:
                break
            row = plies[ply - 1]
            row["after"] = after_value = value if before.mover == after.mover else -value
            if not within(of, before, limits):
                if has_easy_results(of):
                    self._add_results(plies[:ply], positions, sign(value), farthest)
                break
            bounds = self._before(before, after_value, limits)
            row["low"], row["high"] = bounds
            if not bounds.exact:
                break
            row["best"] = moves[ply - 1]
            if bounds.low > after_value:
                best = lowest_best(solver, before, bounds.low, question(limits))
                row["best"] = NO_MOVE if best is None else best
            value = bounds.low
        return plies

    def _of_margins(self, limits: JudgeLimits) -> JudgeLimits:
        """How far back margins are asked for: results go farther where the pots decide margins."""
        of = self.game
        if not has_easy_results(of) or (still_open(of, of.start()) or 0) <= WHOLE_STATES:
            return limits
        return replace(limits, last=min(MARGINS, MARGINS if limits.last is None else limits.last))

    def _add_results(
        self,
        plies: Plies,
        positions: list[Position],
        result: int,
        limits: JudgeLimits,
    ) -> None:
        """Who wins before each of the plies, the last first; `result` is that after them."""
        for ply in range(len(plies), 0, -1):
            before, after = positions[ply - 1 : ply + 1]
            row, result = plies[ply - 1], result if before.mover == after.mover else -result
            if row["after"] == UNKNOWN:
                row["after"] = result * RESULT_ALONE
            if not within(self.game, before, limits):
                break
            bounds = self._result_before(before, result, limits)
            row["low"], row["high"] = bounds
            if bounds.outcome is None:
                break
            result = sign(bounds.low)

    def _result_before(self, position: Position, after: int, limits: JudgeLimits) -> Bounds:
        """Bounds of one sign for a position with a move that gives the result `after`."""
        most = self.solver.questions.limits(position).high
        if after == 1:
            return Bounds(1, most)
        bounds = self.solver.outcome(position, question(limits))
        if bounds.outcome is None or sign(bounds.low) == 0:
            return bounds
        return Bounds(1, most) if bounds.low > 0 else Bounds(-most, -1)

    def _before(self, position: Position, after: int, limits: JudgeLimits) -> Bounds:
        """The value before a move whose value is `after`."""
        better = self.solver.better_than(position, after, question(limits))
        if better.high <= after:
            return Bounds(after, after)
        known = Bounds(max(after, better.low), better.high)
        return (
            self.solver.margin(position, question(limits), known) if better.low > after else known
        )

    def _value_reached(
        self, positions: list[Position], limits: JudgeLimits, reached: Reached | None
    ) -> int | None:
        """The value from which to walk back; None if the last position is out of reach."""
        if reached is not None:
            return reached.value
        last = positions[-1]
        if not within(self.game, last, limits):
            return None
        bounds = self.solver.margin(last, question(limits))
        return bounds.low if bounds.exact else None


def question(limits: JudgeLimits) -> Allowance:
    """The budget of one question."""
    return Allowance(Budget(nodes=limits.nodes))


def within(of: Game, position: Position, limits: JudgeLimits) -> bool:
    """Whether few enough beans or squares are left for the position to be judged."""
    if limits.last is None or of.over(position):
        return True
    return (still_open(of, position) or 0) <= limits.last


def has_easy_results(of: Game) -> bool:
    """Whether who wins is found by a game whose pots do not matter, though margins are not."""
    return of.family_name in PACKED_SOWING and of.rules.majority_ends == "yes"


def unjudged(of: Game, positions: list[Position]) -> Plies:
    """The plies of a game about which nothing is known."""
    plies = np.zeros(len(positions) - 1, PLY)
    for name in ("low", "high", "after"):
        plies[name] = UNKNOWN
    plies["best"] = NO_MOVE
    for row, position in zip(plies, positions, strict=False):
        row["player"], row["side"] = position.mover, position.side
        row["left"] = still_open(of, position) or 0
        row["choices"] = len(of.legal(position))
    return plies


def judge_of(solver: Solver) -> LineJudge:
    """The judge for a solver's games; compiled where the rows of a sowing game decide its value."""
    if solver.has_rows_alone:
        from games.solving.sowing_move_losses import SowingJudge  # noqa: PLC0415  # it loads the compiler

        return SowingJudge(solver)
    return SolverJudge(solver)
