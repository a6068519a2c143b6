"""Load a user's game file."""

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

from games.base.file_trees import add_to_search_path, file_tree
from games.base.files import InputTooLarge, read_with_limit
from games.base.text import GameError, did_you_mean, join_names, quote
from games.core import Game, family_drivers, thread_safe_cache
from games.parts import USER_PACKAGE

REQUIRED = ("State", "start", "slots", "moves", "play", "turned", "key")
LARGEST_FILE = 1_000_000
MOST_RULES = 32  # whole numbers
Answer: TypeAlias = Any  # of a user's function: any type
UserFunction = Callable[..., Answer]
REFERENCE = re.compile(r"\s*(.+?\.py)\s*(?::\s*(\w+)?\s*(?:\(([^()]*)\))?)?\s*")
MOST_SLOTS = 256
LARGEST = 1 << 62


def file_digest(path: Path) -> str:
    """Return the hex digest of the file and its local imports; GameError if it is unreadable."""
    try:
        content = read_with_limit(path, LARGEST_FILE)
    except InputTooLarge:
        raise GameError(f"{path}: a game file may have at most {LARGEST_FILE:,} bytes") from None
    except OSError as error:
        names = [file.name for file in path.parent.glob("*.py")]
        reason = f"{path}: the game file cannot be read: {error.strerror}"
        raise GameError(f"{reason}{did_you_mean(path.name, names)}") from None
    tree = file_tree(path)
    if len(tree.files) > 1:
        return tree.digest()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


@thread_safe_cache
def load_module(path: Path, digest: str) -> ModuleType:
    """Load the file as the package `own_game_...`, so that its parts can be imported."""
    name = f"{USER_PACKAGE}{path.stem}_{digest}"
    if name in sys.modules:  # a copy of the same file shares its kernels
        return sys.modules[name]
    module = module_from_spec(ModuleSpec(name, None, is_package=True))
    module.__file__ = str(path)
    sys.modules[name] = module  # pickle finds functions and states by module name
    add_to_search_path(path)
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise GameError(f"{path}: {describe_error(error, path)}") from None
    missing = [name for name in REQUIRED if not hasattr(module, name)]
    if missing:
        required = f"a game needs {join_names(REQUIRED)}"
        raise GameError(f"{path}: it defines no {join_names(missing)} ({required})")
    fields = getattr(module.State, "_fields", None)
    if not fields:
        raise GameError(f"{path}: State must be a NamedTuple of words (np.uint64)")
    own = own_functions(module)
    for name in REQUIRED[1:]:
        if name not in own:
            reason = f"{name} must be a function of the file itself, without a decorator"
            raise GameError(f"{path}: {reason}, got {quote(str(getattr(module, name)))}")
    # Numba's fast dispatch compares named tuples by class name only.
    module.State.__name__ = f"State_{digest}"
    return module


def inner_code(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of all functions and comprehensions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from inner_code(constant)


def copy_function(function: FunctionType, scope: dict[str, Any]) -> FunctionType:
    """Return the function with other globals."""
    copy = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def own_functions(module: ModuleType) -> dict[str, FunctionType]:
    """Return the functions that the file itself defines."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }


def describe_error(error: BaseException, path: Path) -> str:
    """Describe the exception in one line, with the number of the line that raised it."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    number = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    place = f"line {number}: " if number else ""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{place}{type(error).__name__}: {' '.join(message.split())[:300]}"


def call_user_function(path: Path, function: UserFunction, *arguments: object) -> Answer:
    """Return the result of the user's function; turn exceptions into a one-line GameError."""
    try:
        return function(*arguments)
    except GameError:
        raise
    except Exception as error:
        name = getattr(function, "__name__", "it")
        if "does not support item assignment" in str(error):
            reason = f"{name} must not change the rules or a state, but return new ones"
            raise GameError(f"{path}: {reason} ({describe_error(error, path)})") from None
        raise GameError(f"{path}: {name} raised {describe_error(error, path)}") from None


def user_game(text: str, base: Path) -> Game:
    """Return the game of a reference, with a path relative to `base`, after validation."""
    canonical, _, name, numbers = _parts(text)
    path = game_file_path(text, base)
    made = _make_game(canonical, path, file_digest(path), name, numbers)
    _validate_once(made)
    return made


def game_file_path(text: str, base: Path) -> Path:
    """Return the path of a reference, relative to `base`; the file may be missing."""
    _, written, _, _ = _parts(text)
    return (base / Path(written).expanduser()).resolve()


def reload_user_game(canonical: str, path: Path, digest: str) -> Game:
    """Load the game in another process, where it need not be validated again."""
    _, _, name, numbers = _parts(canonical)
    if file_digest(path) != digest:
        raise GameError(f"{path}: the game file was changed while it was played")
    return _make_game(canonical, path, digest, name, numbers)


def _parts(text: str) -> tuple[str, str, str, tuple[int, ...]]:
    """Return the canonical name, the path as written, the function and its numbers."""
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


@thread_safe_cache
def _validate_once(game: Game) -> None:
    """Validate a game once per process."""
    from games.user_games.validation import validate_game  # noqa: PLC0415  # it compiles more kernels

    validate_game(game)


@thread_safe_cache
def _make_game(
    canonical: str, path: Path, digest: str, name: str, numbers: tuple[int, ...]
) -> Game:
    from games.user_games.family import build_family, plain_functions  # noqa: PLC0415  # loads Numba
    from games.user_games.notation import UserNotation  # noqa: PLC0415  # not needed before

    module = load_module(path, digest)
    own = plain_functions(module)
    rules = rules_from_file(path, own, name, numbers)
    slots = slots_from_file(path, own, rules)
    family_name = build_family(module, rules)
    from_words = import_module(family_name).from_words

    def final(state: object) -> int:
        return int(family_drivers(family_name).margin(made.context, state))

    notation = UserNotation(
        path, rules, len(slots), own | {"State": module.State}, from_words, final
    )
    passes = len(slots) if "over" in own else None
    made = Game(canonical, rules, family_name, notation, passes, source=path, digest=digest)
    return made


def rules_from_file(
    path: Path, own: Mapping[str, UserFunction], name: str, numbers: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the result of the file's function `name`; without it the numbers are the rules."""
    if name not in own and name != path.stem:
        raise GameError(f"{path}: it defines no {name}{did_you_mean(name, own)}")
    rules = call_user_function(path, own[name], *numbers) if name in own else None
    rules = numbers if rules is None else rules
    rules = (rules,) if isinstance(rules, int) else rules
    few = isinstance(rules, tuple | list) and len(rules) <= MOST_RULES
    if not few or not all(type(number) is int and 0 <= number < LARGEST for number in rules):
        reason = f"at most {MOST_RULES} whole numbers from 0"
        raise GameError(f"{path}: {name} must return the rules, {reason}, got {quote(str(rules))}")
    return tuple(rules)


def slots_from_file(
    path: Path, own: Mapping[str, UserFunction], rules: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the slot of every move number: different bits of a mask, ascending."""
    answer = call_user_function(path, own["slots"], rules)
    slots = tuple(answer) if isinstance(answer, Sequence) else ()
    whole = all(isinstance(slot, int) and 0 <= slot < MOST_SLOTS for slot in slots)
    if not slots or not whole or list(slots) != sorted(set(slots)):
        reason = f"slots must be different numbers from 0 to {MOST_SLOTS - 1}, ascending"
        raise GameError(f"{path}: {reason}, got {quote(str(slots))}")
    return slots
