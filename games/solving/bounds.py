"""What is known of a value, and how long one may look for more."""

import time
from dataclasses import dataclass
from typing import NamedTuple

WORDS = {1: "win", 0: "draw", -1: "loss"}
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
        """Whether only one value is left."""
        return self.low == self.high

    @property
    def outcome(self) -> str | None:
        """`win`, `draw` or `loss` of the side to move; None if it is not known yet."""
        return WORDS[sign(self.low)] if sign(self.low) == sign(self.high) else None

    def turned(self) -> "Bounds":
        """The same seen by the other side."""
        return Bounds(-self.high, -self.low)

    def narrowed(self, bound: int, value: int) -> "Bounds":
        """After the question "at least `bound`?" was answered by `value`."""
        if value >= bound:
            return Bounds(max(self.low, value), self.high)
        return Bounds(self.low, min(self.high, value))


@dataclass(frozen=True, slots=True)
class Budget:
    """How long one may look: nodes repeat everywhere, seconds do not; None has no end."""

    nodes: int | None = None
    seconds: float | None = None


UNLIMITED = Budget()


class Allowance:
    """What is left of a budget; several questions may share one."""

    def __init__(self, budget: Budget) -> None:
        """The time begins now."""
        self.nodes = budget.nodes
        self.deadline = None if budget.seconds is None else time.monotonic() + budget.seconds

    def next_slice(self) -> int:
        """Nodes that may be looked at before the next look at the clock; 0 at the end."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return 0
        return SLICE if self.nodes is None else min(self.nodes, SLICE)

    def spend(self, nodes: int) -> None:
        """These nodes were looked at."""
        if self.nodes is not None:
            self.nodes = max(0, self.nodes - nodes)
