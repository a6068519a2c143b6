"""Load a user's file of rules as a game."""

import hashlib
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

from games.base.file_trees import file_tree, find_beside
from games.base.files import InputTooLarge, read_limited
from games.base.text import GameError, did_you_mean, listed, quote
from games.core import Game, kernels, once

REQUIRED = ("State", "start", "slots", "moves", "play", "turned", "key")
LARGEST_FILE = 1_000_000
MOST_RULES = 32  # whole numbers
Answer: TypeAlias = Any  # of a user's function: it may be anything
UserFunction = Callable[..., Answer]
REFERENCE = re.compile(r"\s*(.+?\.py)\s*(?::\s*(\w+)?\s*(?:\(([^()]*)\))?)?\s*")
MOST_SLOTS = 256
LARGEST = 1 << 62


def digest_of(path: Path) -> str:
    """Hex digest of the file and what it imports from beside it; GameError if it is not there."""
    try:
        content = read_limited(path, LARGEST_FILE)
    except InputTooLarge:
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
            raise GameError(f"{path}: {told}, got {quote(str(getattr(module, name)))}")
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


def user_game(text: str, base: Path) -> Game:
    """The game that the reference means, its path seen from `base`, after its laws were tried."""
    canonical, _, name, numbers = _parts(text)
    path = file_of(text, base)
    made = _made(canonical, path, digest_of(path), name, numbers)
    _tried(made)
    return made


def file_of(text: str, base: Path) -> Path:
    """The file that the reference means, its path seen from `base`; it need not be there."""
    _, written, _, _ = _parts(text)
    return (base / Path(written).expanduser()).resolve()


def reloaded(canonical: str, path: Path, digest: str) -> Game:
    """The game in another process, where its laws need not be tried again."""
    _, _, name, numbers = _parts(canonical)
    if digest_of(path) != digest:
        raise GameError(f"{path}: the game's file was changed while it was played")
    return _made(canonical, path, digest, name, numbers)


def _parts(text: str) -> tuple[str, str, str, tuple[int, ...]]:
    """The canonical name, the path as written, the function and its numbers."""
    found = REFERENCE.fullmatch(text)
    if found is None:
        raise GameError(f'a game file is written like "games/mine.py:mine(7,6)", got {quote(text)}')
    written, name, inside = found.groups()
    numbers = tuple(
        _number(text, word.strip()) for word in (inside or "").split(",") if word.strip()
    )
    name = name or Path(written).stem
    return f"{written}:{name}({','.join(map(str, numbers))})", written, name, numbers


def _number(text: str, word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", word):
        raise GameError(
            f"{text}: the arguments of a game file are whole numbers, got {quote(word)}"
        )
    return int(word)


@once
def _tried(of: Game) -> None:
    """Try the laws once a process."""
    from games.user_games.validation import try_laws  # noqa: PLC0415  # it compiles kernels of its own

    try_laws(of)


@once
def _made(canonical: str, path: Path, digest: str, name: str, numbers: tuple[int, ...]) -> Game:
    from games.user_games.family import family_of, plain_functions  # noqa: PLC0415  # loads Numba
    from games.user_games.notation import UserNotation  # noqa: PLC0415  # it is of no use before

    module = module_of(path, digest)
    own = plain_functions(module)
    rules = rules_of(path, own, name, numbers)
    slots = slots_of(path, own, rules)
    family_name = family_of(module, rules)
    restored = import_module(family_name).restored

    def final(state: object) -> int:
        return int(kernels(family_name).margin(made.context, state))

    notation = UserNotation(path, rules, len(slots), own | {"State": module.State}, restored, final)
    passes = len(slots) if "over" in own else None
    made = Game(canonical, rules, family_name, notation, passes, source=path, digest=digest)
    return made


def rules_of(
    path: Path, own: Mapping[str, UserFunction], name: str, numbers: tuple[int, ...]
) -> tuple[int, ...]:
    """What the file's function `name` makes of the numbers; without it they are the rules."""
    if name not in own and name != path.stem:
        raise GameError(f"{path}: it defines no {name}{did_you_mean(name, own)}")
    rules = called(path, own[name], *numbers) if name in own else None
    rules = numbers if rules is None else rules
    rules = (rules,) if isinstance(rules, int) else rules
    few = isinstance(rules, tuple | list) and len(rules) <= MOST_RULES
    if not few or not all(type(each) is int and 0 <= each < LARGEST for each in rules):
        told = f"at most {MOST_RULES} whole numbers from 0"
        raise GameError(f"{path}: {name} must return the rules, {told}, got {quote(str(rules))}")
    return tuple(rules)


def slots_of(
    path: Path, own: Mapping[str, UserFunction], rules: tuple[int, ...]
) -> tuple[int, ...]:
    """The slot of every move number: different bits of a mask, ascending."""
    answer = called(path, own["slots"], rules)
    slots = tuple(answer) if isinstance(answer, Sequence) else ()
    whole = all(isinstance(slot, int) and 0 <= slot < MOST_SLOTS for slot in slots)
    if not slots or not whole or list(slots) != sorted(set(slots)):
        told = f"slots must be different numbers from 0 to {MOST_SLOTS - 1}, ascending"
        raise GameError(f"{path}: {told}, got {quote(str(slots))}")
    return slots
