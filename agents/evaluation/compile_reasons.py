"""Why a user's evaluation does not compile, as its source shows it.

Numba says this in its own terms, and often of another line: it is asked where nothing is found.
"""

import ast
import inspect
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

from agents.evaluation.user_names import how_to_import, ours, users_functions, words_of
from games import Game
from games.base.text import MISTYPED, did_you_mean, listed
from games.kernels.jit import source_line, unbound

MOST_REASONS = 4
HEURISTIC_MODULES = (["features"], ["heuristic_functions"])  # of a game's package
# The arguments of an evaluation; the first two are those of every word.
RULES, POSITION, WEIGHTS = "rules", "position", "weights"
CONTAINERS: dict[type[object], str] = {
    dict: "write a constant for each of its values, or WEIGHTS and a third argument",
    list: "write a tuple",
    set: "write a tuple",
}


class Reason(NamedTuple):
    """A line of the user's file that cannot be compiled, and why."""

    path: Path
    line: int
    text: str

    def words(self, main: Path) -> str:
        """The place, the reason and the code in one line; the file too, if it is not `main`."""
        where = "" if self.path == main else f"{self.path.name}, "
        return f"{where}line {self.line}: {self.text}, in: {source_line(self.path, self.line)}"


class KnownNames(NamedTuple):
    """What a function may read: the words of the game, the weights, its own arguments.

    `arguments` says what they stand for, by their names in the file.
    """

    of: Game
    weight_names: Collection[str]
    arguments: dict[str, str]


def compile_reasons(
    evaluation: FunctionType, of: Game, weight_names: Collection[str]
) -> list[Reason]:
    """The reasons in an evaluation and the functions that it calls; empty if none is found."""
    found: list[Reason] = []
    for function in users_functions(evaluation):
        node = definition_of(function)
        if node is not None:
            names = inspect.signature(function).parameters if function is evaluation else ()
            arguments = dict(zip(names, (RULES, POSITION, WEIGHTS), strict=False))
            path, known = (
                Path(function.__code__.co_filename),
                KnownNames(of, weight_names, arguments),
            )
            found += [Reason(path, *each) for each in reasons_in(node, function, known)]
    return found[:MOST_REASONS]


def definition_of(function: FunctionType) -> ast.FunctionDef | None:
    """The syntax tree of a function; None if its file cannot be read again."""
    code = function.__code__
    try:
        tree = ast.parse(Path(code.co_filename).read_text())
    except (OSError, ValueError, SyntaxError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            lines = [node.lineno, *(each.lineno for each in node.decorator_list)]
            if min(lines) == code.co_firstlineno:
                return node
    return None


def reasons_in(
    node: ast.FunctionDef, function: FunctionType, known: KnownNames
) -> Iterator[tuple[int, str]]:
    """The lines of one function that cannot be compiled, each with the reason, in their order."""
    local = set(function.__code__.co_varnames)
    scope = {name: each for name, each in function.__globals__.items() if name not in local}
    nodes = [each for each in ast.walk(node) if isinstance(each, ast.expr | ast.With)]
    for each in sorted(nodes, key=lambda each: (each.lineno, each.col_offset)):
        text = "with does not compile" if isinstance(each, ast.With) else ""
        if isinstance(each, ast.Call):
            text = wrong_call(each, called_value(each.func, scope))
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            value = scope.get(each.id)
            text = wrong_constant(each.id, value) or function_of_another_game(value, known.of)
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
            text = wrong_attribute(each.value.id, each.attr, scope, known)
        elif isinstance(each, ast.Subscript):
            text = wrong_index(each, known)
        if text:
            yield each.lineno, text


def called_value(func: ast.expr, scope: dict[str, object]) -> object:
    """What a call calls; None if that is not known without running it."""
    if isinstance(func, ast.Name):
        return scope.get(func.id)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        module = scope.get(func.value.id)
        return getattr(module, func.attr, None) if isinstance(module, ModuleType) else None
    return None


def wrong_call(call: ast.Call, value: object) -> str:
    """Why a function of ours or of the user cannot be called so; empty if it can."""
    plain: Callable[..., object] = unbound(value)
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    if not isinstance(plain, FunctionType) or starred or any(not k.arg for k in call.keywords):
        return ""
    signature, written = inspect.signature(plain), ast.unparse(call)
    right = f"it is called {plain.__name__}({', '.join(signature.parameters)})"
    try:
        bound = signature.bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
    except TypeError as error:
        return f"{written}: {missing_arguments(call, signature) or error}; {right}"
    given = {name: getattr(each, "id", "") for name, each in bound.arguments.items()}
    if ours(value) and (given.get(RULES) == POSITION or given.get(POSITION) == RULES):
        return f"{written}: its arguments are in another order; {right}"
    return ""


def missing_arguments(call: ast.Call, signature: inspect.Signature) -> str:
    """Which arguments are missing, by the names of those that are there; empty if that is unclear.

    To Python, `pot(position)` has its first argument and lacks the second.
    """
    given = {getattr(each, "id", "") for each in call.args} | {each.arg for each in call.keywords}
    empty = inspect.Parameter.empty
    needed = [name for name, each in signature.parameters.items() if each.default is empty]
    missing = [name for name in needed if name not in given]
    fits = len(missing) == len(needed) - len(call.args) - len(call.keywords)
    return f"{listed(missing)} is missing" if missing and fits else ""


def function_of_another_game(value: object, of: Game) -> str:
    """Why a heuristic function means nothing in this game; empty if it may mean something."""
    if not ours(value):
        return ""
    name, (_, pack, *rest) = unbound(value).__name__, unbound(value).__module__.split(".")
    if rest not in HEURISTIC_MODULES or pack == of.pack or name in words_of(of):
        return ""
    return f"{name} is for {pack} games, not for {of.name}{_functions_that_read(of)}"


def wrong_constant(name: str, value: object) -> str:
    """Why a constant of the file cannot be read; empty if it can."""
    advice = CONTAINERS.get(type(value))
    return (
        f"{name} is a {type(value).__name__}, which cannot be read there: {advice}"
        if advice
        else ""
    )


def wrong_attribute(owner: str, name: str, scope: dict[str, object], known: KnownNames) -> str:
    """Why `owner.name` means nothing; empty if it may mean something."""
    value, of, argument = scope.get(owner), known.of, known.arguments.get(owner)
    if isinstance(value, ModuleType):
        missing = not hasattr(value, name)
        return f"{owner} has no {name}{did_you_mean(name, dir(value), MISTYPED)}" if missing else ""
    if argument == WEIGHTS and name not in known.weight_names:
        near = did_you_mean(name, known.weight_names, MISTYPED)
        return f"WEIGHTS has no '{name}' (it has {listed(known.weight_names)}){near}"
    if argument == POSITION and not hasattr(of.start().state, name):
        return f"a position has no '{name}'{_functions_that_read(of)}"
    if argument == RULES:
        return f"rules has no '{name}'; pass it on as it is{_functions_that_read(of)}"
    return ""


def wrong_index(node: ast.Subscript, known: KnownNames) -> str:
    """Why a field of the position has no places; empty for anything else."""
    value = node.value
    if not (isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)):
        return ""
    if known.arguments.get(value.value.id) != POSITION:
        return ""
    return f"{ast.unparse(value)} is one number, without places{_functions_that_read(known.of)}"


def _functions_that_read(of: Game) -> str:
    """A hint that lists the functions that read a position of this game; empty if it has none."""
    words = words_of(of)
    if not words:
        return ""
    return f"; functions that read a position: {listed(words)} ({how_to_import(of, words[0])})"
