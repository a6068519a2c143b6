"""Move losses of written games, for any rules."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from games.core import Game, Position
from games.solving.solution import JUDGE_LIMITS, WHOLE_STATES, lowest_best_move, remaining_units
from games.solving.solver import PACKED_SOWING, Allowance, Bounds, Budget, Solver, sign

UNKNOWN = -(1 << 31)  # in place of a value
NO_MOVE = -1
RESULT_ONLY = 1 << 30  # times 1, 0 or -1 in `after`: a result whose margin is unknown
UNSIZED_NODES = 200_000  # per question in users' games, whose difficulty is unknown
# One ply: player, side of the board, beans in play or empty squares, number of legal moves;
# bounds of the value before, and the value after the move, both for the mover; a best move.
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
MARGINS = JUDGE_LIMITS[WHOLE_STATES]  # most beans in play for margins by searches of whole states


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """Limits of judging: the most beans or empty squares left, and nodes per question."""

    last: int | None = None  # None: all
    nodes: int = 100_000_000


class JudgeProgress(NamedTuple):
    """The earliest judged position of a game: the number of its ply from 0, and its value."""

    ply: int
    value: int  # for its mover


class Judge(Protocol):
    """Judges written games of one kind of rules."""

    def judge_game(self, text: str, limits: JudgeLimits, reached: JudgeProgress | None) -> Plies:
        """Return the plies of a game, judged backwards from `reached`, or from the end.

        Plies from `reached` on remain unknown.
        """


def judge_progress(plies: Plies) -> JudgeProgress | None:
    """Return the first ply from which all are judged; None if the last one is not."""
    exact = (plies["low"] == plies["high"]) & (plies["low"] != UNKNOWN)
    if not exact.size or not exact[-1]:
        return None
    ply = int(exact.size - np.argmin(exact[::-1])) if not exact.all() else 0
    return JudgeProgress(ply, int(plies["low"][ply]))


class Losses(NamedTuple):
    """The loss of each ply in margin and result, and whether they are known."""

    margin: NDArray[np.int32]
    result: NDArray[np.int8]
    known: NDArray[np.bool_]
    result_known: NDArray[np.bool_]


def is_exact_margin(after: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return whether the value after a move is known as a margin."""
    return np.isin(after, (UNKNOWN, RESULT_ONLY, -RESULT_ONLY), invert=True)


def losses_by_ply(plies: Plies) -> Losses:
    """Return the losses of plies; 0 where unknown."""
    low, high, after = plies["low"], plies["high"], plies["after"]
    tried = (after != UNKNOWN) & (low != UNKNOWN)
    known = tried & (low == high) & is_exact_margin(after)
    result_known = tried & (np.sign(low) == np.sign(high))
    margin = np.where(known, low.astype(np.int64) - after, 0).astype(np.int32)
    result = np.where(result_known, np.sign(low) - np.sign(after), 0).astype(np.int8)
    return Losses(margin, result, known, result_known)


