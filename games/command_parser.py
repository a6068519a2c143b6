"""The command line of every command: what it says of an argument moves no cursor."""

import argparse
from typing import NoReturn

from games.terminal import printable

MOST_TEXT = 2000  # characters of what is wrong, below the usage


class CommandParser(argparse.ArgumentParser):
    """As argparse has it; arguments are printed escaped, and cut if they are long."""

    def error(self, message: str) -> NoReturn:
        """End with what is wrong, in one line below the usage."""
        super().error(printable(message, MOST_TEXT))
