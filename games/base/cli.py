"""The argument parser of every command, and commands printed for the user's shell."""

import argparse
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from games.base.errors import USER_ERROR, print_error, printable
from games.base.removed import REMOVED_OPTIONS

MAX_ERROR_LENGTH = 2000  # characters of an error message
SCRIPT = "pitflip"
MODULES = ("run", "tune")  # verbs that `python -m arena.VERB` runs too


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are one line with escaped text."""

    def parse_args(  # type: ignore[override]  # no caller passes a namespace
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse arguments; options may stand before, between and after positional arguments."""
        words = sys.argv[1:] if args is None else list(args)
        # argparse cannot mix options with subcommands, and after `--` nothing is an option.
        if self._subparsers or "--" in words:
            return super().parse_args(words, namespace)
        return self.parse_intermixed_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line that says what is wrong."""
        if message.startswith("unrecognized"):
            unknown = {word.partition("=")[0] for word in message.split()}
            for option in unknown & set(REMOVED_OPTIONS):
                message = f"{option} was removed: {REMOVED_OPTIONS[option]}"
        message = re.sub(r"^argument (\S+): (?=must )", r"\1 ", message)
        print_error(f"{self.prog}: {printable(message, MAX_ERROR_LENGTH)}")
        sys.exit(USER_ERROR)


def shell_command(command: str) -> str:
    """Return a command such as `pitflip rate FILE` as the user's shell can run it."""
    verb = command.removeprefix(f"{SCRIPT} ")
    if verb == command or (Path(sys.argv[0]).name == SCRIPT and _is_ours(SCRIPT)):
        return command
    if verb.partition(" ")[0] in MODULES:
        return f"{_python()} -m arena.{verb}"
    return f"{_python()} -m {command}"


def _python() -> str:
    """Return `python` if the shell finds this interpreter by that name, else its path."""
    for word in ("python", "python3"):
        if _is_ours(word):
            return word
    relative = os.path.relpath(sys.executable)
    return shlex.quote(sys.executable if relative.startswith("..") else relative)


def _is_ours(word: str) -> bool:
    """Return whether the shell finds this program in the environment that runs now."""
    found = shutil.which(word)
    return found is not None and Path(found).parent.absolute() == Path(sys.executable).parent
