"""Load functions and classes from users' files."""

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
from games.base.file_trees import add_to_search_path
from games.base.text import MISTYPED, did_you_mean, did_you_mean_file, join_names

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
INTERPRETER = re.compile(r"(python|pypy|node|java|ruby|perl|php|lua|julia|Rscript|sh|bash)[0-9.]*")


def split_reference(reference: str, default: str) -> tuple[Path, str]:
    """Return the path and the name in `bots/mine.py:name`; the name is optional."""
    path, colon, name = reference.rpartition(":")
    if not colon or "/" in name or name.endswith(".py"):
        path, name = reference, default
    return Path(path).expanduser().resolve(), name


def is_user_path(word: str) -> bool:
    """Return whether a word of a command is an absolute path outside the system directories."""
    return word.startswith("/") and not word.startswith(tuple(f"{path}/" for path in SYSTEM))


def program_home(command: Sequence[str]) -> list[Path]:
    """Return the installation directory of a user's program in a `bin` directory.

    Interpreters are excluded: they are installed like the system's programs.
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
    """Return a word of a command, replaced by `place` if it is a path.

    Relative paths begin with a dot.
    """
    if not is_user_path(word) and not word.startswith(("./", "../")):
        return word
    path = place(word)
    if path.startswith("/"):
        return os.path.normpath(path)  # the sandbox contains only the files themselves
    return path if path.startswith(("./", "../")) else f"./{path}"


def user_traceback(error: BaseException, path: Path) -> str:
    """Return the frames of a traceback in the user's file, and the error."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path]
    lines = traceback.format_list(frames)
    text = "".join([*lines, *traceback.format_exception_only(error)]).rstrip()
    return text.replace(str(path), printable(str(path)))


def is_keyboard_interrupt(error: BaseException) -> bool:
    """Return whether the error is a Ctrl-C at this terminal, not one raised by a bot."""
    interrupted = isinstance(error, KeyboardInterrupt)
    return interrupted and signal.getsignal(signal.SIGINT) != signal.SIG_IGN


def missing_file_failure(path: Path) -> AgentFailure:
    """Return the failure of a bot whose file does not exist."""
    message = f"cannot be loaded: there is no file {path}{did_you_mean_file(path, '*.py')}"
    return AgentFailure("unloadable", path.name, "", message)


def load_module(path: Path) -> ModuleType:
    """Return the user's file as a module; a changed file is loaded again."""
    try:
        content = path.read_bytes()
    except OSError:
        raise missing_file_failure(path) from None
    return _load_content(path, content)


@cache
def _load_content(path: Path, content: bytes) -> ModuleType:
    name = f"pitflip_user_{path.stem}_{abs(hash(path)):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        message = f"cannot be loaded: {path} is not a Python file"
        raise AgentFailure("unloadable", path.name, "", message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pickle finds functions by module name
    add_to_search_path(path)
    try:
        # Never cached bytecode: after an edit within the same second it may be outdated.
        exec(compile(content, path, "exec"), vars(module))
    except BaseException as error:  # every exception of a user's code is its fault
        del sys.modules[name]
        if is_keyboard_interrupt(error):
            raise
        trace = user_traceback(error, path) + import_suggestion(error)
        raise AgentFailure("unloadable", path.name, "", "cannot be loaded:", trace) from None
    return module


def import_suggestion(error: BaseException) -> str:
    """Return a "did you mean" hint for a failed import, or an empty text."""
    found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
    if not isinstance(error, ImportError) or not found:
        return ""
    return did_you_mean(found[1], dir(sys.modules.get(found[2])), MISTYPED)


def load_object(reference: str, default: str) -> tuple[Path, Any]:
    """Return the path of a reference such as `bots/mine.py:name`, and the named object."""
    path, name = split_reference(reference, default)
    module = load_module(path)
    if not hasattr(module, name):
        names = [
            key
            for key, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and key[0] != "_"
        ]
        message = f"cannot be loaded: {missing_name_text(path, name, names)}"
        raise AgentFailure("unloadable", path.name, "", message)
    return path, getattr(module, name)


def missing_name_text(path: Path, name: str, names: Sequence[str]) -> str:
    """Return the message that a file does not define a name, with the names it defines."""
    has = join_names(names) or "nothing"
    return f"{path.name} has no {name} (it has {has}){did_you_mean(name, names)}"


def missing_definition(reference: str, default: str) -> str:
    """Return a message if a file does not define the name of a reference; empty if it may."""
    path, name = split_reference(reference, default)
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return ""  # loading it reports the problem
    nodes = list(ast.walk(tree))
    used = {getattr(node, key, None) for node in nodes for key in ("id", "name", "asname")}
    if not used.isdisjoint((name, "*")):
        return ""
    defined = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return missing_name_text(path, name, [word for word in defined if word[0] != "_"])
