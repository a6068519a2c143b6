"""Compile a user's functions as a state family."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
from numba.core.errors import NumbaError

from games.base.text import GameError
from games.core import once
from games.kernels import bits, masks, quad_masks
from games.kernels.bits import Truth, U
from games.kernels.context import Context, context
from games.kernels.family import Mask, State
from games.kernels.jit import INTERPRETED, Kernel, Scope, compile_error, inlined
from games.kernels.quad import Quad
from games.user_games.load import MOST_RULES, codes, copied, described, functions_in

Functions = Mapping[str, Kernel]

MASKS = ("plies", "none", "lowest", "rest", "nth", "highest", "except_highest", "count")

# The names that a file must define to have a part.
KNOWLEDGE = ("gain", "remaining")
NUMBERS = ("SORTED_FROM", "FINISH_FROM", "TIES_BY_SIDE")


def family_of(module: ModuleType, rules: Sequence[int]) -> str:
    """The name under which the family of the user's module can be imported; made once."""
    return _made(module, masks_of(module, rules)).__name__


def masks_of(module: ModuleType, rules: Sequence[int]) -> ModuleType:
    """The functions for masks of moves: of one word, or of four where `moves` answers a Quad."""
    own = plain_functions(module)
    with suppress(Exception):  # what it raises is said when the laws are tried
        if isinstance(own["moves"](rules, words(module.State, own["start"](rules))), Quad):
            return quad_masks
    return masks


@once
def _made(module: ModuleType, masks: ModuleType) -> ModuleType:
    own = compiled_functions(module)
    made, state = part_of(module, "family"), module.State
    vars(made).update(family_functions(own, state, masks))
    vars(made).update(
        FAMILY=module.__name__,
        make_context=lambda rules: context(rules, []),
        slots=plain_functions(module)["slots"],
        start=lambda rules: words(state, plain_functions(module)["start"](rules)),
        restored=lambda raw: words(state, raw),
    )
    make_parts(module, own)
    return made


def part_of(module: ModuleType, role: str) -> ModuleType:
    """An empty submodule of the user's module, ready to be imported."""
    name = f"{module.__name__}.{role}"
    sys.modules[name] = module_from_spec(ModuleSpec(name, None))
    return sys.modules[name]


def compiled_functions(module: ModuleType) -> Scope:
    """Every function of the file, compiled, those that are called before those that call."""
    plain = functions_in(module)
    made: Scope = {
        name: inlined(value)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and name not in plain  # imported from elsewhere
    }

    def compile_with_needs(name: str, above: tuple[str, ...] = ()) -> None:
        for needed in (each for code in codes(plain[name].__code__) for each in code.co_names):
            if needed in plain and needed not in (*made, *above, name):
                compile_with_needs(needed, (*above, name))
        function = copied(plain[name], vars(module) | made)
        made[name] = with_plain_rules(function) if INTERPRETED else inlined(function)

    for name in plain:
        if name not in made:
            compile_with_needs(name)
    return made


def with_plain_rules(function: Kernel) -> Kernel:
    """The function run by Python: NumPy's whole numbers mix with words only when compiled."""

    def called(*arguments: object) -> object:
        return function(*(a[:MOST_RULES].tolist() if isinstance(a, np.ndarray) else a
                          for a in arguments))  # fmt: skip

    return called


def plain_functions(module: ModuleType) -> Scope:
    """Every function of the file, run by Python; what is compiled of ours has a plain twin."""
    scope = {name: _plain(value) for name, value in vars(module).items()}
    for name, function in functions_in(module).items():
        scope[name] = copied(function, scope)
    return {name: scope[name] for name in functions_in(module)}


def _plain(value: object) -> object:
    for compiled, twin in bits.PLAIN_TWINS:
        if value is compiled:
            return twin
    if not hasattr(value, "py_func") or not callable(value):
        return value

    def words(*arguments: object) -> object:
        answer = value(*arguments)
        if isinstance(answer, Quad):
            return Quad(*map(U, answer))
        return U(answer) if type(answer) is int else answer

    return words


