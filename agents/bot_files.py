"""A bot that is one file, in whichever language its ending names: the agent that it makes."""

import ast
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.core import AgentFailure, AgentSpec, SpecError
from games.names import did_you_mean, listed, quoted
from games.terminal import printable

COMPILE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Language:
    """How a file of a language becomes a process; `FILE` and `PROGRAM` stand for the paths."""

    name: str
    runs: tuple[str, ...]
    compiles: tuple[str, ...] = ()


# By the ending of a file.
LANGUAGES: Mapping[str, Language] = {
    ".py": Language("python", ("python3", "FILE")),
    ".js": Language("javascript", ("node", "FILE")),
    ".mjs": Language("javascript", ("node", "FILE")),
    ".cjs": Language("javascript", ("node", "FILE")),
    ".java": Language("java", ("java", "FILE")),
    ".sh": Language("shell", ("sh", "FILE")),
    ".c": Language("c", ("PROGRAM",), ("cc", "-O2", "-o", "PROGRAM", "FILE", "-lm")),
    ".cpp": Language("c++", ("PROGRAM",), ("c++", "-O2", "-o", "PROGRAM", "FILE")),
    ".rs": Language("rust", ("PROGRAM",), ("rustc", "-O", "-o", "PROGRAM", "FILE")),
    ".go": Language("go", ("PROGRAM",), ("go", "build", "-o", "PROGRAM", "FILE")),
    ".rb": Language("ruby", ("ruby", "FILE")),
    ".pl": Language("perl", ("perl", "FILE")),
    ".php": Language("php", ("php", "FILE")),
    ".lua": Language("lua", ("lua", "FILE")),
    ".jl": Language("julia", ("julia", "FILE")),
    ".r": Language("r", ("Rscript", "FILE")),
}


def is_bot_file(path: Path) -> bool:
    """Whether a file is a bot by its ending, or a program by its mode."""
    return path.suffix.lower() in LANGUAGES or (path.is_file() and os.access(path, os.X_OK))


def bot_spec(path: Path) -> AgentSpec:
    """The agent of a file: a Python bot if it has `choose`, a search if it has `evaluate`, else a
    program that speaks lines.

    SpecError if there is no such file or its language is not known; a language that is compiled is
    compiled here, and AgentFailure says why that failed.
    """
    path = path.expanduser().absolute()
    if not path.is_file():
        near = [each.name for each in path.parent.glob("*")] if path.parent.is_dir() else []
        raise SpecError(f"there is no file {quoted(str(path))}{did_you_mean(path.name, near)}")
    language = LANGUAGES.get(path.suffix.lower())
    if language and language.name == "python":
        if name := chooser(path):
            kind, option = ("alphabeta", "evaluate") if name == "evaluate" else ("python", "file")
            return AgentSpec(kind, {option: f"{path}:{name}"})
    elif language is None:
        if not os.access(path, os.X_OK):
            raise SpecError(
                f"{quoted(path.name)} is no program, and its ending names no language "
                f"(known are {listed(LANGUAGES)})"
            )
        return AgentSpec("lines", command=[str(path)])
    return AgentSpec("lines", command=list(command_of(path, language)))


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


def command_of(path: Path, language: Language) -> tuple[str, ...]:
    """The command that runs a file."""
    program = compiled(path, language) if language.compiles else path
    return tuple(_filled(word, path, program) for word in language.runs)


def _filled(word: str, path: Path, program: Path) -> str:
    return {"FILE": str(path), "PROGRAM": str(program)}.get(word, word)


def compiled(path: Path, language: Language) -> Path:
    """The program that a file is compiled to, once for each content."""
    digest = hashlib.blake2b(path.read_bytes(), digest_size=12).hexdigest()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitflip" / "bots"
    program = home / digest / path.stem
    if program.is_file():
        return program
    if shutil.which(language.compiles[0]) is None:
        message = f"cannot be compiled: there is no program {quoted(language.compiles[0])}"
        raise AgentFailure("unloadable", path.name, "", message)
    program.parent.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_name(f".{program.name}.{os.getpid()}")
    words = [_filled(word, path, unfinished) for word in language.compiles]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
        )
        if done.returncode != 0:
            trace = "\n".join(printable(line) for line in done.stderr.splitlines()[:20])
            raise AgentFailure("unloadable", path.name, "", "cannot be compiled:", trace)
        unfinished.replace(program)
    except subprocess.TimeoutExpired:
        message = f"cannot be compiled within {COMPILE_SECONDS:g} s"
        raise AgentFailure("unloadable", path.name, "", message) from None
    finally:
        unfinished.unlink(missing_ok=True)
    return program
