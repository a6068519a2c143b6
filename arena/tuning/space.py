"""The search space: ranges in the units of the game, and points in the unit cube."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Point = NDArray[np.float64]  # one number from 0 to 1 for each tuned weight
Value = float | str  # also true and false
Params = dict[str, Value]  # of a trial in Optuna

PRECISION = 3  # candidates play with weights of three decimals
WEIGHTS = "weights"


class Axis(NamedTuple):
    """The range of a weight, of one phase of a weight, or of an option; or its choices."""

    name: str
    low: float
    high: float
    log: bool = False
    integer: bool = False
    choices: tuple[Value, ...] = ()  # then the range is that of their indices
    path: tuple[str, ...] = ()  # in the agent's table; empty: the weight of this name

    @property
    def place(self) -> tuple[str, ...]:
        """The path in the agent's table."""
        return self.path or (WEIGHTS, self.name)

    @property
    def steps(self) -> float:
        """The number of steps between both ends; infinite for real numbers."""
        return self.high - self.low if self.integer or self.choices else math.inf

    @property
    def range_text(self) -> str:
        """The range in words."""
        if self.choices:
            return " or ".join(map(value_text, self.choices))
        kinds = {", log": self.log, ", whole numbers": self.integer}
        return f"{self.low:g} to {self.high:g}{''.join(w for w, holds in kinds.items() if holds)}"

    def number_at(self, unit: float) -> float:
        """Return the number at a share of the range, not rounded; of a choice its index."""
        if self.log:
            return float(self.low * (self.high / self.low) ** unit)
        return self.low + unit * (self.high - self.low)

    def value_at(self, unit: float) -> Value:
        """Return the value that a candidate plays with at a share of the range."""
        number = self.number_at(unit)
        if self.choices:
            return self.choices[round(self._clip(number))]
        return self._clip(float(round(number)) if self.integer else round(number, PRECISION))

    def unit_of(self, value: Value) -> float:
        """Return the share of the range below a value."""
        number = float(self.choices.index(value)) if self.choices else value
        assert not isinstance(number, str)  # only choices are texts
        if self.log:
            return math.log(number / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)

    def param_at(self, unit: float) -> Value:
        """Return the parameter for Optuna at a share of the range: real numbers are not rounded."""
        if self.choices:
            return self.value_at(unit)
        return int(self.value_at(unit)) if self.integer else self._clip(self.number_at(unit))

    def distribution(self) -> "BaseDistribution":
        """Return the range as Optuna has it."""
        from optuna.distributions import (  # noqa: PLC0415  # Optuna takes half a second to load
            CategoricalDistribution,
            FloatDistribution,
            IntDistribution,
        )

        if self.choices:
            return CategoricalDistribution(self.choices)
        if self.integer:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    def _clip(self, number: float) -> float:
        return min(max(number, self.low), self.high)


class Space(NamedTuple):
    """The tuned part of an agent, and the other weights and tables that the tuned part joins."""

    axes: tuple[Axis, ...]
    fixed: Mapping[str, tuple[float, ...]]  # weights, one number for each phase
    tables: Mapping[str, Mapping[str, object]] = {}  # options that are tables and partly tuned

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes, in the order of a point."""
        return tuple(axis.name for axis in self.axes)

    def values(self, point: Sequence[float] | Point) -> dict[str, Value]:
        """Return the values that a candidate plays with at a point."""
        pairs = zip(self.axes, point, strict=True)
        return {axis.name: axis.value_at(float(unit)) for axis, unit in pairs}

    def params_to_play(self, point: Sequence[float] | Point) -> Params:
        """Return the same values as parameters of Optuna."""
        values = self.values(point)
        return {a.name: int(values[a.name]) if a.integer else values[a.name] for a in self.axes}

    def params(self, point: Sequence[float] | Point) -> Params:
        """Return the parameters for Optuna at a point, not rounded."""
        pairs = zip(self.axes, point, strict=True)
        return {axis.name: axis.param_at(float(unit)) for axis, unit in pairs}

    def distributions(self) -> "dict[str, BaseDistribution]":
        """Return the ranges as Optuna has them."""
        return {axis.name: axis.distribution() for axis in self.axes}

    def weights(self, point: Sequence[float] | Point) -> dict[str, tuple[float, ...]]:
        """Return all weights of the agent at a point, as a spec holds them."""
        tuned = dict[str, tuple[float, ...]]()
        for axis, value in zip(self.axes, self.values(point).values(), strict=True):
            if axis.place[0] == WEIGHTS:
                assert not isinstance(value, str)
                tuned[axis.place[1]] = (*tuned.get(axis.place[1], ()), value)
        return {**self.fixed, **tuned}

    def changes(self, point: Sequence[float] | Point) -> dict[str, object]:
        """Return the options that a candidate at a point has in place of those of the spec."""
        weights = self.weights(point)
        changed: dict[str, object] = {WEIGHTS: weights} if weights else {}
        tables = {name: dict(table) for name, table in self.tables.items()}
        for axis, value in zip(self.axes, self.params_to_play(point).values(), strict=True):
            if axis.place[0] in tables:
                tables[axis.place[0]][axis.place[1]] = value
            elif axis.place[0] != WEIGHTS:
                changed[axis.place[0]] = value
        return {**changed, **tables}

    def point(self, values: Mapping[str, Value]) -> Point:
        """Return the point of some values."""
        return np.array([axis.unit_of(values[axis.name]) for axis in self.axes])

    def round_point(self, point: Sequence[float] | Point) -> Point:
        """Return the point of the values that a candidate plays with."""
        return self.point(self.values(np.clip(point, 0.0, 1.0)))


def value_text(value: Value) -> str:
    """Return a value as a file holds it, with at most six digits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else f"{value:g}"


def values_text(values: Mapping[str, Value]) -> str:
    """Return named values in one phrase."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in values.items())
