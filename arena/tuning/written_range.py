"""One range as `[tune]` holds it: two numbers, or a table of them with what else is said."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from arena.tuning.space import Value
from games.keys import Key, KeyValues, defaults
from games.names import did_you_mean, listed, quoted, shown

MOST_PHASES = 8  # of a weight
MOST_CHOICES = 50
CHOICES = f"choices must be 2 to {MOST_CHOICES} different numbers or texts"
RANGE = (
    Key("range", "numbers", "the lowest and the highest value"),
    Key("choices", "any", "all values that it may have, instead of a range"),
    Key("log", "bool", "whether it is searched by orders of magnitude", False),
    Key("integer", "bool", "whether only whole numbers are used", False),
    Key("phases", "int", "into how many parts of the game a weight is cut", 1, 1, MOST_PHASES),
)


class RangeTable(NamedTuple):
    """A range, written out; or choices, and then no range."""

    range: tuple[float, ...]
    choices: tuple[Value, ...]
    log: bool
    integer: bool
    phases: int


def written_range(name: str, value: object, or_number: bool = False) -> RangeTable:
    """The range that is written; a ValueError says why there is none.

    `or_number`: whether a number could stand there as well.
    """
    table = value if isinstance(value, dict) else {"range": value}
    if value and isinstance(value, dict) and (fault := _table_fault(value)):
        raise ValueError(f"{name}: {fault}")
    ranged = _ranged(table)
    if ranged is None:
        raise ValueError(
            f"{name} must be {'a number, ' if or_number else ''}a range like [0.5, 5.0], "
            f"{{ range = [0.5, 5.0], log = true }} or {{ choices = [1, 2, 4] }}, "
            f"got {shown(value)}"
        )
    return ranged


def _table_fault(table: KeyValues) -> str:
    """What is wrong with one key of a table, or with two together; empty if it is no key."""
    keys = {key.name: key for key in RANGE}
    for name, value in table.items():
        if name not in keys:
            return (
                f"unknown key {quoted(name)} (there are {listed(keys)}){did_you_mean(name, keys)}"
            )
        for _, message in keys[name].faults(value):
            return message
    if "choices" not in table:
        return "" if "range" in table else "range is missing, as in { range = [0.5, 5.0] }"
    if len(table) > 1:
        return f"choices stand alone, without {next(name for name in table if name != 'choices')}"
    return "" if fits(table["choices"]) else CHOICES


def _ranged(table: KeyValues) -> RangeTable | None:
    """The range in a table without faults; None if there are no numbers in it."""
    values = {**defaults(RANGE), **table}
    if "choices" in table:
        return RangeTable((), tuple(values["choices"]), False, False, 1)
    if list(RANGE[0].faults(values["range"])):
        return None
    numbers = tuple(map(float, values["range"]))
    return RangeTable(numbers, (), values["log"], values["integer"], values["phases"])


def fits(choices: object) -> bool:
    """Whether it is a list of several numbers or texts, none of them twice."""
    if not isinstance(choices, list | tuple) or not 2 <= len(choices) <= MOST_CHOICES:
        return False
    return all(map(is_value, choices)) and len(set(choices)) == len(choices)


def is_value(value: object) -> bool:
    """Whether it is text, true, false or a finite number."""
    return isinstance(value, str | bool) or is_number(value)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def range_fault(name: str, ranged: RangeTable, seeds: Sequence[float]) -> str:
    """Why a range cannot be used, with the values before tuning; empty if it can."""
    if len(ranged.range) != 2:
        return f"{name} needs a lowest and a highest value, got {shown(ranged.range)}"
    low, high = ranged.range
    room, whole = f"[{low:g}, {high:g}]", all(number.is_integer() for number in ranged.range)
    outside = [seed for seed in seeds if not low <= seed <= high]
    broken = [seed for seed in seeds if not float(seed).is_integer()]
    wrong = {
        f"{name} has an empty range: the lowest value comes first, got {room}": not low < high,
        f"{name} has a log range, which must lie above 0, got {room}": ranged.log and low <= 0,
        f"{name} is a whole number, so its range must end in whole numbers, got {room}": (
            ranged.integer and not whole
        ),
        f"{name} leaves no room for the seed weight: it is {_first(outside)} in the agent, outside "
        f"{room}; widen the range, or give the agent other weights": low < high and bool(outside),
        f"{name} is a whole number, but the seed weight is {_first(broken)}": (
            ranged.integer and bool(broken)
        ),
    }
    return next((message for message, holds in wrong.items() if holds), "")


def _first(numbers: Sequence[float]) -> str:
    return f"{numbers[0]:g}" if numbers else ""
