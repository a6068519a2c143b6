"""Compile kernels once or per family, and shorten compiler errors."""

import importlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from inspect import Signature
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, Never, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import CallableTemplate

from games.kernels.compile_cache import config, use_cache

MOST_LINES = 4
ADVICE = (
    "Supported: numbers, tuples (as constants, not lists), arithmetic, if, for, while, math,\n"
    "functions of the same file, and the features and rules imported from agents and games."
)
NOISE = re.compile(
    r"Failed in|During:|There are \d|- |Overload|Operator|With argument|No match|Rejected|"
    r"Typing|Enable|raised from|The above|\* |Unknown location"
)
QUOTED = re.compile(r'\s*File "[^"]+", line \d+:')  # before lines of the source
Kernel = Callable[..., Any]  # numbers, arrays and named tuples of them: typed by Numba
Scope = dict[str, Any]  # globals of a kernel: functions, types and numbers
CompileOptions = dict[str, Any]  # of `numba.njit`
Function = TypeVar("Function", bound=Kernel)
Types = tuple[types.Type, ...]
NamedTypes = dict[str, types.Type]
CallTemplate = tuple[type[CallableTemplate], Signature, Types, dict[Never, Never]]
Bind = Callable[[ModuleType], SimpleNamespace]
INTERPRETED = bool(config.DISABLE_JIT)
# Kernels allocate nothing, so they need no reference counts: with `_nrt`, Numba counts references
# to the context array in every call, and these atomic instructions took most of the time.
# Entry points for C, which Numba makes by default, are never used.
OPTIONS: CompileOptions = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
# Inlined into every caller, so Python needs no entry point.
INLINE: CompileOptions = {"forceinline": True, "no_cpython_wrapper": True}
_binding = threading.RLock()
_bound: dict[tuple[Bind, str], tuple[str, SimpleNamespace]] = {}


def short_compile_error(error: Exception, path: Path) -> str:
    """Return the place and line in the user's file, the reason, and the supported subset."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line for line in without_source(text) if not NOISE.match(line)]
    number = error_line(text, path)
    place = [f"line {number}: {source_line(path, number)}"] if number else []
    return "\n".join([*place, *lines[:MOST_LINES], ADVICE])


def without_source(text: str) -> Iterator[str]:
    """Yield the lines of an error without quoted source, stripped."""
    repeats = False
    for line in text.splitlines():
        if QUOTED.match(line):
            repeats = True
        elif repeats:
            repeats = line.strip(" ~^") != ""
        elif line.strip():
            yield line.strip().removesuffix(". Raised from None")


def error_line(text: str, path: Path) -> int | None:
    """Return the number of the first line of the user's file in Numba's text: the innermost."""
    found = re.search(rf'{re.escape(path.name)}"?(?:, line |\s*\(|:)(\d+)', text)
    return int(found[1]) if found else None


def source_line(path: Path, number: int) -> str:
    """Return a line of the file without indentation."""
    lines = path.read_text().splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""


# The subclasses of Numba's classes below halve compilation: 9 instead of 18 CPU s a family. They
# depend on internals, so pyproject.toml bounds the version of Numba.
class InternalLibrary(JITCodeLibrary):
    """Unoptimised code of a function, for callers to include in their own."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the callers optimise."""

    def _finalize_final_module(self) -> None:
        """Finish without machine code, because this code never runs."""
        self._finalized = True


