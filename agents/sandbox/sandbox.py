"""The owner's side: start the spawner, request bots."""

import os
import pickle
import select
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from agents.sandbox.isolation import THREADS, IsolationLevel
from agents.sandbox.messages import (
    End,
    Ended,
    FindProcess,
    Message,
    Pause,
    Preload,
    Preloaded,
    Start,
    Turn,
    allow_open_files,
    decode,
    encode,
    new_page,
    receive_message,
    send_message,
)
from agents.sandbox.usage import remove_leftovers
from games.base.errors import Unfinished, UserError

TRIES = 3  # to start one
SPAWNER_TIMEOUT = 60.0  # with the spawner, which never waits for a bot; a bomb of forks slows all
ROOT = Path(__file__).parents[2]
# What the spawner needs to find its libraries and what is compiled; a bot gets none of it.
ENVIRONMENT_NAMES = ("PATH", "HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT",
        "TMPDIR", "LD_LIBRARY_PATH", "PITFLIP_SANDBOX")  # fmt: skip
# Ctrl-C at the terminal is for whoever asks, while this is still loading too.
SERVE = """
import signal, sys
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.SIG_IGN)
sys.path[:0] = [{root!r}]
from agents.sandbox import spawner
spawner.main({fd})
"""
MAX_RESTARTS = 20  # spawners, before the work is given up
COMPILING_SECONDS = 900.0
Result = TypeVar("Result")


class SpawnerLost(Unfinished):
    """The spawner does not answer, which is never a bot's fault."""


