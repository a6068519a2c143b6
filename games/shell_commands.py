"""Printed commands work where they are printed: which words start our Python in this shell."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from games.names import did_you_mean, listed
from games.terminal import MISTAKE, printable, say

HOME = Path(__file__).parents[1]
MAIN = 'if __name__ == "__main__"'  # at the end of every command
PYTHON = "python -m "  # how commands are written, in tables and in pages too


def here(command: str) -> str:
    """The same command, such as `python -m games.replay ...`, as this shell can run it."""
    if not command.startswith(PYTHON):
        return command
    module, blank, rest = command.removeprefix(PYTHON).partition(" ")
    if Path(sys.argv[0]).name == "pitflip" and _is_ours("pitflip"):
        return f"pitflip {module.rpartition('.')[2]}{blank}{rest}"
    return f"{_python()} -m {module}{blank}{rest}"


def refuse_no_command(package: str) -> None:
    """End in one line if `python -m` was given a module of this package that is no command.

    Python itself would say nothing, or what is wrong as a failed check (status 1).
    """
    words = sys.orig_argv
    if sys.argv[:1] != ["-m"] or "-m" not in words[:-1]:  # so it is while Python looks for it
        return
    module = words[words.index("-m") + 1]
    if module.partition(".")[0] != package or _is_command(module):
        return
    paths = sorted(HOME.glob(f"{package}/*.py"))
    commands = [name for path in paths if _is_command(name := f"{package}.{path.stem}")]
    near = did_you_mean(module, commands)
    say(f"{printable(module)} is no command (there are {listed(commands)}){near}")
    raise SystemExit(MISTAKE)


def _is_command(module: str) -> bool:
    try:
        return f"\n{MAIN}" in HOME.joinpath(*module.split(".")).with_suffix(".py").read_text()
    except (OSError, ValueError):
        return False


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
