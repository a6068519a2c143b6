"""Written games judged: walked backwards, what every move of them was worth against the best."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from games.core import Game
from games.position import Position
from games.solving.bounds import Allowance, Bounds, Budget
from games.solving.hopeless import still_open
from games.solving.solution import lowest_best
from games.solving.solver import Solver

UNKNOWN = -(1 << 31)  # in place of a value
NO_MOVE = -1

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


class SolverJudge:
    """Judges games of any rules with the questions of a solver."""

    def __init__(self, solver: Solver) -> None:
        """What the solver remembers does not change a value."""
        self.solver, self.game = solver, solver.game

    def judged(self, text: str, limits: JudgeLimits, reached: Reached | None) -> Plies:
        """One question a ply: is there anything better than what was played?"""
        of, solver = self.game, self.solver
        positions = of.replay(text)
        moves = [
            of.parse_move(position, word)
            for position, word in zip(positions, of.notation.split(text), strict=False)
        ]
        plies = unjudged(of, positions)
        value = self._value_reached(positions, limits, reached)
        for ply in range(len(moves) if reached is None else reached.ply, 0, -1):
            before, after = positions[ply - 1 : ply + 1]
            if value is None or not within(of, before, limits):
                break
            row = plies[ply - 1]
            row["after"] = after_value = value if before.mover == after.mover else -value
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

    def _before(self, position: Position, after: int, limits: JudgeLimits) -> Bounds:
        """The value before a move whose value is `after`."""
        better = self.solver.better_than(position, after, question(limits))
        if better.high <= after:
            return Bounds(after, after)
        known = Bounds(max(after, better.low), better.high)
        return self.solver.margin(position, question(limits), known) if better.low > after else known

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
    """What one question may take."""
    return Allowance(Budget(nodes=limits.nodes))


def within(of: Game, position: Position, limits: JudgeLimits) -> bool:
    """Whether so much of the game is left that it is to be judged."""
    if limits.last is None or of.over(position):
        return True
    return (still_open(of, position) or 0) <= limits.last


def unjudged(of: Game, positions: list[Position]) -> Plies:
    """The plies of a game of which nothing is known."""
    plies = np.zeros(len(positions) - 1, PLY)
    for name in ("low", "high", "after"):
        plies[name] = UNKNOWN
    plies["best"] = NO_MOVE
    for row, position in zip(plies, positions, strict=False):
        row["player"], row["side"] = position.mover, position.side
        row["left"] = still_open(of, position) or 0
        row["choices"] = len(of.legal(position))
    return plies


def first_judged(plies: Plies) -> Reached | None:
    """How far back the plies are judged without a gap; None if not even the last one is."""
    exact = (plies["low"] == plies["high"]) & (plies["low"] != UNKNOWN)
    if not exact.size or not exact[-1]:
        return None
    ply = int(exact.size - np.argmin(exact[::-1])) if not exact.all() else 0
    return Reached(ply, int(plies["low"][ply]))


def judge_of(solver: Solver) -> LineJudge:
    """The judge of a solver's games: compiled for sowing games whose rows say all."""
    if solver.has_rows_alone:
        from games.solving.sowing_judge import SowingJudge  # noqa: PLC0415  # it loads the compiler

        return SowingJudge(solver)
    return SolverJudge(solver)
