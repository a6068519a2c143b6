"""Bind names in a user's evaluation, and suggest the right ones."""

import builtins
import dis
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

from agents.search.bind import bound_words, called_features, feature_names, interpreted_words
from games import Game
from games.base.text import MISTYPED, nearest, quote
from games.kernels.family import State
from games.kernels.jit import MERGED, OPTIONS, CompileOptions, Kernel, Scope, inlined, unbound
from games.kernels.quad import Quad
from games.parts import board_words
from games.user_games.load import codes, copied

Names = Mapping[str, object]
Restore = Callable[[State], State]
# Counts that families return as unsigned words; `a - b` in a user's file must go below 0.
COUNTS = ("held", "facing_held", "pot_beans", "row_beans", "first_slot", "end_slot", "lowest")
# As our own kernels, but division by zero is an error, as it is in Python.
FAST = OPTIONS | MERGED | {"error_model": "python"}
# The same for code that makes lists or arrays, whose memory must be counted.
ALLOCATING: CompileOptions = {
    "nogil": True,
    "error_model": "python",
    "no_cfunc_wrapper": True,
}


def user_names(family_name: str) -> Scope:
    """What our names mean in a user's compiled evaluation."""
    names = bound_words(family_name)
    return names | {name: signed(names[name]) for name in COUNTS if name in names}


def signed(count: Kernel) -> Kernel:
    """The same count as a signed number."""

    def number(*arguments: object) -> np.int64:
        return np.int64(count(*arguments))

    return inlined(number)


def plain_names(family_name: str, restored: Restore) -> Scope:
    """What our names mean when the user's evaluation is run by Python."""
    bound, counted = called_features(family_name), feature_names(family_name)
    words = {k: v for k, v in interpreted_words(family_name).items() if k not in counted}
    return words | {
        name: with_words(value, bound["State"], restored) if callable(value) else value
        for name, value in bound.items()
        if not isinstance(value, type)
    }


def with_words(function: Kernel, state: type, restored: Restore) -> Kernel:
    """A compiled function for Python to call: the words of states it returns are uint64 again."""

    def words(value: object) -> object:
        if isinstance(value, Quad):
            return Quad(*map(np.uint64, value))
        if isinstance(value, state):
            return restored(value)
        if isinstance(value, int) and value >= 1 << 63:  # else Numba takes it for an int64
            return np.uint64(value)
        return tuple(map(words, value)) if isinstance(value, tuple) else value

    @wraps(getattr(function, "py_func", function))
    def called(*arguments: object) -> object:
        return words(function(*arguments))

    return called


def ours(value: object) -> bool:
    """Whether a global of the user's file is a function that we bind."""
    plain = unbound(value)
    return isinstance(plain, FunctionType) and _is_our_module(plain.__module__)


def _is_our_module(name: str) -> bool:
    return name.partition(".")[0] in ("agents", "games")


def global_names(function: FunctionType) -> dict[str, int]:
    """The names that the function reads from its file, each with the line that does so first."""
    lines: dict[str, int] = {}
    for code in codes(function.__code__):
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                line = step.positions and step.positions.lineno
                lines.setdefault(step.argval, line or code.co_firstlineno)
    return lines


def users_functions(function: FunctionType) -> list[FunctionType]:
    """The function, then every function of the user's that it calls."""
    needed = [function]
    for each in needed:
        for name in global_names(each):
            value = each.__globals__.get(name)
            plain = unbound(value)
            if isinstance(plain, FunctionType) and not ours(value) and plain not in needed:
                needed.append(plain)
    return needed


def missing_name(function: FunctionType, instead_of: Callable[[str, Collection[str]], str]) -> str:
    """Where the user's functions use a name that is not defined; empty if they use none.

    `instead_of` says what to write instead, from the name and those that are known there.
    """
    for each in users_functions(function):
        known = {**each.__globals__, **vars(builtins)}
        for name, line in global_names(each).items():
            if name not in known:
                near = [each for each in (*each.__code__.co_varnames, *known) if each[0] != "_"]
                return f"line {line}: name {name} is not defined{instead_of(name, near)}"
    return ""


def in_scope(value: object, names: Names) -> object:
    """What a global of the user's file means in a copy."""
    if ours(value):
        return names.get(unbound(value).__name__, value)
    if isinstance(value, ModuleType) and _is_our_module(value.__name__):
        module = ModuleType(value.__name__)
        vars(module).update(
            {name: in_scope(each, names) for name, each in vars(value).items() if ours(each)}
        )
        return module
    return value


def compiled_copy(function: FunctionType, names: Names, options: CompileOptions) -> Any:
    """A compiled copy with our names bound; the user's own helpers are copied along."""
    needed = users_functions(function)
    scopes = [{k: in_scope(v, names) for k, v in each.__globals__.items()} for each in needed]
    compile_ = numba.njit(**options)
    made = {each: compile_(copied(each, scope)) for each, scope in zip(needed, scopes, strict=True)}
    for scope in scopes:
        for name, value in scope.items():
            plain = unbound(value)
            if isinstance(plain, FunctionType) and plain in made:
                scope[name] = made[plain]
    return made[function]


def plain_copy(function: FunctionType, names: Names) -> FunctionType:
    """A Python copy with our names bound; the user's own helpers are copied along."""
    scope = {k: in_scope(v, names) for k, v in function.__globals__.items()}
    for name, value in scope.items():
        if isinstance(unbound(value), FunctionType) and not ours(function.__globals__[name]):
            scope[name] = copied(unbound(value), scope)
    return copied(function, scope)


def words_of(of: Game) -> tuple[str, ...]:
    """The words and features that an evaluation of this game can import, words first."""
    return (*board_words(of.package), *(of.all_features if of.has("features") else ()))


def how_to_import(of: Game, word: str) -> str:
    """The line that brings a word into the user's file."""
    return f"from agents.features.{of.pack} import {word}"


def instead_of(of: Game, name: str, known: Collection[str]) -> str:
    """What to write instead of a name that is not defined; empty if nothing is near.

    `known` are the names that can be used where it stands.
    """
    both = [*known, *(word for word in words_of(of) if word not in known)]
    near = nearest(name, both, MISTYPED)
    if not near:
        return ""
    return (
        f"; did you mean {quote(near)}?" if near in known else f"; write {how_to_import(of, near)}"
    )
