"""The argument parser of all commands, and commands that work when pasted."""

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from games.base.errors import printable

MAX_ERROR_LENGTH = 2000  # characters of what is wrong, below the usage
PYTHON = "python -m "
SCRIPT = "pitflip"
MODULES = ("run", "tune")  # verbs that `python -m arena.VERB` runs too
# Options that commands no longer have -> what to write in their place.
REMOVED_OPTIONS = {"--backend": "--workers 0 plays in this process"}


class CommandParser(argparse.ArgumentParser):
    """As argparse has it; arguments are printed escaped, and cut if they are long."""

    def parse_args(  # type: ignore[override]  # no caller brings a namespace
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Options may stand anywhere: before, between and after the words."""
        if self._subparsers:  # what follows a command's name is its own
            return super().parse_args(args, namespace)
        words = sys.argv[1:] if args is None else list(args)
        if "--" in words:  # what comes after it is a command with options of its own
            return super().parse_args(words, namespace)
        return self.parse_intermixed_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """End with what is wrong, in one line below the usage."""
        for option, instead in REMOVED_OPTIONS.items():
            if message.startswith("unrecognized") and option in message:
                message += f"; {option} was removed: {instead}"
        super().error(printable(message, MAX_ERROR_LENGTH))


def shell_command(command: str) -> str:
    """Return the command, such as `pitflip rate FILE`, as this shell can run it."""
    words = command.removeprefix(PYTHON)
    if words != command:  # a module of ours
        if Path(sys.argv[0]).name == SCRIPT and _is_ours(SCRIPT):
            return f"{SCRIPT} {words.partition('.')[2]}"
        return f"{_python()} -m {words}"
    verb = command.removeprefix(f"{SCRIPT} ")
    if verb == command or (Path(sys.argv[0]).name == SCRIPT and _is_ours(SCRIPT)):
        return command
    if verb.partition(" ")[0] in MODULES:
        return f"{_python()} -m arena.{verb}"
    return f"{_python()} -m {command}"


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
