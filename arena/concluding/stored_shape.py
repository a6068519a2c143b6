"""The shape that a stored JSON file must have, and where in it that is not so."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, get_args

from games.base.schema import Key, KeyType


class OrNone(NamedTuple):
    """A shape that may be null; `missing`: that may not be there, too."""

    of: "Shape"
    missing: bool = True


# A type of `games.keys`; a list whose items are all of one shape; a table with these keys at least.
Shape: TypeAlias = "KeyType | OrNone | list[Shape] | Mapping[str, Shape]"


def misshapen(value: object, shape: Shape, place: str) -> str | None:
    """The first thing that is not of its shape, in one line; None if there is none."""
    if isinstance(shape, OrNone):
        return None if value is None else misshapen(value, shape.of, place)
    if isinstance(shape, list):
        return _list(value, shape[0], place)
    if isinstance(shape, Mapping):
        return _table(value, shape, place)
    assert shape in get_args(KeyType)
    return next((message for _, message in Key(place, shape, "").faults(value)), None)


def _list(value: object, item: Shape, place: str) -> str | None:
    if not isinstance(value, list):
        return misshapen(value, "texts", place)
    faults = (misshapen(each, item, f"{place}[{at}]") for at, each in enumerate(value))
    return next(filter(None, faults), None)


def _table(value: object, keys: Mapping[str, Shape], place: str) -> str | None:
    if not isinstance(value, dict):
        return misshapen(value, "table", place)
    for name, shape in keys.items():
        if name not in value and not (isinstance(shape, OrNone) and shape.missing):
            return f"{place} has no {name}"
        if fault := misshapen(value.get(name), shape, f"{place}.{name}"):
            return fault
    return None
