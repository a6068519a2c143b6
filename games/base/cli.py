"""The argument parser of all commands, and commands that users can paste into their shell."""

import argparse
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from games.base.errors import USER_ERROR, print_error, printable
from games.base.removed import REMOVED_OPTIONS

MAX_ERROR_LENGTH = 2000  # characters of an error message
SCRIPT = "pitflip"
MODULES = ("run", "tune")  # verbs that `python -m arena.VERB` runs too


class CommandParser(argparse.ArgumentParser):
    """An ArgumentParser that reports errors in one line."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        # An abbreviation would hide that an option was removed: --method would mean --methods.
        super().__init__(*args, **{"allow_abbrev": False, **settings})

    def parse_args(  # type: ignore[override]  # no caller passes a namespace
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse arguments; options may come before, between and after positional arguments."""
        words = sys.argv[1:] if args is None else list(args)
        # argparse cannot mix options with subcommands, and after `--` nothing is an option.
        if self._subparsers or "--" in words:
            return super().parse_args(words, namespace)
        return self.parse_intermixed_args(words, namespace)

    def format_help(self) -> str:
        """Return the summary, the usage, the options and the epilog."""
        formatter = self._get_formatter()
        formatter.add_text(self.description)
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and a one-line message."""
        if message.startswith("unrecognized"):
            unknown = {word.partition("=")[0] for word in message.split()}
            for option in unknown & set(REMOVED_OPTIONS):
                message = f"{option} was removed: {REMOVED_OPTIONS[option]}"
        message = re.sub(r"^argument (\S+): (?=must )", r"\1 ", message)
        print_error(f"{self.prog}: {printable(message, MAX_ERROR_LENGTH)}")
        sys.exit(USER_ERROR)


def shell_command(command: str) -> str:
    """Return a command such as `pitflip rate FILE` in the form that works in the user's shell."""
    verb = command.removeprefix(f"{SCRIPT} ")
    if verb == command or (Path(sys.argv[0]).name == SCRIPT and _is_ours(SCRIPT)):
        return command
    if verb.partition(" ")[0] in MODULES:
        return f"{_python()} -m arena.{verb}"
    return f"{_python()} -m {command}"


def _python() -> str:
    """Return `python` if the shell finds this interpreter by that name, otherwise its path."""
    for word in ("python", "python3"):
        if _is_ours(word):
            return word
    relative = os.path.relpath(sys.executable)
    return shlex.quote(sys.executable if relative.startswith("..") else relative)


def _is_ours(word: str) -> bool:
    """Return whether the shell finds this program in the current environment."""
    program = shutil.which(word)
    return program is not None and Path(program).parent.absolute() == Path(sys.executable).parent
