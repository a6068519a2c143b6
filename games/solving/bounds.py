"""Bounds of a value, with the budget for narrowing them."""

import time
from dataclasses import dataclass
from typing import NamedTuple

WORDS = {1: "win", 0: "draw", -1: "loss"}
FARTHEST = 1 << 30  # beyond every margin
SLICE = 1 << 16  # nodes between two looks at clock and keyboard: some 20 ms


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
