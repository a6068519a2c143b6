"""The constraints of `[tune]`: `"corner >= edge"` keeps one weight from falling below another."""

import re
from collections.abc import Iterator, Mapping, Sequence

from arena.tuning.space import Axis, Constraint, Value, value_text
from games.base.text import did_you_mean, listed, quoted

FORM = re.compile(r"\s*(\S+)\s*(>=|<=)\s*(\S+)\s*")


def constraint_of(text: str, axes: Sequence[Axis]) -> Constraint:
    """The constraint that is written; a ValueError says why it is none."""
    found, names = FORM.fullmatch(text), [axis.name for axis in axes]
    if found is None:
        raise ValueError(f'must be like "corner >= edge", got {quoted(text)}')
    first, sign, second = found.groups()
    for name in (first, second):
        if name not in names:
            known = f"tuned are {listed(names)}"
            raise ValueError(f"{quoted(name)} is not tuned ({known}){did_you_mean(name, names)}")
    upper, lower = (first, second) if sign == ">=" else (second, first)
    made = Constraint(names.index(upper), names.index(lower))
    if fault := impossible(axes[made.upper], axes[made.lower]):
        raise ValueError(fault)
    return made


def impossible(upper: Axis, lower: Axis) -> str:
    """Why no values of both would do; empty if some would."""
    if upper.name == lower.name:
        return f"compares {upper.name} with itself"
    for axis in (upper, lower):
        if axis.choices:
            return f"{axis.name} is one of several choices, which have no order"
    if upper.high < lower.low:
        most, least = (
            f"{upper.name} is at most {upper.high:g}",
            f"{lower.name} at least {lower.low:g}",
        )
        return f"cannot hold: {most}, {least}"
    return ""


def broken(
    constraints: Sequence[Constraint], axes: Sequence[Axis], values: Mapping[str, Value]
) -> Iterator[str]:
    """The constraints that some values break, in words."""
    for each in constraints:
        upper, lower = axes[each.upper].name, axes[each.lower].name
        high, low = values[upper], values[lower]
        assert not isinstance(high, str)  # choices are in no constraint
        assert not isinstance(low, str)
        if high < low:
            yield (
                f"{upper} >= {lower} does not hold where the search begins: the agent has "
                f"{upper} = {value_text(high)} and {lower} = {value_text(low)}"
            )
