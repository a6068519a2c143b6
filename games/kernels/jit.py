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

from games.kernels.compile_cache import cache_of, config, require

MOST_LINES = 4
ADVICE = (
    "What compiles: numbers, tuples (as constants, not lists), arithmetic, if, for, while, math,\n"
    "functions of the same file, and the features and rules imported from agents and games."
)
NOISE = re.compile(
    r"Failed in|During:|There are \d|- |Overload|Operator|With argument|No match|Rejected|"
    r"Typing|Enable|raised from|The above|\* |Unknown location"
)
QUOTED = re.compile(r'\s*File "[^"]+", line \d+:')  # before lines of the source
Kernel = Callable[..., Any]  # numbers, arrays and named tuples of them: typed by Numba
Scope = dict[str, Any]  # what names mean to a kernel: functions, types and numbers
CompileOptions = dict[str, Any]  # those of `numba.njit`
Function = TypeVar("Function", bound=Kernel)
Types = tuple[types.Type, ...]
NamedTypes = dict[str, types.Type]
CallTemplate = tuple[type[CallableTemplate], Signature, Types, dict[Never, Never]]
Bind = Callable[[ModuleType], SimpleNamespace]
INTERPRETED = bool(config.DISABLE_JIT)
# Kernels allocate nothing, so they need no reference counts: with `_nrt`, Numba counts references
# to the context array in every call, and those atomic instructions took most of the time.
# An entry for C is made for each function unless told otherwise, and nobody here is C.
OPTIONS: CompileOptions = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}
# Merged into every caller, so that Python has no need of an entry.
MERGED: CompileOptions = {"forceinline": True, "no_cpython_wrapper": True}
_binding = threading.RLock()
_bound: dict[tuple[Bind, str], tuple[str, SimpleNamespace]] = {}


def compile_error(error: Exception, path: Path) -> str:
    """The place in the user's file, the line there, the reason, what compiles instead."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    told = [line for line in without_source(text) if not NOISE.match(line)]
    number = line_of(text, path)
    place = [f"line {number}: {source_line(path, number)}"] if number else []
    return "\n".join([*place, *told[:MOST_LINES], ADVICE])


def without_source(text: str) -> Iterator[str]:
    """The lines of an error without those that repeat a source; nothing is indented."""
    repeats = False
    for line in text.splitlines():
        if QUOTED.match(line):
            repeats = True
        elif repeats:
            repeats = line.strip(" ~^") != ""
        elif line.strip():
            yield line.strip().removesuffix(". Raised from None")


def line_of(text: str, path: Path) -> int | None:
    """The first line of the user's file that Numba names: the innermost, where it gave up."""
    found = re.search(rf'{re.escape(path.name)}"?(?:, line |\s*\(|:)(\d+)', text)
    return int(found[1]) if found else None


def source_line(path: Path, number: int) -> str:
    """The line of the file, without its indentation."""
    lines = path.read_text().splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""


class PassageLibrary(JITCodeLibrary):
    """The code of a function as it was written, for callers to take into theirs."""

    def _optimize_final_module(self) -> None:
        """Left to the callers."""

    def _finalize_final_module(self) -> None:
        """Nobody runs it: it is done without machine code."""
        self._finalized = True


class PassageCompiler(Compiler):
    """Numba's compiler, ending before anything is made fast.

    For what neither prints nor raises: both need what Numba keeps with the machine code.
    """

    def __init__(self, *arguments: object) -> None:
        """The arguments are Numba's."""
        super().__init__(*arguments)  # type: ignore[no-untyped-call]  # Numba's
        context = self.state.targetctx  # this compiler's own copy
        library = PassageLibrary(context.codegen(), __name__)  # type: ignore[no-untyped-call]
        self.state.library = library
        context.get_executable = without_code


def without_code(library: PassageLibrary, _described: object, _environment: object) -> object:
    """What stands in Numba's tables for a function that Python cannot call."""
    library.finalize()  # type: ignore[no-untyped-call]  # Numba's
    return object()


# Taken into its callers, and left there to be merged or not.
BETWEEN: CompileOptions = {"pipeline_class": PassageCompiler, "no_cpython_wrapper": True}


def compiled(function: Function) -> Function:
    """`function`, compiled on first use, cached on disk, run without the interpreter lock."""
    # Kernels wrap around on purpose; compiled code does so silently.
    if INTERPRETED:
        return np.errstate(over="ignore")(function)
    with cache_of(function.__module__) as kept:
        kernel = numba.njit(cache=kept, **OPTIONS)(function)
    kernel.__class__ = CompiledOnce  # type: ignore[assignment]  # ours is one of theirs
    return cast("Function", kernel)


