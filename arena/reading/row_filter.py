"""`--where "plies > 40 and first == 'mine'"`: which rows of a table, read by a grammar of its own.

Names are columns; numbers and words in quotes are compared with them by == != < <= > >=, and
joined by and, or, not and brackets. Python's own parser reads it; nothing of it is ever run.
"""

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.storage.parquet import TableError, column_names, read_columns
from games.base.errors import Mistake
from games.base.text import did_you_mean, listed, quoted

LONGEST = 1000  # letters
Column = NDArray[Any]
Compare = Callable[[Any, Any], Any]
COMPARISONS: Mapping[type[ast.cmpop], Compare] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
SHAPE = """columns, numbers and 'words' compared by == != < <= > >=, joined by and, or, not"""


def parsed(text: str) -> ast.expr:
    """The condition; a Mistake says what in it is none."""
    if len(text) > LONGEST:
        raise Mistake(f"--where must have at most {LONGEST} letters, got {len(text):,}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _check(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Mistake(f"--where must be {SHAPE}, got {quoted(text)}") from None
    return tree


def _check(tree: ast.expr) -> None:
    """Raise ValueError if the expression is not a condition."""
    if isinstance(tree, ast.BoolOp):
        for each in tree.values:
            _check(each)
    elif isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        _check(tree.operand)
    elif isinstance(tree, ast.Compare):
        for side in (tree.left, *tree.comparators):
            _check_value(side)
        if not all(type(each) in COMPARISONS for each in tree.ops):
            raise ValueError
    elif not isinstance(tree, ast.Name):  # a column of truths, such as repeat
        raise ValueError


def _check_value(tree: ast.expr) -> None:
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        tree = tree.operand
    if isinstance(tree, ast.Name):
        return
    if not (isinstance(tree, ast.Constant) and isinstance(tree.value, int | float | str)):
        raise ValueError


def rows_where(tree: ast.expr, file: Path) -> NDArray[np.bool_]:
    """Which rows of the table fulfil the condition; a Mistake names the columns that there are."""
    try:
        names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        there = column_names(file)
        for name in sorted(names):
            _known(name, there, file)
        columns = read_columns(file, sorted(names) or there[:1])
    except TableError as error:
        raise Mistake(f"{file} cannot be read: {error}") from None
    size = len(next(iter(columns.values())))
    try:
        truth = np.asarray(_truth(tree, columns))
    except TypeError:
        raise Mistake(f"--where: {ast.unparse(tree)} compares a number with words") from None
    if truth.dtype != np.bool_:
        raise Mistake(f"--where: {ast.unparse(tree)} is neither true nor false: compare it")
    return np.broadcast_to(truth, size)


def _known(name: str, there: Collection[str], file: Path) -> None:
    if name not in there:
        near = did_you_mean(name, there)
        raise Mistake(f"--where: {file.name} has no column {quoted(name)} ({listed(there)}){near}")


def _truth(tree: ast.expr, columns: Mapping[str, Column]) -> Any:
    if isinstance(tree, ast.BoolOp):
        parts = [_truth(each, columns) for each in tree.values]
        join = np.logical_and if isinstance(tree.op, ast.And) else np.logical_or
        return join.reduce(np.broadcast_arrays(*parts))
    if isinstance(tree, ast.UnaryOp):
        return np.logical_not(_truth(tree.operand, columns))
    if isinstance(tree, ast.Compare):
        sides = [_value(each, columns) for each in (tree.left, *tree.comparators)]
        steps = zip(sides, tree.ops, sides[1:], strict=False)
        return np.logical_and.reduce(
            np.broadcast_arrays(*(_compared(a, op, b) for a, op, b in steps))
        )
    return _value(tree, columns)


def _compared(one: Any, op: ast.cmpop, other: Any) -> Any:
    """The comparison; a TypeError if words meet numbers."""
    if _is_words(one) != _is_words(other):
        raise TypeError
    return COMPARISONS[type(op)](one, other)


def _is_words(value: Any) -> bool:
    kind = np.asarray(value).dtype.kind
    return kind in "OUT"


def _value(tree: ast.expr, columns: Mapping[str, Column]) -> Any:
    if isinstance(tree, ast.Name):
        return columns[tree.id]
    if isinstance(tree, ast.UnaryOp):
        return -_value(tree.operand, columns)
    assert isinstance(tree, ast.Constant)  # as checked
    return tree.value