class SpawnerProcess:
    """A spawner that has begun: its process, the way to it, and what walls it has."""

    def __init__(self, process: "subprocess.Popen[bytes]", root: socket.socket) -> None:
        """OSError or EOFError if it does not say what walls it has."""
        self.process, self.root = process, root
        self.close = weakref.finalize(self, _finish, process, root, os.getpid())
        try:
            self.level: IsolationLevel = pickle.loads(receive_message(root)[0])
        except (OSError, EOFError):
            self.close()
            raise

    def kill(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.close()


def spawner_environment() -> dict[str, str]:
    """What a spawner gets of our environment."""
    return {name: os.environ[name] for name in ENVIRONMENT_NAMES if name in os.environ}


def begin_spawner() -> SpawnerProcess:
    """A spawner of our own; SpawnerLost if it does not start."""
    for tries_left in reversed(range(TRIES)):
        try:
            return _start()
        except (OSError, EOFError) as error:
            if not tries_left:
                why = str(error) if isinstance(error, OSError) else "it ended at once"
                raise SpawnerLost(f"the spawner of bots did not start: {why}") from None
    raise AssertionError("the last try returns or raises")


def _start() -> SpawnerProcess:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE.format(root=str(ROOT), fd=theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=spawner_environment() | dict.fromkeys(THREADS, "1"),
            cwd="/",
        )
    ours.settimeout(SPAWNER_TIMEOUT * 6)
    return SpawnerProcess(process, ours)


def _finish(process: "subprocess.Popen[bytes]", root: socket.socket, owner: int) -> None:
    root.close()
    if os.getpid() != owner:
        process.returncode = 0  # a fork's copy: it is not our child
        return
    try:
        process.wait(SPAWNER_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.returncode:  # it could not remove its files
        remove_leftovers(Path(tempfile.gettempdir()))


class SandboxUnavailable(UserError):  # noqa: N818  # what the machine lacks
    """Bots cannot be isolated as required."""


class SpawnerTimeout(SpawnerLost):
    """Nothing was heard for some time."""


class Sandbox:
    """One spawner for all processes forked from here, started with the first bot."""

    def __init__(self, required: bool = False) -> None:
        """`required`: refuse walls that do not keep files, network and processes apart."""
        self.required = required
        self._spawner: SpawnerProcess | None = None
        self._connection: Connection | None = None
        self._owner = 0  # whose connection it is
        self._opener = 0  # the process that began the spawner: only it can do so again

    @property
    def process(self) -> int:
        """The process of the spawner; 0 if there is none."""
        return self._spawner.process.pid if self._spawner else 0

    @property
    def level(self) -> IsolationLevel:
        """The isolation of this machine; SandboxUnavailable if that is less than required."""
        return self.open().level

    def open(self) -> SpawnerProcess:
        """The spawner, which is started if need be."""
        if self._spawner is None:
            allow_open_files()
            self._spawner, self._opener = begin_spawner(), os.getpid()
        if self.required and not self._spawner.level.is_sufficient:
            raise SandboxUnavailable(self._spawner.level.refusal())
        return self._spawner

    def connection(self) -> "Connection":
        """The connection of this process to the spawner."""
        spawner = self.open()
        if self._connection is None or self._owner != os.getpid():
            self._connection, self._owner = Connection(spawner.root), os.getpid()
        return self._connection

    def has(self, connection: "Connection | None") -> bool:
        """Return whether a connection is that of this process, and of the spawner there is now."""
        mine = connection is not None and connection is self._connection
        return mine and self._owner == os.getpid()

    def restart_if_lost(self) -> bool:
        """Begin the spawner again if it does not answer any more; whether that was so.

        Only the process that began it can do that, and knows it.
        """
        if self._spawner is None or self._opener != os.getpid():
            return False
        try:
            with closing(Connection(self._spawner.root)) as trial:
                trial.where(0)
            return False
        except SpawnerLost:
            self._spawner.kill()
            self._connection = self._spawner = None
            self.open()
            return True

    def with_restarts(self, work: Callable[[], Result]) -> Result:
        """What the work returns; it is done again if the spawner is lost on the way."""
        for _ in range(MAX_RESTARTS):
            try:
                return work()
            except SpawnerLost:
                if not self.restart_if_lost():
                    raise
        return work()

    def close_connection(self) -> None:
        """End the bots of this process."""
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None

    def close(self) -> None:
        """End all bots, and the spawner."""
        self.close_connection()
        if self._spawner is not None:
            self._spawner.close()
            self._spawner = None


class Connection:
    """One process's connection to the spawner; news of bots is kept until it is asked for."""

    def __init__(self, root: socket.socket) -> None:
        """Open a socket of its own through the shared one."""
        self.socket, theirs = socket.socketpair()
        weakref.finalize(self, self.socket.close)
        self.socket.settimeout(SPAWNER_TIMEOUT)
        shared, self.page = new_page()
        try:
            with theirs:
                _send(root, b"hello", [theirs.fileno(), shared])
        finally:
            os.close(shared)
        self.ended: dict[int, Ended] = {}
        self.answers: list[Message] = []
        self.count = 0

    def number(self) -> int:
        """A number for the next bot."""
        self.count += 1
        return self.count

    def start(self, start: Start, questions: int, answers: int) -> Turn:
        """Start a bot that reads the one descriptor and writes the other."""
        turn = Turn(self.page, start.number)
        turn.reset()
        self._send(encode(start), [questions, answers])
        return turn

    def stop(self, number: int) -> None:
        """Stop the processes of a bot while it is not its turn."""
        self._send(encode(Pause(number, stop=True)))

    def resume(self, number: int) -> None:
        """Let the processes of a bot go on; when this returns they do."""
        self._send(encode(Pause(number, stop=False)))
        self._answer(SPAWNER_TIMEOUT)

    def prepare(self, recipe: bytes, thoughts: bool = False) -> str:
        """Have the spawner load what bots of this recipe need; why it cannot, or empty."""
        self._send(encode(Preload(recipe, thoughts)))
        answer = self._answer(COMPILING_SECONDS)
        assert isinstance(answer, Preloaded)
        return answer.problem

    def where(self, number: int) -> int:
        """The process of a bot; 0 if it has ended."""
        self._send(encode(FindProcess(number)))
        answer = self._answer(SPAWNER_TIMEOUT)
        assert isinstance(answer, FindProcess)
        return answer.process

    def has_ended(self, number: int, seconds: float) -> bool:
        """Return whether a bot ends by itself within some time."""
        until = time.monotonic() + seconds
        with suppress(SpawnerTimeout):
            while number not in self.ended:
                self._hear(until)
        return number in self.ended

    def end(self, number: int) -> Ended:
        """End a bot, if it has not ended; how it did."""
        if number not in self.ended:
            self._send(encode(End(number)))
        until = time.monotonic() + SPAWNER_TIMEOUT
        while number not in self.ended:
            self._hear(until)
        return self.ended.pop(number)

    def close(self) -> None:
        """End all bots of this connection."""
        self.socket.close()

    def _send(self, content: bytes, descriptors: Sequence[int] = ()) -> None:
        _send(self.socket, content, descriptors)

    def _answer(self, seconds: float) -> Message:
        until = time.monotonic() + seconds
        while not self.answers:
            self._hear(until)
        return self.answers.pop()

    def _hear(self, until: float) -> None:
        """Take one message."""
        wait = select.poll()
        wait.register(self.socket, select.POLLIN)
        if not wait.poll(max(0.0, until - time.monotonic()) * 1000):
            raise SpawnerTimeout("the spawner of bots does not answer")
        with suppress(OSError):
            if content := receive_message(self.socket)[0]:
                message = decode(content)
                if isinstance(message, Ended):
                    self.ended[message.number] = message
                else:
                    self.answers.append(message)
                return
        raise SpawnerLost("the spawner of bots is gone")


def _send(to: socket.socket, content: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send a message to the spawner; SpawnerLost if it takes none."""
    try:
        send_message(to, content, descriptors)
    except OSError as error:
        raise SpawnerLost(f"the spawner of bots is gone: {error}") from None
