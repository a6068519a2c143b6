"""Every module of ours: first line, length, names, and that it writes no file itself."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("games", "agents", "arena")
LONGEST_FUNCTION = 40
LONGEST_KERNEL = 60  # a node of a search, or a game, is one function
MOST_ANY = 99
PACKS = sorted(path.parent for path in (ROOT / "games").glob("*/rules.py"))
WRITERS = ("write_text", "write_bytes")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Facts(NamedTuple):
    """What is asked of a module; its tree, of which it is taken, is forgotten: it is large."""

    text: str
    first_line: str
    functions: list[tuple[str, int, int]]  # name, where, lines
    classes: list[str]
    anys: int
    writes: bool  # whether it opens a file to write


@cache
def ours() -> dict[str, Facts]:
    """Every module of ours by its path."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {str(path.relative_to(ROOT)): facts(path.read_text()) for path in paths}


def facts(text: str) -> Facts:
    """What the text of a module says."""
    tree = ast.parse(text)
    nodes = every_node(tree)
    functions = [each for kind in FUNCTIONS for each in nodes[kind]]
    return Facts(
        text,
        (ast.get_docstring(tree) or "").partition("\n")[0],
        [(each.name, each.lineno, each.end_lineno - each.lineno + 1) for each in functions],
        [each.name for each in nodes[ast.ClassDef]],
        sum(each.id == "Any" for each in nodes[ast.Name]),
        any(map(writes, nodes[ast.Call])),
    )


def every_node(tree: ast.Module) -> dict[type, list]:
    """What a tree is made of, by its kind: `ast.walk`, at a third of its time."""
    found, rest = defaultdict(list), [tree]
    while rest:
        node = rest.pop()
        if type(node) is list:
            rest += node
        elif isinstance(node, ast.AST):
            found[type(node)].append(node)
            rest += vars(node).values()
    return found


def twice(names: list[str]) -> dict[str, int]:
    """The names that are there more than once."""
    return {name: count for name, count in Counter(names).items() if count > 1}


# ------------------------------------------------------------------- form and size


def test_a_module_says_its_job_in_its_first_line():
    first = {
        name: each.first_line
        for name, each in ours().items()
        if each.text  # the `__init__` of a package without a surface is empty
    }
    assert not {name: line for name, line in first.items() if not re.fullmatch(r"[A-Z`].*\.", line)}


def test_a_function_is_short():
    lengths = {
        f"{module}:{line} {name}": (lines, "/kernels/" in module)
        for module, each in ours().items()
        for name, line, lines in each.functions
    }
    assert not {
        name: lines
        for name, (lines, kernel) in lengths.items()
        if lines > (LONGEST_KERNEL if kernel else LONGEST_FUNCTION)
    }


def test_any_is_for_parsed_files_and_libraries_without_types():
    counts = Counter({name: each.anys for name, each in ours().items()})
    assert counts.total() <= MOST_ANY, (
        f"{counts.total()} times Any, most in {counts.most_common(5)}: give a real type, such as "
        "a NamedTuple, a Protocol, a type variable, or an alias like games.keys.KeyValues"
    )


# --------------------------------------------------------------------------- names


def test_a_class_has_a_name_of_its_own_in_the_whole_tree():
    assert not twice([name for each in ours().values() for name in each.classes])


@pytest.mark.parametrize("package", PACKAGES)
def test_a_module_has_a_name_of_its_own_in_its_package(package):
    paths = (path for path in (ROOT / package).rglob("*.py") if path.stem != "__init__")
    # The command `plan` says what a plan will cost: both are called by their only right name.
    paths = (path for path in paths if path != ROOT / "arena" / "plan.py")
    # Packs share the names of their parts on purpose: who knows one pack knows them all.
    assert not twice([path.stem for path in paths if not set(path.parents) & set(PACKS)])


# --------------------------------------------------------------------------- files


def writes(call: ast.Call) -> bool:
    """Whether a call opens a file to write, or writes one at once."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in WRITERS:
        return isinstance(call.func, ast.Attribute)
    said = [*call.args, *(each.value for each in call.keywords if each.arg in ("mode", "flags"))]
    words = [each.value for each in said if isinstance(each, ast.Constant)]
    modes = [word for word in words if isinstance(word, str) and re.fullmatch(r"[rwaxbt+]+", word)]
    return name == "open" and any(set("wax+") & set(mode) for mode in modes)


def test_only_whole_files_opens_a_file_to_write():
    found = {name for name, each in ours().items() if each.writes}
    assert found == {"games/whole_files.py"}


@pytest.mark.parametrize(
    "text", ["p.write_text(x)", "open(p, 'w')", "p.open('ab')", "p.open(mode='r+')"]
)
def test_what_writes_a_file_is_seen(text):
    assert writes(ast.parse(text).body[0].value)
    assert not writes(ast.parse("write_text(p, x)").body[0].value)
    assert not writes(ast.parse("p.open('rb')").body[0].value)
