"""Explain from the source why a user's evaluation does not compile.

Numba's own message is used where nothing is found here, because it is technical and often names
another line.
"""

import ast
import inspect
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

from agents.evaluation.user_names import (
    import_line,
    importable_names,
    is_own_function,
    reachable_functions,
)
from games import Game
from games.base.text import MISTYPED, did_you_mean, join_names
from games.kernels.jit import python_function, source_line

MOST_REASONS = 4
HEURISTIC_MODULES = (["features"], ["heuristic_functions"])  # modules in a game's package
# The roles of an evaluation's arguments; heuristic functions begin with the first two.
RULES, POSITION, WEIGHTS = "rules", "position", "weights"
CONTAINERS: dict[type[object], str] = {
    dict: "write a constant for each of its values, or WEIGHTS and a third argument",
    list: "write a tuple",
    set: "write a tuple",
}


class Reason(NamedTuple):
    """A line of the user's file that does not compile, with the reason."""

    path: Path
    line: int
    text: str

    def line_text(self, main: Path) -> str:
        """Return the place, reason and code in one line; the file only if it is not `main`."""
        where = "" if self.path == main else f"{self.path.name}, "
        return f"{where}line {self.line}: {self.text}, in: {source_line(self.path, self.line)}"


class KnownNames(NamedTuple):
    """The names that a function may read: game, weights and its own arguments.

    `arguments` maps the names of the arguments to their roles.
    """

    game: Game
    weight_names: Collection[str]
    arguments: dict[str, str]


def compile_reasons(
    evaluation: FunctionType, game: Game, weight_names: Collection[str]
) -> list[Reason]:
    """Return the reasons in an evaluation and in the functions that it calls."""
    reasons: list[Reason] = []
    for function in reachable_functions(evaluation):
        node = definition_of(function)
        if node is not None:
            names = inspect.signature(function).parameters if function is evaluation else ()
            arguments = dict(zip(names, (RULES, POSITION, WEIGHTS), strict=False))
            path, known = (
                Path(function.__code__.co_filename),
                KnownNames(game, weight_names, arguments),
            )
            reasons += [Reason(path, *line) for line in reasons_in(node, function, known)]
    return reasons[:MOST_REASONS]


def definition_of(function: FunctionType) -> ast.FunctionDef | None:
    """Return the syntax tree of a function, or None if its file cannot be read again."""
    code = function.__code__
    try:
        tree = ast.parse(Path(code.co_filename).read_text())
    except (OSError, ValueError, SyntaxError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            lines = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
            if min(lines) == code.co_firstlineno:
                return node
    return None


def reasons_in(
    node: ast.FunctionDef, function: FunctionType, known: KnownNames
) -> Iterator[tuple[int, str]]:
    """Yield the lines of one function that do not compile, with reasons, in order."""
    local = set(function.__code__.co_varnames)
    scope = {name: value for name, value in function.__globals__.items() if name not in local}
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr | ast.With)]
    for part in sorted(parts, key=lambda part: (part.lineno, part.col_offset)):
        text = "with does not compile" if isinstance(part, ast.With) else ""
        if isinstance(part, ast.Call):
            text = call_problem(part, call_target(part.func, scope))
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            value = scope.get(part.id)
            text = constant_problem(part.id, value) or other_game_problem(value, known.game)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            text = attribute_problem(part.value.id, part.attr, scope, known)
        elif isinstance(part, ast.Subscript):
            text = index_problem(part, known)
        if text:
            yield part.lineno, text


def call_target(func: ast.expr, scope: dict[str, object]) -> object:
    """Return the object that a call calls, or None if only running the code could tell."""
    if isinstance(func, ast.Name):
        return scope.get(func.id)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        module = scope.get(func.value.id)
        return getattr(module, func.attr, None) if isinstance(module, ModuleType) else None
    return None


def call_problem(call: ast.Call, value: object) -> str:
    """Return the problem with a call of our function or the user's, or an empty text."""
    plain: Callable[..., object] = python_function(value)
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    if not isinstance(plain, FunctionType) or starred or any(not k.arg for k in call.keywords):
        return ""
    signature, written = inspect.signature(plain), ast.unparse(call)
    right = f"it is called {plain.__name__}({', '.join(signature.parameters)})"
    try:
        bound = signature.bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
    except TypeError as error:
        return f"{written}: {missing_arguments_text(call, signature) or error}; {right}"
    given = {name: getattr(each, "id", "") for name, each in bound.arguments.items()}
    if is_own_function(value) and (given.get(RULES) == POSITION or given.get(POSITION) == RULES):
        return f"{written}: its arguments are in another order; {right}"
    return ""


def missing_arguments_text(call: ast.Call, signature: inspect.Signature) -> str:
    """Return the missing arguments, judged by the names of those present; empty if unclear.

    For Python, `pot(position)` has its first argument and lacks the second.
    """
    given = {getattr(argument, "id", "") for argument in call.args}
    given |= {keyword.arg for keyword in call.keywords}
    empty = inspect.Parameter.empty
    needed = [name for name, value in signature.parameters.items() if value.default is empty]
    missing = [name for name in needed if name not in given]
    fits = len(missing) == len(needed) - len(call.args) - len(call.keywords)
    return f"{join_names(missing)} is missing" if missing and fits else ""


def other_game_problem(value: object, game: Game) -> str:
    """Return the problem if a heuristic function belongs to another game, or an empty text."""
    if not is_own_function(value):
        return ""
    name, (_, pack, *rest) = (
        python_function(value).__name__,
        python_function(value).__module__.split("."),
    )
    if rest not in HEURISTIC_MODULES or pack == game.pack or name in importable_names(game):
        return ""
    return f"{name} is for {pack} games, not for {game.name}{_reader_hint(game)}"


def constant_problem(name: str, value: object) -> str:
    """Return the problem with reading a constant of the file, or an empty text."""
    advice = CONTAINERS.get(type(value))
    return (
        f"{name} is a {type(value).__name__}, which cannot be read there: {advice}"
        if advice
        else ""
    )


def attribute_problem(owner: str, name: str, scope: dict[str, object], known: KnownNames) -> str:
    """Return the problem with `owner.name`, or an empty text."""
    value, game, argument = scope.get(owner), known.game, known.arguments.get(owner)
    if isinstance(value, ModuleType):
        missing = not hasattr(value, name)
        return f"{owner} has no {name}{did_you_mean(name, dir(value), MISTYPED)}" if missing else ""
    if argument == WEIGHTS and name not in known.weight_names:
        near = did_you_mean(name, known.weight_names, MISTYPED)
        return f"WEIGHTS has no '{name}' (it has {join_names(known.weight_names)}){near}"
    if argument == POSITION and not hasattr(game.start().state, name):
        return f"a position has no '{name}'{_reader_hint(game)}"
    if argument == RULES:
        return f"rules has no '{name}'; pass it to functions unchanged{_reader_hint(game)}"
    return ""


def index_problem(node: ast.Subscript, known: KnownNames) -> str:
    """Return the problem with indexing a field of the position, or an empty text."""
    value = node.value
    if not (isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)):
        return ""
    if known.arguments.get(value.value.id) != POSITION:
        return ""
    return f"{ast.unparse(value)} is one number and has no index{_reader_hint(known.game)}"


def _reader_hint(game: Game) -> str:
    words = importable_names(game)
    if not words:
        return ""
    return f"; functions that read a position: {join_names(words)} ({import_line(game, words[0])})"
