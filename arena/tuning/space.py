"""What is tuned: ranges on the scale of the game, points in the unit cube."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = NDArray[np.float64]  # one number from 0 to 1 for every tuned weight
Value = float | str  # true and false are numbers here

PRECISION = 3  # a search keeps weights in whole thousandths
WEIGHTS = "weights"


class Axis(NamedTuple):
    """The range of one weight, of one phase of it, or of an option; or all that it may be."""

    name: str
    low: float
    high: float
    log: bool = False
    integer: bool = False
    choices: tuple[Value, ...] = ()  # the range is that of their places
    path: tuple[str, ...] = ()  # where it stands in the agent's table; left out: in its weights

    @property
    def place(self) -> tuple[str, ...]:
        """Where it stands in the table of the agent."""
        return self.path or (WEIGHTS, self.name)

    @property
    def steps(self) -> float:
        """How many steps lie between its ends; infinite where any number may be taken."""
        return self.high - self.low if self.integer or self.choices else math.inf

    @property
    def room(self) -> str:
        """The range in words."""
        if self.choices:
            return " or ".join(map(value_text, self.choices))
        kinds = {", log": self.log, ", whole numbers": self.integer}
        return f"{self.low:g} to {self.high:g}{''.join(w for w, holds in kinds.items() if holds)}"

    def number(self, unit: float) -> float:
        """The number at `unit` of the way through the range, not rounded; of a choice its place."""
        if self.log:
            return float(self.low * (self.high / self.low) ** unit)
        return self.low + unit * (self.high - self.low)

    def weight(self, unit: float) -> Value:
        """What is taken at `unit` of the way through the range."""
        if self.choices:
            return self.choices[round(min(max(self.number(unit), self.low), self.high))]
        return self.nearest(self.number(unit))

    def nearest(self, number: float) -> float:
        """The nearest number that may be taken."""
        rounded = float(round(number)) if self.integer else round(number, PRECISION)
        return min(max(rounded, self.low), self.high)

    def unit(self, weight: Value) -> float:
        """How far through the range it lies."""
        number = float(self.choices.index(weight)) if self.choices else weight
        assert not isinstance(number, str)  # only choices are texts
        if self.log:
            return math.log(number / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)


class Space(NamedTuple):
    """Everything that is tuned of an agent, and what stays beside it."""

    axes: tuple[Axis, ...]
    fixed: Mapping[str, tuple[float, ...]]  # weights, one number a phase
    tables: Mapping[str, Mapping[str, object]] = {}  # options that are tables, of which a part is

    @property
    def names(self) -> tuple[str, ...]:
        """What is tuned, in the order of a point."""
        return tuple(axis.name for axis in self.axes)

    def values(self, point: Sequence[float] | Point) -> dict[str, Value]:
        """What is tuned, at a point."""
        pairs = zip(self.axes, point, strict=True)
        return {axis.name: axis.weight(float(unit)) for axis, unit in pairs}

    def weights(self, point: Sequence[float] | Point) -> dict[str, tuple[float, ...]]:
        """All weights of the agent at a point, as a spec holds them."""
        tuned = dict[str, tuple[float, ...]]()
        for axis, value in zip(self.axes, self.values(point).values(), strict=True):
            if axis.place[0] == WEIGHTS:
                assert not isinstance(value, str)  # a weight is a number
                tuned[axis.place[1]] = (*tuned.get(axis.place[1], ()), value)
        return {**self.fixed, **tuned}

    def changes(self, point: Sequence[float] | Point) -> dict[str, object]:
        """The options of the agent that differ from those of its spec at a point."""
        weights = self.weights(point)
        changed: dict[str, object] = {WEIGHTS: weights} if weights else {}
        tables = {name: dict(table) for name, table in self.tables.items()}
        for axis, value in zip(self.axes, self.values(point).values(), strict=True):
            whole = int(value) if axis.integer else value
            if axis.place[0] in tables:
                tables[axis.place[0]][axis.place[1]] = whole
            elif axis.place[0] != WEIGHTS:
                changed[axis.place[0]] = whole
        return {**changed, **tables}

    def point(self, values: Mapping[str, Value]) -> Point:
        """Where these values lie."""
        return np.array([axis.unit(values[axis.name]) for axis in self.axes])

    def snapped(self, point: Sequence[float] | Point) -> Point:
        """The nearest point in the cube that a search can tell from others."""
        return self.point(self.values(np.clip(point, 0.0, 1.0)))


def value_text(value: Value) -> str:
    """A value as files hold it, short."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:g}"


def values_text(values: Mapping[str, Value]) -> str:
    """Some values in one phrase."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in values.items())
