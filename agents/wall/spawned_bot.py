"""A bot as the spawner sees it: its process, and what is done in it once it is confined."""

import os
import pickle
import socket
from collections.abc import Callable

from agents.core import AgentSpec
from agents.wall.bot_log import BotLog
from agents.wall.confinement import UNSTARTED, forget, leave
from agents.wall.requests import Start
from games import Game
from games.names import quoted

QUESTIONS, ANSWERS = 3, 4  # descriptors of a Python bot


class Bot:
    """A running bot as the spawner sees it."""

    def __init__(self, start: Start, client: socket.socket, process: int, log: int) -> None:
        """`log` is where its log can be read."""
        self.start, self.client, self.process = start, client, process
        self.log = BotLog(log)
        self.cause = self.reason = ""
        self.first: int | None = None
        # How long it had run when it was last looked at, alone and within its limits.
        self.run_when_seen: int | None = None


def prepared(spec: AgentSpec, of: Game) -> str:
    """Load what a bot of the spec needs; returns why that failed, empty if it did not."""
    from agents.wall import bridge  # noqa: PLC0415  # it loads the compiler

    try:
        bridge.prepare(spec, of)
    except Exception as error:  # whatever it is, it is told where it can be read
        return f"{type(error).__name__}: {error}"
    return ""


def missing(program: str) -> str:
    """Why a program is not found: it is there, perhaps, but not what it needs."""
    if os.path.exists(program):
        return f"{quoted(program)} needs an interpreter or a loader that it cannot see"
    return f"there is no {quoted(program)} that it may read"


def program(start: Start) -> Callable[[], int]:
    """What a bot's process does once it is confined."""

    def execute() -> int:
        try:
            os.execvpe(start.command[0], start.command, os.environ)
        except FileNotFoundError:
            leave(UNSTARTED, missing(start.command[0]))

    def bridged() -> int:
        from agents.wall import bridge  # noqa: PLC0415  # loaded before the fork

        forget()
        spec, of = pickle.loads(start.recipe)
        return bridge.serve(spec, of, QUESTIONS, ANSWERS)

    return execute if start.command else bridged
