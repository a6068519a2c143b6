"""A game from a user's own file, such as "games/connect4.py:connect4(7,6)"."""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from games.core import Game, kernels
from games.names import GameError, did_you_mean, quoted
from games.once import once
from games.user_file import MOST_RULES, UserFunction, called, digest_of, module_of

REFERENCE = re.compile(r"\s*(.+?\.py)\s*(?::\s*(\w+)?\s*(?:\(([^()]*)\))?)?\s*")
MOST_SLOTS = 256
LARGEST = 1 << 62


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
        raise GameError(
            f'a game file is written like "games/mine.py:mine(7,6)", got {quoted(text)}'
        )
    written, name, inside = found.groups()
    numbers = tuple(
        _number(text, word.strip()) for word in (inside or "").split(",") if word.strip()
    )
    name = name or Path(written).stem
    return f"{written}:{name}({','.join(map(str, numbers))})", written, name, numbers


def _number(text: str, word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", word):
        raise GameError(
            f"{text}: the arguments of a game file are whole numbers, got {quoted(word)}"
        )
    return int(word)


@once
def _tried(of: Game) -> None:
    """Try the laws once a process."""
    from games.user_laws import try_laws  # noqa: PLC0415  # it compiles kernels of its own

    try_laws(of)


@once
def _made(canonical: str, path: Path, digest: str, name: str, numbers: tuple[int, ...]) -> Game:
    from games.user_family import family_of, plain_functions  # noqa: PLC0415  # loads Numba
    from games.user_notation import UserNotation  # noqa: PLC0415  # it is of no use before

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
        raise GameError(f"{path}: {name} must return the rules, {told}, got {quoted(str(rules))}")
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
        raise GameError(f"{path}: {told}, got {quoted(str(slots))}")
    return slots
