"""A bot that is one file, in whichever language its ending names: the agent that it makes."""

import ast
import os
from pathlib import Path

from agents.core import AgentSpec, SpecError
from agents.languages import LANGUAGES
from games.names import did_you_mean, listed, quoted


def is_bot_file(path: Path) -> bool:
    """Whether a file is a bot by its ending, or a program by its mode."""
    return path.suffix.lower() in LANGUAGES or (path.is_file() and os.access(path, os.X_OK))


def bot_spec(path: Path) -> AgentSpec:
    """The agent of a file: a Python bot if it has `choose`, a search if it has `evaluate`, else a
    program that speaks lines.

    SpecError if there is no such file or its language is not known.
    """
    path = path.expanduser().absolute()
    if path.exists() and not path.is_file():
        raise SpecError(f"{quoted(str(path))} is no file")
    if not path.is_file():
        near = [each.name for each in path.parent.glob("*")] if path.parent.is_dir() else []
        raise SpecError(f"there is no file {quoted(str(path))}{did_you_mean(path.name, near)}")
    language = LANGUAGES.get(path.suffix.lower())
    if language and language.name == "python":
        if name := chooser(path):
            kind, option = ("alphabeta", "evaluate") if name == "evaluate" else ("python", "file")
            return AgentSpec(kind, {option: f"{path}:{name}"})
    elif language is None and not os.access(path, os.X_OK):
        raise SpecError(
            f"{quoted(path.name)} is no program, and its ending names no language "
            f"(known are {listed(LANGUAGES)})"
        )
    return AgentSpec("lines", command=[str(path)])


def chooser(path: Path) -> str:
    """The function `choose` or `evaluate`, or the first class that has `choose`; empty if none."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return "choose"  # what is wrong with it is said when it is loaded
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    for name in ("choose", "evaluate"):
        if name in functions:
            return name
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(
            isinstance(each, ast.FunctionDef) and each.name == "choose" for each in node.body
        ):
            return node.name
    return ""
