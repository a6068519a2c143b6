"""A program behind the wall: its command and the files that it may read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Program:
    """The command by its full path; every argument that is a file can be read."""

    command: tuple[str, ...]
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""  # empty: the scratch directory
    cores: tuple[int, ...] = ()  # none: any
    loopback: bool = False  # whether its own processes talk to one another by TCP

    def with_arguments(self, arguments: tuple[str, ...]) -> dict[str, object]:
        """The fields of a request to start it."""
        words = (*self.command, *arguments)
        files = (word for word in words if os.path.isabs(word) and os.path.exists(word))
        return {
            "command": words,
            "readable": tuple(dict.fromkeys([*files, *self.readable])),
            "environment": dict(self.environment),
            "cwd": self.cwd,
            "loopback": self.loopback,
        }
