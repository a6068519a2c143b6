"""Programming languages of bots: the command that runs a file, by its suffix."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.core import AgentFailure
from games.base.errors import printable
from games.base.file_trees import FileTree, file_tree
from games.base.text import quote

COMPILE_SECONDS = 120.0
# Includes of C and C++, and modules of Rust.
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
MODULE = re.compile(rb"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?mod[ \t]+(\w+)[ \t]*;", re.MULTILINE)
LONGEST_FIRST_LINE = 256  # bytes, as the kernel reads
Find = Callable[[str], str | None]  # returns the path of a program


@dataclass(frozen=True, slots=True)
class Language:
    """The commands for files of a language; `FILE` and `PROGRAM` are replaced by the paths."""

    name: str
    run_command: tuple[str, ...]
    compile_command: tuple[str, ...] = ()


# By file suffix.
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


def needs_interpreter(path: Path) -> bool:
    """Return whether a source file of a known language does not name its interpreter."""
    if path.suffix.lower() not in LANGUAGES or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) != b"#!" or not os.access(path, os.X_OK)


def source_command(path: Path) -> tuple[str, ...]:
    """Return the command that runs a source file, and compile the file where necessary."""
    language = LANGUAGES[path.suffix.lower()]
    program = compile_source(path, language) if language.compile_command else path
    return tuple(_fill_in(word, path, program) for word in language.run_command)


def _fill_in(word: str, path: Path, program: Path) -> str:
    return {"FILE": str(path), "PROGRAM": str(program)}.get(word, word)


def source_tree(path: Path) -> FileTree:
    """Return a file with the files that it imports or includes below its directory."""
    language = LANGUAGES.get(path.suffix.lower())
    if language is None or not language.compile_command:
        return file_tree(path)
    files, waiting = dict[str, Path](), [path]
    while waiting:
        file = waiting.pop()
        name = os.path.relpath(file, path.parent)
        if name in files or name.startswith("..") or not file.is_file():
            continue
        files[name] = file
        content = file.read_bytes()
        waiting += [file.parent / os.fsdecode(word) for word in INCLUDE.findall(content)]
        for word in map(os.fsdecode, MODULE.findall(content)):
            places = (f"{word}.rs", f"{word}/mod.rs", f"{file.stem}/{word}.rs")
            waiting += [file.parent / place for place in places]
    return FileTree(path, files or {path.name: path})


def compile_source(path: Path, language: Language) -> Path:
    """Compile a source file once for each content, and return the program."""
    digest = source_tree(path).digest(12)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitflip" / "bots"
    program = home / digest / path.stem
    if program.is_file():
        return program
    if shutil.which(language.compile_command[0]) is None:
        message = f"cannot be compiled: there is no program {quote(language.compile_command[0])}"
        raise AgentFailure("unloadable", path.name, "", message)
    program.parent.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_name(f".{program.name}.{os.getpid()}")
    words = [_fill_in(word, path, unfinished) for word in language.compile_command]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
        )
        if done.returncode != 0:
            lines = [printable(line) for line in done.stderr.splitlines()]
            first = next((line for line in lines if "error" in line), "see below")
            message = f"cannot be compiled: {first.replace(str(path), path.name)}"
            raise AgentFailure("unloadable", path.name, "", message, "\n".join(lines[:20]))
        unfinished.replace(program)
    except subprocess.TimeoutExpired:
        message = f"cannot be compiled within {COMPILE_SECONDS:g} s"
        raise AgentFailure("unloadable", path.name, "", message) from None
    finally:
        unfinished.unlink(missing_ok=True)
    return program


class InterpreterMissing(Exception):  # noqa: N818  # named for the cause
    """The first line of a script names no program that can be started."""


def shebang_command(script: Path, find: Find) -> tuple[str, ...]:
    """Return the command that runs a script, without the script; empty for other files.

    `env` is left out because it would search the PATH of another environment.
    """
    with script.open("rb") as file:
        line = file.readline(LONGEST_FIRST_LINE)
    if not line.startswith(b"#!"):
        return ()
    text = line[2:].decode(errors="replace").rstrip("\n")
    words = shlex.split(text.strip()) if '"' in text or "'" in text else text.split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if word != "-S"]
    program = find(words[0]) if words else None
    if text.endswith("\r"):
        raise InterpreterMissing("its first line ends in a carriage return, as on Windows")
    if program is None:
        interpreter = quote(text.strip())
        raise InterpreterMissing(f"its first line names {interpreter}, which is not installed")
    return (program, *words[1:])