class CompiledOnce(CPUDispatcher):
    """A kernel that is compiled for the type of a number, never for the number.

    While Numba works out types, a variable that begins with 0 is "the literal 0" at first: it
    compiled all that a loop calls for that, and then again for what it turned out to be.
    """

    # Numba's own types leave open what arguments are; here they are types.
    def fold_argument_types(  # type: ignore[override]
        self, args: Types, kws: NamedTypes
    ) -> tuple[Signature, Types]:
        """The types it is compiled for, where it calls itself."""
        return super().fold_argument_types(*plain(args, kws))

    def get_call_template(  # type: ignore[override]
        self, args: Types, kws: NamedTypes
    ) -> CallTemplate:
        """The types it is compiled for, where another kernel calls it."""
        return super().get_call_template(*plain(args, kws))


def plain(args: Types, kws: NamedTypes) -> tuple[Types, NamedTypes]:
    """The types of arguments, without what their values are."""
    named = {name: types.unliteral(kind) for name, kind in kws.items()}
    return tuple(map(types.unliteral, args)), named


class Passage(CompiledOnce):
    """A kernel that hardly anybody but kernels calls; Python calls a twin, kept on disk."""

    def add_overload(self, result: CompileResult) -> None:
        """Numba would also list it for calls from Python."""
        self.overloads[tuple(result.signature.args)] = result  # type: ignore[attr-defined]

    def __call__(self, *arguments: object) -> object:
        """Call the twin, which is compiled for the first call."""
        if "entry" not in vars(self):
            self.entry = compiled(self.py_func)
        return self.entry(*arguments)


def passage(function: Function) -> Function:
    """`function` for other kernels to call, which take its code into theirs."""
    if INTERPRETED:
        return compiled(function)
    made = numba.njit(**BETWEEN, **OPTIONS)(function)
    made.__class__ = Passage  # type: ignore[assignment]  # ours is one of theirs
    return cast("Function", made)


class MergedPart(CPUDispatcher):
    """A part of kernels without an entry for Python, which takes as long to make as the part.

    It gets one when Python calls it after all: tests do, and evaluations that Python runs.
    """

    def __call__(self, *arguments: object) -> object:
        """Call a twin that has an entry."""
        if "entry" not in vars(self):
            self.entry = numba.njit(**OPTIONS)(self.py_func)
        return self.entry(*arguments)


def inlined(function: Function, kept: bool = False) -> Function:
    """A small part of kernels that is merged into every caller; never an entry point.

    `kept` on disk, it need not be compiled for callers that are compiled anew in each process.
    """
    with cache_of(function.__module__) if kept and not INTERPRETED else nullcontext(False) as disk:
        part = numba.njit(cache=disk, **MERGED, **OPTIONS)(function)
    if not INTERPRETED:
        # Called by Python as it is, it would end the process.
        part.__class__ = MergedPart  # type: ignore[assignment]  # ours is one of theirs
    return cast("Function", part)


def unbound(value: object) -> Any:
    """The plain function behind a compiled one; any other value as it is."""
    return getattr(value, "py_func", value)


def _globals(template: Kernel) -> Scope:
    return dict(unbound(template).__globals__)


def _twin(template: Kernel, scope: Scope, suffix: str) -> FunctionType:
    """A copy of `template` that reads its globals from `scope` and has a name of its own."""
    plain = unbound(template)
    twin = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__)
    twin.__qualname__ = f"{plain.__qualname__}_{suffix}"
    twin.__module__ = plain.__module__
    return twin


def inline_copies(templates: Sequence[Kernel], names: Scope, kept: str = "") -> Scope:
    """Copies of small `templates` with `names` bound, to be merged into their callers.

    `kept` is the name under which the disk cache keeps them: no two families may have the same.
    """
    copies: Scope = {}
    for template in templates:
        if kept:
            require(unbound(template).__module__, names.values())
        scope = _globals(template) | names | copies
        twin = _twin(template, scope, kept or "inlined")
        copies[template.__name__] = scope[template.__name__] = inlined(twin, bool(kept))
    return copies


def specialise(
    suffix: str, templates: Sequence[Kernel], passages: Sequence[Kernel] = (), **names: object
) -> SimpleNamespace:
    """Compiled copies of `templates` with `names` bound; only kernels call `passages` of them.

    Later templates may call earlier ones and themselves. The disk cache tells
    copies apart by `suffix` alone, so no two families may have the same.
    """
    for template in templates:
        require(unbound(template).__module__, names.values())
    scope = _globals(templates[0]) | names
    copies = {}
    for template in templates:
        twin = _twin(template, scope, suffix)
        kernel = passage(twin) if template in passages else compiled(twin)
        copies[template.__name__] = scope[template.__name__] = kernel
    return SimpleNamespace(**copies)


def bound(family: str, bind: Bind) -> SimpleNamespace:
    """The kernels that `bind` makes for the module `family`, once for all threads."""
    module = importlib.import_module(family)
    key = bind, module.FAMILY
    with _binding:
        if key not in _bound:
            _bound[key] = family, bind(module)
        owner, kernels = _bound[key]
    if owner != family:
        raise ValueError(f"{family} and {owner} are both {key[1]!r}: they would share a cache")
    return kernels