class InternalCompiler(Compiler):
    """Numba's compiler without optimisation and code generation.

    Only for functions that neither print nor raise: both need data that Numba keeps with the
    machine code.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[no-untyped-call]  # Numba's
        context = self.state.targetctx  # this compiler's own copy
        library = InternalLibrary(context.codegen(), __name__)  # type: ignore[no-untyped-call]
        self.state.library = library
        context.get_executable = no_machine_code


def no_machine_code(library: InternalLibrary, _described: object, _environment: object) -> object:
    """Return a placeholder for a function that Python cannot call."""
    library.finalize()  # type: ignore[no-untyped-call]  # Numba's
    return object()


# Included in its callers, where LLVM decides about inlining.
INTERNAL: CompileOptions = {"pipeline_class": InternalCompiler, "no_cpython_wrapper": True}


def compile_kernel(function: Function) -> Function:
    """Compile `function` on first use, cached on disk, to run without the interpreter lock."""
    # Integers of kernels wrap around by design; compiled code does so silently.
    if INTERPRETED:
        return np.errstate(over="ignore")(function)
    with use_cache() as on_disk:
        kernel = numba.njit(cache=on_disk, **OPTIONS)(function)
    kernel.__class__ = UnliteralDispatcher  # type: ignore[assignment]  # a subclass of Numba's class
    return cast("Function", kernel)


class UnliteralDispatcher(CPUDispatcher):
    """A kernel that is compiled for the type of a number, never for its value.

    During type inference, a variable that starts with 0 first has the type "literal 0". Numba
    compiled every callee of a loop for that literal, and then again for the final type.
    """

    # Numba's annotations leave the arguments open; here they are types.
    def fold_argument_types(  # type: ignore[override]
        self, args: Types, kws: NamedTypes
    ) -> tuple[Signature, Types]:
        """Return the types for a recursive call."""
        return super().fold_argument_types(*without_literals(args, kws))

    def get_call_template(  # type: ignore[override]
        self, args: Types, kws: NamedTypes
    ) -> CallTemplate:
        """Return the types for a call from another kernel."""
        return super().get_call_template(*without_literals(args, kws))


def without_literals(args: Types, kws: NamedTypes) -> tuple[Types, NamedTypes]:
    """Return the types of arguments without their literal values."""
    named = {name: types.unliteral(kind) for name, kind in kws.items()}
    return tuple(map(types.unliteral, args)), named


class InternalKernel(UnliteralDispatcher):
    """A kernel that kernels call; calls from Python use a compiled and cached twin."""

    def add_overload(self, result: CompileResult) -> None:
        """Register the overload for kernels only; Numba would also register it for Python."""
        self.overloads[tuple(result.signature.args)] = result  # type: ignore[attr-defined]

    def __call__(self, *arguments: object) -> object:
        """Call the twin, which is compiled at the first call."""
        if "entry" not in vars(self):
            self.entry = compile_kernel(self.py_func)
        return self.entry(*arguments)


def internal_kernel(function: Function) -> Function:
    """Compile `function` for other kernels, which include its code in their own."""
    if INTERPRETED:
        return compile_kernel(function)
    made = numba.njit(**INTERNAL, **OPTIONS)(function)
    made.__class__ = InternalKernel  # type: ignore[assignment]  # a subclass of Numba's class
    return cast("Function", made)


class InlineDispatcher(CPUDispatcher):
    """An inlined part of kernels without an entry point for Python, which saves compile time.

    The entry point is compiled if Python calls it, as tests and interpreted evaluations do.
    """

    def __call__(self, *arguments: object) -> object:
        """Call a twin that has an entry point."""
        if "entry" not in vars(self):
            self.entry = numba.njit(**OPTIONS)(self.py_func)
        return self.entry(*arguments)


def inline(function: Function, kept: bool = False) -> Function:
    """Return a small function that is inlined into every kernel that calls it.

    With `kept` it is cached on disk, for callers that are compiled in each process.
    """
    with use_cache() if kept and not INTERPRETED else nullcontext(False) as on_disk:
        part = numba.njit(cache=on_disk, **INLINE, **OPTIONS)(function)
    if not INTERPRETED:
        # A call from Python without an entry point would crash the process.
        part.__class__ = InlineDispatcher  # type: ignore[assignment]  # a subclass of Numba's class
    return cast("Function", part)


def python_function(value: object) -> Any:
    """Return the Python function of a compiled one; any other value unchanged."""
    return getattr(value, "py_func", value)


def _globals(template: Kernel) -> Scope:
    return dict(python_function(template).__globals__)


def _twin(template: Kernel, scope: Scope, suffix: str) -> FunctionType:
    """Return a copy of `template` with other globals and a unique name."""
    plain = python_function(template)
    twin = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__)
    twin.__qualname__ = f"{plain.__qualname__}_{suffix}"
    twin.__module__ = plain.__module__
    return twin


def inline_copies(templates: Sequence[Kernel], names: Scope, kept: str = "") -> Scope:
    """Return copies of small `templates` with `names` bound, inlined into their callers.

    `kept` is their unique name in the disk cache; no two families may use the same one.
    """
    copies: Scope = {}
    for template in templates:
        scope = _globals(template) | names | copies
        twin = _twin(template, scope, kept or "inlined")
        copies[template.__name__] = scope[template.__name__] = inline(twin, bool(kept))
    return copies


def specialise(
    suffix: str, templates: Sequence[Kernel], internal: Sequence[Kernel] = (), **names: object
) -> SimpleNamespace:
    """Return compiled copies of `templates` with `names` bound; only kernels call `internal` ones.

    Later templates may call earlier ones and themselves. The disk cache tells copies apart by
    `suffix` alone, so it must be unique to the family.
    """
    scope = _globals(templates[0]) | names
    copies = {}
    for template in templates:
        twin = _twin(template, scope, suffix)
        kernel = internal_kernel(twin) if template in internal else compile_kernel(twin)
        copies[template.__name__] = scope[template.__name__] = kernel
    return SimpleNamespace(**copies)


def family_kernels(family: str, bind: Bind) -> SimpleNamespace:
    """Return the kernels that `bind` makes for the module `family`, once for all threads."""
    module = importlib.import_module(family)
    key = bind, module.FAMILY
    with _binding:
        if key not in _bound:
            _bound[key] = family, bind(module)
        owner, kernels = _bound[key]
    if owner != family:
        raise ValueError(f"{family} and {owner} are both {key[1]!r}: they would share a cache")
    return kernels
