"""Interpreters of scripts: what the first line of a program names, as a command."""

import shlex
from collections.abc import Callable
from pathlib import Path

from games.names import quoted

LONGEST_FIRST_LINE = 256  # bytes: what the kernel reads

Find = Callable[[str], str | None]  # the path of a program of this name


class NoInterpreter(Exception):  # noqa: N818  # what is missing
    """The first line of a script names nothing that can be started; the words say what."""


def interpreter(script: Path, find: Find) -> tuple[str, ...]:
    """The command that runs a script, without the script; empty for what is none.

    `env` is left out, as it would look at the path of another environment.
    """
    with script.open("rb") as file:
        line = file.readline(LONGEST_FIRST_LINE)
    if not line.startswith(b"#!"):
        return ()
    text = line[2:].decode(errors="replace").rstrip("\n")
    words = shlex.split(text.strip()) if '"' in text or "'" in text else text.split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if word != "-S"]
    found = find(words[0]) if words else None
    if text.endswith("\r"):
        raise NoInterpreter("its first line ends in a carriage return, as on Windows")
    if found is None:
        raise NoInterpreter(f"its first line names {quoted(text.strip())}, which is not here")
    return (found, *words[1:])
