"""How kernels are compiled: the decorators, and copies specialised for a family of states."""

import importlib
import threading
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar

import numba
import numpy as np

from games.kernels.compile_cache import config, prepared

Function = TypeVar("Function", bound=Callable[..., Any])
Bind = Callable[[ModuleType], SimpleNamespace]

INTERPRETED = bool(config.DISABLE_JIT)

# Kernels allocate nothing, so nothing is counted: with `_nrt`, Numba counts references to
# the context array in every call, and those atomic instructions took most of the time.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def compiled(function: Function) -> Function:
    """`function` compiled on first use, kept on disk, run without the interpreter lock."""
    # Kernels wrap around on purpose; compiled code does so silently.
    decorate: Any = (
        np.errstate(over="ignore") if INTERPRETED else numba.njit(cache=prepared(), **OPTIONS)
    )
    made: Function = decorate(function)
    return made


def inlined(function: Function) -> Function:
    """A small part of kernels, always merged into its caller; never an entry point."""
    compile_: Any = numba.njit(forceinline=True, **OPTIONS)
    made: Function = compile_(function)
    return made


def unbound(function: Any) -> Any:
    """The plain function behind a compiled one."""
    return getattr(function, "py_func", function)


def _globals(template: Function) -> dict[str, Any]:
    return dict(unbound(template).__globals__)


def _twin(template: Function, scope: dict[str, Any], suffix: str) -> FunctionType:
    """A copy of `template` that reads its globals from `scope` and has a name of its own."""
    plain = unbound(template)
    twin = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__)
    twin.__qualname__ = f"{plain.__qualname__}_{suffix}"
    twin.__module__ = plain.__module__
    return twin


def inline_copies(templates: Sequence[Function], names: dict[str, Any]) -> dict[str, Any]:
    """Copies of small `templates` in which `names` mean these functions, merged into callers."""
    copies: dict[str, Any] = {}
    for template in templates:
        scope = _globals(template) | names | copies
        twin = _twin(template, scope, "inlined")
        copies[template.__name__] = scope[template.__name__] = inlined(twin)
    return copies


def specialise(suffix: str, templates: Sequence[Function], **names: Any) -> SimpleNamespace:
    """Compiled copies of `templates` in which the given `names` mean these functions.

    Later templates may call earlier ones and themselves. The disk cache tells
    copies apart by `suffix` alone, so no two families may have the same.
    """
    scope = _globals(templates[0]) | names
    copies = {}
    for template in templates:
        twin = _twin(template, scope, suffix)
        copies[template.__name__] = scope[template.__name__] = compiled(twin)
    return SimpleNamespace(**copies)


_binding = threading.RLock()
_bound: dict[tuple[Bind, str], tuple[str, SimpleNamespace]] = {}


def bound(family: str, bind: Bind) -> SimpleNamespace:
    """What `bind` makes of the module called `family`: made once, whichever thread asks first."""
    module = importlib.import_module(family)
    key = bind, module.FAMILY
    with _binding:
        if key not in _bound:
            _bound[key] = family, bind(module)
        owner, kernels = _bound[key]
    if owner != family:
        raise ValueError(f"{family} and {owner} are both {key[1]!r}: one cache for two")
    return kernels
