"""The command line of every command: what it says of an argument moves no cursor."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from games.terminal import printable

MOST_TEXT = 2000  # characters of what is wrong, below the usage


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
        super().error(printable(message, MOST_TEXT))