def family_functions(own: Functions, state: type[State], masks: ModuleType) -> Scope:
    """The names of a family; whole numbers of any sort become the words that kernels expect."""
    as_words = words_of(state)
    as_mask = words_of(Quad) if masks is quad_masks else word
    own_moves, own_play, own_turned, own_key = (
        own[name] for name in ("moves", "play", "turned", "key")
    )
    own_over, own_final = own.get("over", always_over), own.get("final", mover_lost)

    def moves(ctx: Context, s: State) -> Mask:
        return as_mask(own_moves(ctx, s))

    def over(ctx: Context, s: State) -> Truth:
        return bool(own_over(ctx, s))

    def play(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
        child, same = own_play(ctx, s, slot)
        return as_words(child), bool(same)

    def turned(s: State) -> State:
        return as_words(own_turned(s))

    def key(s: State) -> np.uint64:
        return U(own_key(s))

    def final(ctx: Context, s: State) -> np.int64:
        return np.int64(own_final(ctx, s))

    found: Scope = {f.__name__: inlined(f) for f in (moves, over, play, turned, key, final)}
    return found | {name: getattr(masks, name) for name in MASKS} | {"State": state}


def words(state: type[State], raw: State) -> State:
    """The state of these numbers, as words."""
    return state(*(U(int(word)) for word in raw))


def words_of(state: type[State]) -> Kernel:
    """A compiled function that makes every number of a state a word."""
    words = ", ".join(f"U(s[{place}])" for place in range(len(state._fields)))
    scope = {"State": state, "U": U}
    exec(f"def as_words(s):\n    return State({words})", scope)
    return inlined(scope["as_words"])


@inlined
def word(number: int) -> np.uint64:
    """A number as a word."""
    return U(number)


@inlined
def always_over(ctx: Context, s: State) -> bool:
    """Nobody passes: a position without moves is the end."""
    return True


@inlined
def mover_lost(ctx: Context, s: State) -> np.int64:
    """Who cannot move has lost."""
    return np.int64(-1)


def make_parts(module: ModuleType, own: Functions) -> None:
    """The parts of a pack that the file defines, under the names by which packs are asked."""
    names = getattr(module, "FEATURES", None)
    if names is not None:
        features = part_of(module, "features")
        vars(features).update({name: counting(own, name, module) for name in names})
        features.TERM = getattr(module, "TERM", "difference")  # type: ignore[attr-defined]
        if "progress" in own:
            vars(features)["progress"] = retold(own["progress"], "progress", 3)
    if "hole_beans" in own:
        vars(part_of(module, "hole_beans"))["hole_beans"] = retold(
            own["hole_beans"], "hole_beans", 3
        )
    if hasattr(module, "WORDS"):
        vars(part_of(module, "words"))["WORDS"] = module.WORDS
    if all(name in own for name in KNOWLEDGE):
        knowledge = part_of(module, "move_ordering")
        places = {"gain": 4, "remaining": 2, "urgency": 4, "promising": 3, "others": 2}
        vars(knowledge).update({n: retold(own[n], n, places[n]) for n in places if n in own})
        vars(knowledge).update({n: getattr(module, n) for n in NUMBERS if hasattr(module, n)})


def counting(own: Functions, name: str, module: ModuleType) -> Kernel:
    """A feature of the file, which must be one of its functions."""
    if name not in own or name in ("moves", "over", "play", "turned", "key", "final", "count"):
        raise GameError(f"{module.__file__}: FEATURES names {name!r}, which is no feature function")
    return retold(own[name], name, 2)


def retold(function: Kernel, name: str, places: int) -> Kernel:
    """A plain function that only calls the compiled one: kernels are bound to copies of it."""
    arguments, where = ", ".join("abcd"[:places]), f"{function.__module__}.own_{name}"
    holder = module_from_spec(ModuleSpec(where, None))  # Numba's cache imports it by this name
    vars(holder)[f"own_{name}"] = function
    exec(f"def {name}({arguments}):\n    return own_{name}({arguments})", vars(holder))
    sys.modules[where] = holder
    made: FunctionType = getattr(holder, name)
    return made


def compile_problem(error: Exception, path: Path) -> str:
    """What Numba does not take of the file, in one line."""
    if not isinstance(error, NumbaError):
        return described(error, path)
    lines = compile_error(error, path).splitlines()
    return f"it cannot be compiled: {'; '.join(lines[:3])}"
