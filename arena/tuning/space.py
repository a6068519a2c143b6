"""The weights that are tuned: ranges on the scale of the game, points in the unit cube."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = NDArray[np.float64]  # one number from 0 to 1 for every tuned weight

PRECISION = 3  # a search keeps weights in whole thousandths


class Axis(NamedTuple):
    """The range of one weight."""

    name: str
    low: float
    high: float
    log: bool = False
    integer: bool = False

    def weight(self, unit: float) -> float:
        """The weight at `unit` of the way through the range."""
        if self.log:
            value = self.low * (self.high / self.low) ** unit
        else:
            value = self.low + unit * (self.high - self.low)
        rounded = float(round(value)) if self.integer else round(value, PRECISION)
        return min(max(rounded, self.low), self.high)

    def unit(self, weight: float) -> float:
        """How far through the range the weight lies."""
        if self.log:
            return math.log(weight / self.low) / math.log(self.high / self.low)
        return (weight - self.low) / (self.high - self.low)


class Space(NamedTuple):
    """All weights of an agent: some are tuned, the others stay."""

    axes: tuple[Axis, ...]
    fixed: Mapping[str, tuple[float, ...]]  # one number a phase

    @property
    def names(self) -> tuple[str, ...]:
        """The weights that are tuned, in the order of a point."""
        return tuple(axis.name for axis in self.axes)

    def values(self, point: Sequence[float] | Point) -> dict[str, float]:
        """The tuned weights at a point."""
        pairs = zip(self.axes, point, strict=True)
        return {axis.name: axis.weight(float(unit)) for axis, unit in pairs}

    def weights(self, point: Sequence[float] | Point) -> dict[str, tuple[float, ...]]:
        """All weights of the agent at a point, as a spec holds them."""
        return {**self.fixed, **{name: (w,) for name, w in self.values(point).items()}}

    def point(self, values: Mapping[str, float]) -> Point:
        """Where these weights lie."""
        return np.array([axis.unit(values[axis.name]) for axis in self.axes])

    def snapped(self, point: Sequence[float] | Point) -> Point:
        """The nearest point that a search can tell from others, inside the cube."""
        return self.point(self.values(np.clip(point, 0.0, 1.0)))
