"""The other way to bind kernels to a game: overloads on the types of its states and masks.

Kept only to be compared with `games.kernels.jit.specialise` by `benchmarks.dispatch`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from games.kernels import drivers, family
from games.kernels.jit import compiled
from games.othello import bitboard
from games.sowing import packed


class PackedMask(NamedTuple):
    """Moves of a packed sowing state: a type of their own, for `lowest` is found by type."""

    word: np.uint64


class BitboardMask(NamedTuple):
    """Moves of an Othello bitboard."""

    word: np.uint64


MASKS: Mapping[ModuleType, type] = {packed: PackedMask, bitboard: BitboardMask}
ON_MASK = ("none", "lowest", "rest", "count", "plies")
ON_STATE = ("over", "play", "turned", "final")
FIRST = ("turned", *ON_MASK)  # take what they are found by first, the others second


def bodies(of: Any, mask: Any) -> dict[str, Callable[..., Any]]:
    """The family's functions in plain Python, with its masks in and out of their own type."""
    moves, none, lowest, rest = of.moves, of.none, of.lowest, of.rest
    count, plies = of.count, of.plies
    on_mask: dict[str, Callable[..., Any]] = {
        "moves": lambda ctx, s: mask(moves(ctx, s)),
        "none": lambda m: none(m.word),
        "lowest": lambda m: lowest(m.word),
        "rest": lambda m: mask(rest(m.word)),
        "count": lambda m: count(m.word),
        "plies": lambda m: mask(plies(m.word)),
    }
    return on_mask | {name: getattr(of, name).py_func for name in ON_STATE}


def register(name: str, kind: type, body: Callable[..., Any], options: Any) -> None:
    """Make `body` what the family's stub `name` means for states or masks of `kind`."""
    place = 0 if name in FIRST else 1

    def chosen(*given: Any) -> Callable[..., Any] | None:
        at = given[place]
        ours = isinstance(at, types.NamedUniTuple) and at.instance_class is kind
        return body if ours else None

    overload(getattr(family, name), strict=False, jit_options=options)(chosen)


@cache
def kernels() -> SimpleNamespace:
    """`count_plies` and `play_random`, each one function for all games."""
    for of, mask in MASKS.items():
        # What `games.kernels.jit` asks of the real ones, whatever that is.
        asked: Any = of.play
        known = ("forceinline", "error_model", "_nrt")
        options = {key: asked.targetoptions[key] for key in known if key in asked.targetoptions}
        for name, body in bodies(of, mask).items():
            register(name, mask if name in ON_MASK else of.State, body, options)
    scope: dict[str, Any] = dict(vars(drivers))
    for template in (drivers.count_plies, drivers.play_random):
        twin = FunctionType(template.__code__, scope, template.__name__)
        twin.__qualname__, twin.__module__ = f"{template.__name__}_overload", template.__module__
        scope[template.__name__] = compiled(twin)
    return SimpleNamespace(**scope)