class GenericJudge:
    """Judges games of any rules with a solver."""

    def __init__(self, solver: Solver) -> None:
        """Use a solver, which may be shared: remembered results change no value."""
        self.solver, self.game = solver, solver.game

    def judge_game(self, text: str, limits: JudgeLimits, reached: JudgeProgress | None) -> Plies:
        """Ask one question per ply: was there a better move?"""
        game, solver = self.game, self.solver
        positions = game.replay(text)
        moves = [
            game.parse_move(position, word)
            for position, word in zip(positions, game.notation.split(text), strict=False)
        ]
        plies = empty_plies(game, positions)
        limits, farthest = self._margin_limits(limits), limits
        value = self._end_value(positions, limits, reached)
        for ply in range(len(moves) if reached is None else reached.ply, 0, -1):
            before, after = positions[ply - 1 : ply + 1]
            if value is None:
                break
            row = plies[ply - 1]
            row["after"] = after_value = value if before.mover == after.mover else -value
            if not is_within_limit(game, before, limits):
                if results_ignore_pots(game):
                    self._add_results(plies[:ply], positions, sign(value), farthest)
                break
            bounds = self._value_before(before, after_value, limits)
            row["low"], row["high"] = bounds
            if not bounds.exact:
                break
            row["best"] = moves[ply - 1]
            if bounds.low > after_value:
                best = lowest_best_move(solver, before, bounds.low, question_budget(limits))
                row["best"] = NO_MOVE if best is None else best
            value = bounds.low
        return plies

    def _margin_limits(self, limits: JudgeLimits) -> JudgeLimits:
        """Return the limits of margins; results go farther back if pots decide margins."""
        game = self.game
        if (
            not results_ignore_pots(game)
            or (remaining_units(game, game.start()) or 0) <= WHOLE_STATES
        ):
            return limits
        return replace(limits, last=min(MARGINS, MARGINS if limits.last is None else limits.last))

    def _add_results(
        self,
        plies: Plies,
        positions: list[Position],
        result: int,
        limits: JudgeLimits,
    ) -> None:
        """Add the result before each ply, backwards; `result` is the result after the last one."""
        for ply in range(len(plies), 0, -1):
            before, after = positions[ply - 1 : ply + 1]
            row, result = plies[ply - 1], result if before.mover == after.mover else -result
            if row["after"] == UNKNOWN:
                row["after"] = result * RESULT_ONLY
            if not is_within_limit(self.game, before, limits):
                break
            bounds = self._result_before(before, result, limits)
            row["low"], row["high"] = bounds
            if bounds.outcome is None:
                break
            result = sign(bounds.low)

    def _result_before(self, position: Position, after: int, limits: JudgeLimits) -> Bounds:
        """Return bounds that tell the result before a move to the result `after`."""
        most = self.solver.search.limits(position).high
        if after == 1:
            return Bounds(1, most)
        bounds = self.solver.outcome(position, question_budget(limits))
        if bounds.outcome is None or sign(bounds.low) == 0:
            return bounds
        return Bounds(1, most) if bounds.low > 0 else Bounds(-most, -1)

    def _value_before(self, position: Position, after: int, limits: JudgeLimits) -> Bounds:
        """Return the value before a move whose value is `after`."""
        better = self.solver.better_than(position, after, question_budget(limits))
        if better.high <= after:
            return Bounds(after, after)
        known = Bounds(max(after, better.low), better.high)
        return (
            self.solver.margin(position, question_budget(limits), known)
            if better.low > after
            else known
        )

    def _end_value(
        self, positions: list[Position], limits: JudgeLimits, reached: JudgeProgress | None
    ) -> int | None:
        """Return the value at which judging begins; None if the end is out of reach."""
        if reached is not None:
            return reached.value
        last = positions[-1]
        if not is_within_limit(self.game, last, limits):
            return None
        bounds = self.solver.margin(last, question_budget(limits))
        return bounds.low if bounds.exact else None


def question_budget(limits: JudgeLimits) -> Allowance:
    """Return the budget of one question."""
    return Allowance(Budget(nodes=limits.nodes))


def is_within_limit(game: Game, position: Position, limits: JudgeLimits) -> bool:
    """Return whether the position has few enough beans or empty squares to be judged."""
    if limits.last is None or game.over(position):
        return True
    return (remaining_units(game, position) or 0) <= limits.last


def results_ignore_pots(game: Game) -> bool:
    """Return whether results can be found without the pots, although margins cannot."""
    return game.family_name in PACKED_SOWING and game.rules.majority_ends == "yes"


def empty_plies(game: Game, positions: list[Position]) -> Plies:
    """Return the plies of a game with nothing known."""
    plies = np.zeros(len(positions) - 1, PLY)
    for name in ("low", "high", "after"):
        plies[name] = UNKNOWN
    plies["best"] = NO_MOVE
    for row, position in zip(plies, positions, strict=False):
        row["player"], row["side"] = position.mover, position.side
        row["left"] = remaining_units(game, position) or 0
        row["choices"] = len(game.legal(position))
    return plies


def judge_of(solver: Solver) -> Judge:
    """Return the judge for a solver's games; compiled if its search ignores the pots."""
    if solver.ignores_pots:
        from games.solving.sowing_move_losses import SowingJudge  # noqa: PLC0415  # it loads the compiler

        return SowingJudge(solver)
    return GenericJudge(solver)
