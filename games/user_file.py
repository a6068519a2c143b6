"""A user's file of rules as a module: what it must define, its errors as one line."""

import hashlib
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

from games.file_trees import file_tree, find_beside
from games.limited_files import TooMuch, read_bytes
from games.names import GameError, did_you_mean, listed, quoted
from games.once import once

REQUIRED = ("State", "start", "slots", "moves", "play", "turned", "key")
LARGEST_FILE = 1_000_000
MOST_RULES = 32  # whole numbers

Answer: TypeAlias = Any  # of a user's function: it may be anything
UserFunction = Callable[..., Answer]


def digest_of(path: Path) -> str:
    """Hex digest of the file and what it imports from beside it; GameError if it is not there."""
    try:
        content = read_bytes(path, LARGEST_FILE)
    except TooMuch:
        raise GameError(f"{path}: a game's file has at most {LARGEST_FILE} bytes") from None
    except OSError as error:
        near = [str(each.name) for each in path.parent.glob("*.py")]
        told = f"{path}: the game's file cannot be read: {error.strerror}"
        raise GameError(f"{told}{did_you_mean(path.name, near)}") from None
    tree = file_tree(path)
    if len(tree.files) > 1:
        return tree.digest()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


@once
def module_of(path: Path, digest: str) -> ModuleType:
    """The file as the package `own_game_...`, so that its parts can be imported like ours."""
    name = f"own_game_{path.stem}_{digest}"
    if name in sys.modules:  # a copy of the same file: its kernels are the same ones
        return sys.modules[name]
    module = module_from_spec(ModuleSpec(name, None, is_package=True))
    module.__file__ = str(path)
    sys.modules[name] = module  # functions and states are found again by their module's name
    find_beside(path)
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise GameError(f"{path}: {described(error, path)}") from None
    missing = [each for each in REQUIRED if not hasattr(module, each)]
    if missing:
        there = f"a game needs {listed(REQUIRED)}"
        raise GameError(f"{path}: it defines no {listed(missing)} ({there})")
    fields = getattr(module.State, "_fields", None)
    if not fields:
        raise GameError(f"{path}: State must be a NamedTuple of words (np.uint64)")
    own = functions_in(module)
    for name in REQUIRED[1:]:
        if name not in own:
            told = f"{name} must be a function of the file itself, without a decorator"
            raise GameError(f"{path}: {told}, got {quoted(str(getattr(module, name)))}")
    vars(module).setdefault("build", None)  # marks a pack, see `games.pack.package_of`
    # Numba's quick dispatch tells named tuples apart by class name alone.
    module.State.__name__ = f"State_{digest}"
    return module


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of all comprehensions and functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def copied(function: FunctionType, scope: dict[str, Any]) -> FunctionType:
    """The function with other globals."""
    copy = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def functions_in(module: ModuleType) -> dict[str, FunctionType]:
    """The functions that the file itself defines."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }


def described(error: BaseException, path: Path) -> str:
    """The exception in one line, with the line of the user's file where it was raised."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    number = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    place = f"line {number}: " if number else ""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{place}{type(error).__name__}: {' '.join(message.split())[:300]}"


def called(path: Path, function: UserFunction, *arguments: object) -> Answer:
    """What the user's function returns; whatever it raises becomes a GameError in one line."""
    try:
        return function(*arguments)
    except GameError:
        raise
    except Exception as error:
        name = getattr(function, "__name__", "it")
        if "does not support item assignment" in str(error):
            told = f"{name} must not change the rules or a state, but make new ones"
            raise GameError(f"{path}: {told} ({described(error, path)})") from None
        raise GameError(f"{path}: {name} raised {described(error, path)}") from None
