"""Bounds, budgets, and a solver that finds values by yes-or-no questions."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from games.core import Game, Position

OUTCOMES = {1: "win", 0: "draw", -1: "loss"}
FARTHEST = 1 << 30  # beyond every margin
SLICE = 1 << 16  # nodes between looks at clock and keyboard: about 20 ms
SHORT_SLICE, SHORT = 1 << 11, 0.2  # nodes between looks in the last seconds
Answer = int | None  # a bound of the margin; None: undecided
OTHELLO = "games.othello.bitboard"
PACKED_SOWING = ("games.sowing.packed", "games.sowing.phased")


def sign(number: int) -> int:
    """Return 1, 0 or -1."""
    return (number > 0) - (number < 0)


class Bounds(NamedTuple):
    """The final margin of the side to move is at least `low` and at most `high`."""

    low: int
    high: int

    @property
    def exact(self) -> bool:
        """Return whether the value is known exactly."""
        return self.low == self.high

    @property
    def has_low(self) -> bool:
        """Return whether `low` is finite; in users' games the lowest margin is unknown."""
        return self.low > -FARTHEST

    @property
    def has_high(self) -> bool:
        """Return whether `high` is finite."""
        return self.high < FARTHEST

    @property
    def outcome(self) -> str | None:
        """Return `win`, `draw` or `loss` of the side to move; None if it is still open."""
        return OUTCOMES[sign(self.low)] if sign(self.low) == sign(self.high) else None

    def for_opponent(self) -> "Bounds":
        """Return the same bounds for the other side."""
        return Bounds(-self.high, -self.low)

    def narrow(self, bound: int, value: int) -> "Bounds":
        """Return the bounds after `value` answered the question "at least `bound`?"."""
        if value >= bound:
            return Bounds(max(self.low, value), self.high)
        return Bounds(self.low, min(self.high, value))


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search, None for unlimited; only limits in nodes give reproducible answers."""

    nodes: int | None = None
    seconds: float | None = None


UNLIMITED = Budget()


class Allowance:
    """The rest of a budget, which several questions may share."""

    def __init__(self, budget: Budget) -> None:
        self.nodes = budget.nodes
        self.deadline = None if budget.seconds is None else time.monotonic() + budget.seconds

    def next_slice(self) -> int:
        """Return the nodes to search before the next look at the clock; 0 if nothing is left."""
        size = SLICE
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            size = SLICE if left > SHORT else SHORT_SLICE if left > 0 else 0
        return size if self.nodes is None else min(self.nodes, size)

    def spend(self, nodes: int) -> None:
        """Charge these nodes to the budget."""
        if self.nodes is not None:
            self.nodes = max(0, self.nodes - nodes)


class Search(Protocol):
    """A search of one game, with everything that it remembers between questions."""

    @property
    def nodes(self) -> int:
        """Return the number of positions searched so far."""

    def prepare(self) -> None:
        """Build or open shared data; otherwise the first question does so."""

    def clear(self) -> None:
        """Empty the table; the database stays."""

    def limits(self, position: Position) -> Bounds:
        """Return bounds that hold without a search, for the final margin of the side to move."""

    def bound_margin(self, position: Position, bound: int, nodes: int) -> Answer:
        """Return a bound of the margin that decides whether the side to move reaches `bound`.

        A result of `bound` or more is a lower bound, a smaller one an upper bound. None means that
        `nodes` were not enough. Results are remembered, so asking again continues the search.
        """


@dataclass(frozen=True, slots=True)
class SolverSettings:
    """Resources of a solver; they change its speed, never a value."""

    table_bits: int = 22  # the table has 2 to this power entries
    database_beans: int | None = None  # None: the best size for the game
    database_seconds: float | None = None  # limit for building a database


Limits = Budget | Allowance  # an allowance is shared with other questions
DEFAULT_SETTINGS = SolverSettings()


class Solver:
    """Finds exact values of the positions of one game and remembers results between calls."""

    def __init__(self, game: Game, search: Search) -> None:
        self.game, self.search = game, search

    @property
    def ignores_pots(self) -> bool:
        """Return whether its search ignores the pots: up to seven holes, no majority rule."""
        game = self.game
        return game.family_name == PACKED_SOWING[0] and game.rules.majority_ends == "no"

    @property
    def nodes(self) -> int:
        """Return the number of positions searched so far."""
        return self.search.nodes

    def prepare(self) -> None:
        """Build or open the database and compile now, not at the first question."""
        self.search.prepare()
        self.search.bound_margin(self.game.start(), 1, 0)

    def clear(self) -> None:
        """Forget all results: the next question takes as long as the first."""
        self.search.clear()

    def outcome(self, position: Position, budget: Limits = UNLIMITED) -> Bounds:
        """Return bounds that decide who wins, if the budget suffices."""
        return last_bounds(self.narrow(position, start_budget(budget), to_outcome=True))

    def margin(
        self, position: Position, budget: Limits = UNLIMITED, known: Bounds | None = None
    ) -> Bounds:
        """Return bounds of the final margin of the side to move; `known` are bounds so far."""
        return last_bounds(self.narrow(position, start_budget(budget), known))

    def better_than(self, position: Position, margin: int, budget: Limits = UNLIMITED) -> Bounds:
        """Return bounds that tell whether the side to move gets more than `margin`.

        It does if `low` exceeds `margin`, and does not if `high` is at most `margin`; otherwise
        the budget was too small.
        """
        allowance, bounds = start_budget(budget), self.search.limits(position)
        return last_bounds(self._ask(position, bounds, margin + 1, allowance), bounds)

    def moves(self, position: Position, budget: Limits = UNLIMITED) -> dict[int, Bounds]:
        """Return the margin of the side to move after each move; the moves share the budget."""
        allowance = start_budget(budget)
        return {move: self._after(position, move, allowance) for move in self.game.legal(position)}

    def _after(self, position: Position, move: int, allowance: Allowance) -> Bounds:
        child = self.game.play(position, move)
        bounds = last_bounds(self.narrow(child, allowance))
        return bounds if child.mover == position.mover else bounds.for_opponent()

    def narrow(
        self,
        position: Position,
        allowance: Allowance,
        known: Bounds | None = None,
        to_outcome: bool = False,
    ) -> Iterator[Bounds]:
        """Yield bounds after every slice of the search, until they are exact or the budget ends.

        The questions are win, then draw, then steps from the latest bound (MTD(f): Plaat,
        Schaeffer, Pijls, de Bruin 1996).
        """
        bounds = self.search.limits(position)
        if known is not None:
            bounds = Bounds(max(bounds.low, known.low), min(bounds.high, known.high))
        yield bounds
        while not (bounds.exact or (to_outcome and bounds.outcome)):
            before = bounds
            for step in self._ask(position, before, next_question(before), allowance):
                bounds = step
                yield bounds
            if bounds == before:
                return

    def _ask(
        self, position: Position, bounds: Bounds, bound: int, allowance: Allowance
    ) -> Iterator[Bounds]:
        """Yield the bounds after each slice of one question; the last ones answer it."""
        while bounds.low < bound <= bounds.high and (nodes := allowance.next_slice()):
            before = self.search.nodes
            answer = self.search.bound_margin(position, bound, nodes)
            allowance.spend(self.search.nodes - before)
            if answer is not None:
                yield bounds.narrow(bound, answer)
                return
            yield bounds


def next_question(bounds: Bounds) -> int:
    """Return the next bound to test: win, draw, then one step from the latest bound."""
    if bounds.low < 1 <= bounds.high:
        return 1
    if bounds.low < 0 <= bounds.high:
        return 0
    return bounds.low + 1 if bounds.low > 0 else bounds.high


def start_budget(budget: Limits) -> Allowance:
    """Start the clock of a budget; the clock of an allowance is already running."""
    return budget if isinstance(budget, Allowance) else Allowance(budget)


def last_bounds(steps: Iterator[Bounds], before: Bounds | None = None) -> Bounds:
    """Return the last of the steps; `before` if there is none."""
    *_, last = [before, *steps]
    assert last is not None
    return last


def free_memory() -> int:
    """Return the free memory in bytes, as the system reports it."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 1 << 32


def solver_of(
    game: Game,
    settings: SolverSettings = DEFAULT_SETTINGS,
    progress: Callable[[str], None] = lambda _: None,
) -> Solver:
    """Return a solver for the game; `progress` receives reports of long preparations."""
    if game.family_name in PACKED_SOWING:
        from games.solving import sowing  # noqa: PLC0415  # it loads the compiler

        return Solver(game, sowing.create_sowing_search(game, settings, progress))
    if game.family_name == OTHELLO and game.rules.adjacency == 0:
        from games.solving.othello import OthelloSearch  # noqa: PLC0415  # the same

        return Solver(game, OthelloSearch(game, settings.table_bits))
    from games.solving.generic import generic_search  # noqa: PLC0415  # the same

    return Solver(game, generic_search(game, settings.table_bits))
