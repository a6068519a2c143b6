"""Bind kernels to a game by overloads on the types of its states and masks.

Kept only for the comparison with `games.kernels.jit.specialise` in `benchmarks.dispatch`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from games.kernels import drivers, family
from games.kernels.jit import compile_kernel
from games.othello import bitboard
from games.sowing import packed


class PackedMask(NamedTuple):
    """Moves of a packed sowing state; a separate type, because it selects the overload."""

    word: np.uint64


class BitboardMask(NamedTuple):
    """Moves of an Othello bitboard."""

    word: np.uint64


MASKS: Mapping[ModuleType, type] = {packed: PackedMask, bitboard: BitboardMask}
ON_MASK = ("none", "lowest", "rest", "count", "plies")
ON_STATE = ("over", "play", "turned", "final")
FIRST = ("turned", *ON_MASK)  # their first argument selects the overload, else the second


def bodies(of: Any, mask: Any) -> dict[str, Callable[..., Any]]:
    """Return the family's functions in plain Python, with masks wrapped in `mask`."""
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
    """Register `body` as the overload of the family's stub `name` for `kind`."""
    place = 0 if name in FIRST else 1

    def select_body(*given: Any) -> Callable[..., Any] | None:
        at = given[place]
        ours = isinstance(at, types.NamedUniTuple) and at.instance_class is kind
        return body if ours else None

    overload(getattr(family, name), strict=False, jit_options=options)(select_body)


@cache
def kernels() -> SimpleNamespace:
    """Return `count_plies` and `play_random`, each compiled once for all games."""
    for of, mask in MASKS.items():
        # The compiler options of the real kernels, set by `games.kernels.jit`.
        real: Any = of.play
        known = ("forceinline", "error_model", "_nrt")
        options = {key: real.targetoptions[key] for key in known if key in real.targetoptions}
        for name, body in bodies(of, mask).items():
            register(name, mask if name in ON_MASK else of.State, body, options)
    scope: dict[str, Any] = dict(vars(drivers))
    for template in (drivers.count_plies, drivers.play_random):
        twin = FunctionType(template.__code__, scope, template.__name__)
        twin.__qualname__, twin.__module__ = f"{template.__name__}_overload", template.__module__
        scope[template.__name__] = compile_kernel(twin)
    return SimpleNamespace(**scope)
