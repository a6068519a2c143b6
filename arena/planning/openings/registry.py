"""The table."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from arena.planning.openings.openings import (
    NO_MOVE,
    Openings,
    OpeningsError,
    first_openings,
    first_sides,
    from_lines,
    moves_of,
)
from arena.planning.plan import OpeningsSpec
from games import Game
from games.base.schema import Fault, Key, KeyValues

__all__ = [
    "NO_MOVE",
    "OPENINGS",
    "Openings",
    "OpeningsError",
    "first_openings",
    "first_sides",
    "from_lines",
    "make_openings",
    "moves_of",
    "way",
]

OPENINGS: Mapping[str, str] = {
    "none": "arena.planning.openings.none",
    "random": "arena.planning.openings.random",
    "enumerate": "arena.planning.openings.enumerate",
    "list": "arena.planning.openings.list",
    "exact": "arena.planning.openings.exact",
    "plies": "arena.planning.openings.mixed_plies",
}
COMMON_KEYS = (
    Key("balance", "float", "keep openings that a shallow search values so", low=0),
    Key("repeat", "bool", "play them again when there are too few", False),
)


class OpeningMethod(Protocol):
    """A module of openings."""

    KEYS: Sequence[Key]  # the first asks for it in a file
    WORD: bool  # whether the plain name may be written, for the keys' defaults
    EXAMPLES: Sequence[str]
    MORE: str  # how to get more of them, in words

    def count(self, values: KeyValues) -> int | None:
        """The number of openings; None if only drawing them shows it."""

    def faults(self, spec: OpeningsSpec, of: Game | None) -> Iterator[Fault]:
        """Values that are wrong or do not fit the game."""

    def openings(self, of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
        """At least `pairs` openings, or all there are."""


def way(name: str) -> OpeningMethod:
    """The module behind a name in `OPENINGS`."""
    return cast(OpeningMethod, importlib.import_module(OPENINGS[name]))


def make_openings(of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Openings for `pairs` pairs; OpeningsError gives their number if there are too few."""
    openings = way(spec.way).openings(of, spec, pairs, seed)
    if len(openings) == 0:
        raise OpeningsError(f"no opening is left to play: {advice_for_more(spec)}")
    if len(openings) < pairs and not spec.repeat:
        raise OpeningsError(
            f"pairs must be at most {len(openings)}, the distinct openings of {of.name} with "
            f"{openings_text(spec)}, got {pairs}; {advice_for_more(spec)}"
        )
    return first_openings(openings, pairs)


def openings_text(spec: OpeningsSpec) -> str:
    """The openings in the words of the experiment file."""
    key = way(spec.way).KEYS[0]
    words = f"{key.name} = {spec.values[key.name]}" if key.type in ("int", "any") else key.name
    return words if spec.balance is None else f"{words}, balance = {spec.balance:g}"


def advice_for_more(spec: OpeningsSpec) -> str:
    """Return what the user can do about too few openings."""
    balance = "" if spec.balance is None else ", a wider balance"
    return (
        f"ask for fewer pairs, {way(spec.way).MORE}{balance}, or say repeat = true "
        "if an agent varies its play"
    )
