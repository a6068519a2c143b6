"""Loading a function or class from a user's own file, with errors about that file only."""

import ast
import importlib.util
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.core import AgentFailure
from games.base.errors import printable
from games.base.file_trees import find_beside
from games.base.text import MISTYPED, did_you_mean, listed

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
INTERPRETER = re.compile(r"(python|pypy|node|java|ruby|perl|php|lua|julia|Rscript|sh|bash)[0-9.]*")


def split_reference(reference: str, default: str) -> tuple[Path, str]:
    """The path and the name in `bots/mine.py:name`; the name may be left out."""
    path, colon, name = reference.rpartition(":")
    if not colon or "/" in name or name.endswith(".py"):
        path, name = reference, default
    return Path(path).expanduser().resolve(), name


def is_user_path(word: str) -> bool:
    """Whether a word of a command is the absolute path of what a user wrote."""
    return word.startswith("/") and not word.startswith(tuple(f"{path}/" for path in SYSTEM))


def own_home(command: Sequence[str]) -> list[Path]:
    """Return the directory that a user's program in a `bin` takes its library from; it can be read.

    What interpreters have is installed, as in the system's own places.
    """
    program = Path(command[0]) if command else Path()
    home = program.parent.parent
    if (
        program.parent.name != "bin"
        or not is_user_path(str(program))
        or home in (Path("/"), Path.home())
    ):
        return []
    return [] if INTERPRETER.fullmatch(program.name) else [home]


def replace_path(word: str, place: Callable[[str], str]) -> str:
    """A word of a command, rewritten by `place` if it is a path; relative ones begin with a dot."""
    if not is_user_path(word) and not word.startswith(("./", "../")):
        return word
    path = place(word)
    if path.startswith("/"):
        return os.path.normpath(path)  # behind the wall there is nothing but the files themselves
    return path if path.startswith(("./", "../")) else f"./{path}"


def user_traceback(error: BaseException, path: Path) -> str:
    """The part of a traceback that lies in the user's file, and the error itself."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path]
    lines = traceback.format_list(frames)
    text = "".join([*lines, *traceback.format_exception_only(error)]).rstrip()
    return text.replace(str(path), printable(str(path)))


def is_keyboard_interrupt(error: BaseException) -> bool:
    """Whether it is a Ctrl-C of the person at this terminal; in a worker it is the bot's."""
    interrupted = isinstance(error, KeyboardInterrupt)
    return interrupted and signal.getsignal(signal.SIGINT) != signal.SIG_IGN


def missing_file_failure(path: Path) -> AgentFailure:
    """The failure of a bot whose file is not there."""
    near = [p.name for p in path.parent.glob("*.py")] if path.parent.is_dir() else []
    message = f"cannot be loaded: there is no file {path}{did_you_mean(path.name, near)}"
    return AgentFailure("unloadable", path.name, "", message)


def load_module(path: Path) -> ModuleType:
    """The user's file as a module; loaded again when it has changed."""
    try:
        content = path.read_bytes()
    except OSError:
        raise missing_file_failure(path) from None
    return _module(path, content)


@cache
def _module(path: Path, content: bytes) -> ModuleType:
    name = f"pitflip_user_{path.stem}_{abs(hash(path)):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        message = f"cannot be loaded: {path} is not a Python file"
        raise AgentFailure("unloadable", path.name, "", message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pickle finds functions by the name of their module
    find_beside(path)
    try:
        # Never its bytecode: that of an edit in the same second may be the old one.
        exec(compile(content, path, "exec"), vars(module))
    except BaseException as error:  # whatever a user's code raises is its own fault
        del sys.modules[name]
        if is_keyboard_interrupt(error):
            raise
        trace = user_traceback(error, path) + nearest_import(error)
        raise AgentFailure("unloadable", path.name, "", "cannot be loaded:", trace) from None
    return module


def nearest_import(error: BaseException) -> str:
    """`; did you mean "..."?` where a module has no such name, but one like it."""
    found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
    if not isinstance(error, ImportError) or not found:
        return ""
    return did_you_mean(found[1], dir(sys.modules.get(found[2])), MISTYPED)


def load_object(reference: str, default: str) -> tuple[Path, Any]:
    """The path of a reference like `bots/mine.py:name`, and the object that it names."""
    path, name = split_reference(reference, default)
    module = load_module(path)
    if not hasattr(module, name):
        names = [
            each
            for each, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and each[0] != "_"
        ]
        message = f"cannot be loaded: {no_such_name(path, name, names)}"
        raise AgentFailure("unloadable", path.name, "", message)
    return path, getattr(module, name)


def no_such_name(path: Path, name: str, names: Sequence[str]) -> str:
    """The line that says a file does not define a name, and which ones it defines."""
    has = listed(names) or "nothing"
    return f"{path.name} has no {name} (it has {has}){did_you_mean(name, names)}"


def missing_definition(reference: str, default: str) -> str:
    """Return why the name of a reference is not in its file, by its text; empty if it may be."""
    path, name = split_reference(reference, default)
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return ""  # loading it says what is wrong
    nodes = list(ast.walk(tree))
    used = {getattr(node, key, None) for node in nodes for key in ("id", "name", "asname")}
    if not used.isdisjoint((name, "*")):
        return ""
    defined = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return no_such_name(path, name, [each for each in defined if each[0] != "_"])
