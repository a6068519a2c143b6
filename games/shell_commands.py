"""Printed commands work where they are printed: which words start our Python in this shell."""

import os
import shlex
import shutil
import sys
from pathlib import Path

PYTHON = "python -m "  # how commands are written, in tables and in pages too


def here(command: str) -> str:
    """The same command, such as `python -m games.replay ...`, as this shell can run it."""
    if not command.startswith(PYTHON):
        return command
    module, blank, rest = command.removeprefix(PYTHON).partition(" ")
    if Path(sys.argv[0]).name == "pitflip" and _is_ours("pitflip"):
        return f"pitflip {module.rpartition('.')[2]}{blank}{rest}"
    return f"{_python()} -m {module}{blank}{rest}"


def _python() -> str:
    """The word for our Python: `python` if the shell finds ours by it, else its path."""
    for word in ("python", "python3"):
        if _is_ours(word):
            return word
    relative = os.path.relpath(sys.executable)
    return shlex.quote(sys.executable if relative.startswith("..") else relative)


def _is_ours(word: str) -> bool:
    """Whether the shell finds this program in the environment that runs now."""
    found = shutil.which(word)
    return found is not None and Path(found).parent.absolute() == Path(sys.executable).parent
