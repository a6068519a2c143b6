"""Bounds, budgets, and a solver that asks yes-or-no questions."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from games.core import Game, Position

WORDS = {1: "win", 0: "draw", -1: "loss"}
FARTHEST = 1 << 30  # beyond every margin
SLICE = 1 << 16  # nodes between two looks at clock and keyboard: some 20 ms
Answer = int | None  # a bound on the margin, on the side that was asked about; None: undecided
OTHELLO = "games.othello.bitboard"
PACKED_SOWING = ("games.sowing.packed", "games.sowing.phased")


def sign(number: int) -> int:
    """1, 0 or -1."""
    return (number > 0) - (number < 0)


class Bounds(NamedTuple):
    """A final margin lies from `low` to `high`, seen by the side to move."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        """Whether the value is known exactly."""
        return self.low == self.high

    @property
    def has_low(self) -> bool:
        """Whether `low` says anything; of a user's game nobody knows the least margin."""
        return self.low > -FARTHEST

    @property
    def has_high(self) -> bool:
        """Whether `high` says anything."""
        return self.high < FARTHEST

    @property
    def outcome(self) -> str | None:
        """`win`, `draw` or `loss` of the side to move; None if it is not known yet."""
        return WORDS[sign(self.low)] if sign(self.low) == sign(self.high) else None

    def turned(self) -> "Bounds":
        """The same bounds, seen from the other side."""
        return Bounds(-self.high, -self.low)

    def narrowed(self, bound: int, value: int) -> "Bounds":
        """The bounds after `value` answered the question "at least `bound`?"."""
        if value >= bound:
            return Bounds(max(self.low, value), self.high)
        return Bounds(self.low, min(self.high, value))


@dataclass(frozen=True, slots=True)
class Budget:
    """How long to search; only nodes give the same answer everywhere; None is no limit."""

    nodes: int | None = None
    seconds: float | None = None


UNLIMITED = Budget()


