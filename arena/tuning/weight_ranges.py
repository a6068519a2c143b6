"""The weights of `[tune]` read as a space: ranges to search, numbers that stay."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from agents import AgentSpec
from agents.core import Weights
from arena.reading.problems import Problems, near
from arena.tuning.space import Axis, Space
from arena.tuning.start_weights import seed_of, seed_weights
from arena.tuning.tune_table import TuneTable, say_of_tune
from games import Game
from games.keys import Key, KeyValues, defaults
from games.names import listed, quoted, shown

RANGE = (
    Key("range", "numbers", "the lowest and the highest value"),
    Key("log", "bool", "whether it is searched by orders of magnitude", False),
    Key("integer", "bool", "whether only whole numbers are used", False),
)


class RangeTable(NamedTuple):
    """The range of one weight, written out."""

    range: tuple[float, ...]
    log: bool
    integer: bool


class StartWeights(NamedTuple):
    """An agent's weights before tuning, and the names its weights may have; None if any."""

    weights: Weights
    names: Sequence[str] | None


def read_space(
    table: TuneTable, spec: AgentSpec, of: Game, problems: Problems
) -> tuple[Space, dict[str, float]]:
    """The space to search and where in it the agent is now; what is wrong is said."""
    names, weights = seed_weights(spec, of)
    start = StartWeights(weights, names)
    axes = [
        axis
        for name, value in table.weights.items()
        if (axis := read_axis(name, value, start, problems))
    ]
    numbers = {name: float(value) for name, value in table.weights.items() if is_number(value)}
    if len(numbers) == len(table.weights):
        message = "no weight has a range, as in weights = { pot = [0.5, 5.0] }"
        say_of_tune(problems, message, "weights")
    fixed = {name: values for name, values in weights.items() if name not in table.weights}
    fixed |= {name: (number,) for name, number in numbers.items()}
    return Space(tuple(axes), fixed), {axis.name: seed_of(axis.name, weights) for axis in axes}


def read_axis(name: str, value: object, start: StartWeights, problems: Problems) -> Axis | None:
    """The range of one weight; None if it is a number, or wrong, which is said."""
    if start.names is not None and name not in start.names:
        known = f"there are {listed(start.names)}"
        message = f"unknown weight {quoted(name)} ({known}){near(name, start.names)}"
        say_of_tune(problems, message, "weights", name)
        return None
    if is_number(value):
        return None
    table = value if isinstance(value, dict) else {"range": value}
    ranged = _ranged(table)
    if ranged is None:
        message = (
            f"{name} must be a number, a range like [0.5, 5.0], or "
            f"{{ range = [0.5, 5.0], log = true }}, got {shown(value)}"
        )
        say_of_tune(problems, message, "weights", name)
        return None
    if message := range_problem(name, ranged, start.weights):
        say_of_tune(problems, message, "weights", name)
        return None
    low, high = ranged.range
    return Axis(name, low, high, ranged.log, ranged.integer)


def _ranged(table: KeyValues) -> RangeTable | None:
    """The range in a table; None if the table is not right."""
    values = {**defaults(RANGE), **table}
    fits = values.keys() == defaults(RANGE).keys()
    if not fits or any(list(key.faults(values[key.name])) for key in RANGE):
        return None
    return RangeTable(tuple(map(float, values["range"])), values["log"], values["integer"])


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def range_problem(name: str, ranged: RangeTable, seeds: Weights) -> str:
    """Why a range cannot be used; empty if it can."""
    if len(ranged.range) != 2:
        return f"{name} needs a lowest and a highest value, got {shown(ranged.range)}"
    low, high = ranged.range
    seed, room = seed_of(name, seeds), f"[{low:g}, {high:g}]"
    whole = all(number.is_integer() for number in ranged.range)
    wrong = {
        f"{name} has an empty range: the lowest value comes first, got {room}": not low < high,
        f"{name} has a log range, which must lie above 0, got {room}": ranged.log and low <= 0,
        f"{name} is a whole number, so its range must end in whole numbers, got {room}": (
            ranged.integer and not whole
        ),
        f"{name} has a weight for each phase of the game; only single numbers are tuned": (
            len(seeds.get(name, (0.0,))) > 1
        ),
        f"{name} leaves no room for the seed weight: it is {seed:g} in the agent, outside "
        f"{room}; widen the range, or give the agent other weights": (
            low < high and not low <= seed <= high
        ),
        f"{name} is a whole number, but the seed weight is {seed:g}": (
            ranged.integer and not seed.is_integer()
        ),
    }
    return next((message for message, holds in wrong.items() if holds), "")
