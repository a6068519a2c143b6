"""Bind names in a user's evaluation, and suggest corrections."""

import builtins
import dis
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

from agents.search.bind import bind_heuristics, callable_features, feature_names, plain_heuristics
from games import Game
from games.base.text import MISTYPED, nearest_name, quote
from games.kernels.family import State
from games.kernels.jit import (
    INLINE,
    OPTIONS,
    CompileOptions,
    Kernel,
    Scope,
    inline,
    python_function,
)
from games.kernels.quad import Quad
from games.parts import heuristic_function_names
from games.user_games.load import copy_function, inner_code

Names = Mapping[str, object]
Restore = Callable[[State], State]
# Counts that families return unsigned; `a - b` in a user's file must be able to go below 0.
COUNTS = ("held", "facing_held", "pot_beans", "row_beans", "first_slot", "end_slot", "lowest")
# The options of our kernels, except that division by zero raises as in Python.
FAST = OPTIONS | INLINE | {"error_model": "python"}
# The same for code that creates lists or arrays, which needs reference counts.
ALLOCATING: CompileOptions = {"nogil": True, "error_model": "python", "no_cfunc_wrapper": True}


def user_names(family_name: str) -> Scope:
    """Return the meaning of our names in a user's compiled evaluation."""
    names = bind_heuristics(family_name)
    return names | {name: as_signed(names[name]) for name in COUNTS if name in names}


def as_signed(count: Kernel) -> Kernel:
    """Return the same count as a signed number."""

    def number(*arguments: object) -> np.int64:
        return np.int64(count(*arguments))

    return inline(number)


def plain_names(family_name: str, restored: Restore) -> Scope:
    """Return the meaning of our names in an interpreted evaluation."""
    bound, counted = callable_features(family_name), feature_names(family_name)
    words = {k: v for k, v in plain_heuristics(family_name).items() if k not in counted}
    return words | {
        name: restore_words(value, bound["State"], restored) if callable(value) else value
        for name, value in bound.items()
        if not isinstance(value, type)
    }


def restore_words(function: Kernel, state: type, restored: Restore) -> Kernel:
    """Return a function for Python that converts returned words of states back to uint64."""

    def words(value: object) -> object:
        if isinstance(value, Quad):
            return Quad(*map(np.uint64, value))
        if isinstance(value, state):
            return restored(value)
        if isinstance(value, int) and value >= 1 << 63:  # else Numba takes it for an int64
            return np.uint64(value)
        return tuple(map(words, value)) if isinstance(value, tuple) else value

    @wraps(getattr(function, "py_func", function))
    def convert(*arguments: object) -> object:
        return words(function(*arguments))

    return convert


def is_own_function(value: object) -> bool:
    """Return whether a global of the user's file is a function that we bind."""
    plain = python_function(value)
    return isinstance(plain, FunctionType) and _is_own_module(plain.__module__)


def _is_own_module(name: str) -> bool:
    return name.partition(".")[0] in ("agents", "games")


def global_names(function: FunctionType) -> dict[str, int]:
    """Return the globals that a function reads, each with the first line that reads it."""
    lines: dict[str, int] = {}
    for code in inner_code(function.__code__):
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                line = step.positions and step.positions.lineno
                lines.setdefault(step.argval, line or code.co_firstlineno)
    return lines


def reachable_functions(function: FunctionType) -> list[FunctionType]:
    """Return the function and all functions of the user that it calls."""
    functions = [function]
    for caller in functions:  # grows during the loop
        for name in global_names(caller):
            value = caller.__globals__.get(name)
            callee = python_function(value)
            if (
                isinstance(callee, FunctionType)
                and not is_own_function(value)
                and callee not in functions
            ):
                functions.append(callee)
    return functions


def missing_name(function: FunctionType, suggest: Callable[[str, Collection[str]], str]) -> str:
    """Return a message about an undefined name in the user's functions; empty if there is none.

    `suggest` returns a suggestion for a name, given the names known there.
    """
    for reader in reachable_functions(function):
        known = {**reader.__globals__, **vars(builtins)}
        for name, line in global_names(reader).items():
            if name not in known:
                names = [word for word in (*reader.__code__.co_varnames, *known) if word[0] != "_"]
                return f"line {line}: name {name} is not defined{suggest(name, names)}"
    return ""


def bind_global(value: object, names: Names) -> object:
    """Return the value of a global of the user's file in a copy of the file."""
    if is_own_function(value):
        return names.get(python_function(value).__name__, value)
    if isinstance(value, ModuleType) and _is_own_module(value.__name__):
        module = ModuleType(value.__name__)
        vars(module).update(
            {
                name: bind_global(part, names)
                for name, part in vars(value).items()
                if is_own_function(part)
            }
        )
        return module
    return value


def compile_copy(function: FunctionType, names: Names, options: CompileOptions) -> Any:
    """Return a compiled copy with our names bound; the user's helpers are copied too."""
    functions = reachable_functions(function)
    scopes = [{k: bind_global(v, names) for k, v in f.__globals__.items()} for f in functions]
    compile_ = numba.njit(**options)
    compiled = {
        original: compile_(copy_function(original, scope))
        for original, scope in zip(functions, scopes, strict=True)
    }
    for scope in scopes:
        for name, value in scope.items():
            plain = python_function(value)
            if isinstance(plain, FunctionType) and plain in compiled:
                scope[name] = compiled[plain]
    return compiled[function]


def plain_copy(function: FunctionType, names: Names) -> FunctionType:
    """Return an interpreted copy with our names bound; the user's helpers are copied too."""
    scope = {k: bind_global(v, names) for k, v in function.__globals__.items()}
    for name, value in scope.items():
        if isinstance(python_function(value), FunctionType) and not is_own_function(
            function.__globals__[name]
        ):
            scope[name] = copy_function(python_function(value), scope)
    return copy_function(function, scope)


def importable_names(game: Game) -> tuple[str, ...]:
    """Return the names an evaluation of this game can import, heuristic functions first."""
    return (
        *heuristic_function_names(game.package),
        *(game.all_features if game.has_part("features") else ()),
    )


def import_line(game: Game, word: str) -> str:
    """Return the import statement for a name."""
    return f"from agents.features.{game.pack} import {word}"


def suggest_name(game: Game, name: str, known: Collection[str]) -> str:
    """Return a suggestion for an undefined name; empty if no name is similar.

    `known` are the names that are available at that place.
    """
    both = [*known, *(word for word in importable_names(game) if word not in known)]
    near = nearest_name(name, both, MISTYPED)
    if not near:
        return ""
    return (
        f"; did you mean {quote(near)}?" if near in known else f"; write {import_line(game, near)}"
    )