class Allowance:
    """The rest of a budget, which several questions may share."""

    def __init__(self, budget: Budget) -> None:
        """The clock starts now."""
        self.nodes = budget.nodes
        self.deadline = None if budget.seconds is None else time.monotonic() + budget.seconds

    def next_slice(self) -> int:
        """Nodes to search before the clock is read again; 0 when the budget is used up."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return 0
        return SLICE if self.nodes is None else min(self.nodes, SLICE)

    def spend(self, nodes: int) -> None:
        """Charge these nodes to the budget."""
        if self.nodes is not None:
            self.nodes = max(0, self.nodes - nodes)


class Questions(Protocol):
    """A search of one game, with everything it remembers between questions."""

    @property
    def nodes(self) -> int:
        """Positions searched since it was made."""

    def prepare(self) -> None:
        """Build or open what all questions share; otherwise the first question does so."""

    def forget(self) -> None:
        """Empty the table; the database stays."""

    def limits(self, position: Position) -> Bounds:
        """Bounds that hold for any final margin of the side to move."""

    def ask(self, position: Position, bound: int, nodes: int) -> Answer:
        """Whether the final margin of the side to move is at least `bound`.

        An answer of `bound` or more is a lower bound of the margin, a smaller one an upper
        bound; None if `nodes` were not enough. What was found is remembered, so that the
        same question goes on where it was left.
        """


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """What a solver may use; this changes its speed, never a value."""

    table_bits: int = 22  # 2 to this power positions are remembered
    database_beans: int | None = None  # None: as many as are worth building for the game
    database_seconds: float | None = None  # a database that is not there takes no longer


Limits = Budget | Allowance  # an allowance is shared with other questions
USUAL = SolverSettings()


class Solver:
    """Exact values of one game's positions; it remembers what it finds between calls."""

    def __init__(self, of: Game, questions: Questions) -> None:
        """`questions` are those of the game's family."""
        self.game, self.questions = of, questions

    @property
    def has_rows_alone(self) -> bool:
        """Whether it is asked about rows of seven holes at most whose pots do not matter."""
        of = self.game
        return of.family_name == PACKED_SOWING[0] and of.rules.majority_ends == "no"

    @property
    def nodes(self) -> int:
        """Positions searched since the solver was made."""
        return self.questions.nodes

    def prepare(self) -> None:
        """Build or open the database and compile now, not at the first question."""
        self.questions.prepare()
        self.questions.ask(self.game.start(), 1, 0)

    def forget(self) -> None:
        """Forget everything: the next question takes as long as a first one."""
        self.questions.forget()

    def outcome(self, position: Position, budget: Limits = UNLIMITED) -> Bounds:
        """Bounds that decide who wins, if the budget suffices."""
        return last(self.narrowing(position, begun(budget), to_outcome=True))

    def margin(
        self, position: Position, budget: Limits = UNLIMITED, known: Bounds | None = None
    ) -> Bounds:
        """The final margin of the side to move, pots included, starting from what is `known`."""
        return last(self.narrowing(position, begun(budget), known))

    def better_than(self, position: Position, margin: int, budget: Limits = UNLIMITED) -> Bounds:
        """Whether the side to move gets more than `margin`: one question, the judge's.

        Yes if `low` is more than it, no if `high` is not; else the budget ended before.
        """
        allowance, bounds = begun(budget), self.questions.limits(position)
        return last(self._asked(position, bounds, margin + 1, allowance), bounds)

    def moves(self, position: Position, budget: Limits = UNLIMITED) -> dict[int, Bounds]:
        """The margin of the side to move after each of its moves; they share the budget."""
        allowance = begun(budget)
        return {move: self._after(position, move, allowance) for move in self.game.legal(position)}

    def _after(self, position: Position, move: int, allowance: Allowance) -> Bounds:
        child = self.game.play(position, move)
        bounds = last(self.narrowing(child, allowance))
        return bounds if child.mover == position.mover else bounds.turned()

    def narrowing(
        self,
        position: Position,
        allowance: Allowance,
        known: Bounds | None = None,
        to_outcome: bool = False,
    ) -> Iterator[Bounds]:
        """What is known after every slice of the search, until all is or the budget ends.

        First win or not, then draw or loss, then from the bound that came back (MTD(f):
        Plaat, Schaeffer, Pijls, de Bruin 1996).
        """
        bounds = self.questions.limits(position)
        if known is not None:
            bounds = Bounds(max(bounds.low, known.low), min(bounds.high, known.high))
        yield bounds
        while not (bounds.exact or (to_outcome and bounds.outcome)):
            before = bounds
            for step in self._asked(position, before, next_bound(before), allowance):
                bounds = step
                yield bounds
            if bounds == before:
                return

    def _asked(
        self, position: Position, bounds: Bounds, bound: int, allowance: Allowance
    ) -> Iterator[Bounds]:
        """The bounds after each slice of one question; the last ones answer it."""
        while bounds.low < bound <= bounds.high and (nodes := allowance.next_slice()):
            before = self.questions.nodes
            answer = self.questions.ask(position, bound, nodes)
            allowance.spend(self.questions.nodes - before)
            if answer is not None:
                yield bounds.narrowed(bound, answer)
                return
            yield bounds


def next_bound(bounds: Bounds) -> int:
    """The next question: win? draw? then one step from the latest bound."""
    if bounds.low < 1 <= bounds.high:
        return 1
    if bounds.low < 0 <= bounds.high:
        return 0
    return bounds.low + 1 if bounds.low > 0 else bounds.high


def begun(budget: Limits) -> Allowance:
    """The clock of a budget starts now; an allowance's is running already."""
    return budget if isinstance(budget, Allowance) else Allowance(budget)


def last(steps: Iterator[Bounds], before: Bounds | None = None) -> Bounds:
    """The last of the steps; `before` if there is none."""
    *_, found = [before, *steps]
    assert found is not None
    return found


def solver_of(
    of: Game, settings: SolverSettings = USUAL, progress: Callable[[str], None] = lambda _: None
) -> Solver:
    """A solver for the game's positions; `progress` hears of preparations that take a while."""
    if of.family_name in PACKED_SOWING:
        from games.solving import sowing  # noqa: PLC0415  # it loads the compiler

        return Solver(of, sowing.sowing_questions(of, settings, progress))
    if of.family_name == OTHELLO and of.rules.adjacency == 0:
        from games.solving.othello import OthelloQuestions  # noqa: PLC0415  # the same

        return Solver(of, OthelloQuestions(of, settings.table_bits))
    from games.solving.generic import PlainQuestions  # noqa: PLC0415  # the same

    return Solver(of, PlainQuestions(of, settings.table_bits))
