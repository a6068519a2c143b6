"""The owner's side: start the spawner and request bots."""

import os
import pickle
import select
import signal
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
    BotExit,
    End,
    FindProcess,
    KeepOutput,
    Message,
    Pause,
    Preload,
    PreloadResult,
    Start,
    Turn,
    new_turn_page,
    raise_open_file_limit,
    receive_message,
    send_message,
)
from agents.sandbox.usage import remove_leftovers
from games.base.errors import Unfinished, UserError

START_ATTEMPTS = 3
SPAWNER_TIMEOUT = 60.0  # for an answer; the spawner never waits for a bot, but may be slow
ROOT = Path(__file__).parents[2]
# The spawner finds its libraries and compiled code by these; a bot gets none of them.
ENVIRONMENT_NAMES = ("PATH", "HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT",
        "TMPDIR", "LD_LIBRARY_PATH", "PITFLIP_SANDBOX")  # fmt: skip
# The owner handles Ctrl-C at the terminal, also while this is loading.
SPAWNER_PROGRAM = """
import signal, sys
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.SIG_IGN)
sys.path[:0] = [{root!r}]
from agents.sandbox import usage
guard = usage.fork_guarded({fd})
from agents.sandbox import spawner
spawner.main({fd}, guard)
"""
MAX_RESTARTS = 20  # of the spawner, in one piece of work
COMPILING_SECONDS = 900.0
Result = TypeVar("Result")


class SpawnerLost(Unfinished):
    """The spawner does not answer, which is never the fault of a bot."""


class SpawnerProcess:
    """A spawner that has started: its guard, its socket, its process id and its level."""

    def __init__(self, process: "subprocess.Popen[bytes]", root: socket.socket) -> None:
        """Wait for its level; OSError or EOFError if it ends instead."""
        self.process, self.socket = process, root
        self.close = weakref.finalize(self, _end_spawner, process, root, os.getpid())
        try:
            greeting: tuple[IsolationLevel, int] | OSError = pickle.loads(receive_message(root)[0])
            if isinstance(greeting, OSError):
                raise greeting
        except (OSError, EOFError):
            self.close()
            raise
        self.level, self.id = greeting

    def kill(self) -> None:
        """End it at once with all its bots."""
        self.process.send_signal(signal.SIGUSR1)
        self.close()


def spawner_environment() -> dict[str, str]:
    """Return the part of our environment that a spawner gets."""
    return {name: os.environ[name] for name in ENVIRONMENT_NAMES if name in os.environ}


def start_spawner() -> SpawnerProcess:
    """Start a spawner; SpawnerLost if that fails."""
    for tries_left in reversed(range(START_ATTEMPTS)):
        try:
            return _start_spawner()
        except (OSError, EOFError) as error:
            if not tries_left:
                why = (
                    (error.strerror or error) if isinstance(error, OSError) else "it ended at once"
                )
                raise SpawnerLost(f"the spawner of bots did not start: {why}") from None
    raise AssertionError("the last try returns or raises")


def _start_spawner() -> SpawnerProcess:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", SPAWNER_PROGRAM.format(root=str(ROOT), fd=theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=spawner_environment() | dict.fromkeys(THREADS, "1"),
            cwd="/",
        )
    ours.settimeout(SPAWNER_TIMEOUT * 6)
    return SpawnerProcess(process, ours)


def _end_spawner(process: "subprocess.Popen[bytes]", root: socket.socket, owner: int) -> None:
    root.close()
    if os.getpid() != owner:
        process.returncode = 0  # this is a fork: the spawner is not its child
        return
    try:
        process.wait(SPAWNER_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.returncode:  # it was killed before it could remove its files
        remove_leftovers(Path(tempfile.gettempdir()))


class SandboxUnavailable(UserError):  # noqa: N818  # not an error of ours
    """This machine cannot isolate bots as required."""


class SpawnerTimeout(SpawnerLost):
    """The spawner sent nothing for some time."""


class Sandbox:
    """The spawner of this process and its forks, started with the first bot."""

    def __init__(self, required: bool = False) -> None:
        """`required`: refuse a level that does not separate files, network and processes."""
        self.required = required
        self._spawner: SpawnerProcess | None = None
        self._connection: Connection | None = None
        self._owner = 0  # the process that has the connection
        self._opener = 0  # the process that started the spawner: only it can start another
        self._output: KeepOutput | None = None

    @property
    def spawner_id(self) -> int:
        """The process id of the spawner; 0 if there is none."""
        return self._spawner.id if self._spawner else 0

    @property
    def level(self) -> IsolationLevel:
        """The isolation of this machine; SandboxUnavailable if that is less than required."""
        return self.open().level

    def open(self) -> SpawnerProcess:
        """Return the spawner; start it if there is none."""
        if self._spawner is None:
            raise_open_file_limit()
            self._spawner, self._opener = start_spawner(), os.getpid()
            self._send_output()
        if self.required and not self._spawner.level.is_sufficient:
            raise SandboxUnavailable(self._spawner.level.refusal_text())
        return self._spawner

    def keep_output(self, path: Path) -> None:
        """Append what bots write to this file, each line with the name of its agent."""
        self._output = KeepOutput(str(path.absolute()))
        if self._spawner is not None:
            self._send_output()

    def _send_output(self) -> None:
        if self._output is not None:
            _send(self.connection().socket, pickle.dumps(self._output))

    def connection(self) -> "Connection":
        """Return the connection of this process to the spawner."""
        spawner = self.open()
        if self._connection is None or self._owner != os.getpid():
            self._connection, self._owner = Connection(spawner.socket), os.getpid()
        return self._connection

    def is_current(self, connection: "Connection | None") -> bool:
        """Return whether a connection is that of this process to the current spawner."""
        mine = connection is not None and connection is self._connection
        return mine and self._owner == os.getpid()

    def replace_lost_spawner(self) -> bool:
        """Start another spawner if this one does not answer; return whether that was so.

        Only the process that started the spawner does that.
        """
        if self._spawner is None or self._opener != os.getpid():
            return False
        try:
            with closing(Connection(self._spawner.socket)) as trial:
                trial.find_process(0)
            return False
        except SpawnerLost:
            self._spawner.kill()
            self._connection = self._spawner = None
            self.open()
            return True

    def with_restarts(self, work: Callable[[], Result]) -> Result:
        """Return the result of the work; repeat it if the spawner is lost on the way."""
        for _ in range(MAX_RESTARTS):
            try:
                return work()
            except SpawnerLost:
                if not self.replace_lost_spawner():
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
    """One process's connection to the spawner; it keeps messages until they are requested."""

    def __init__(self, root: socket.socket) -> None:
        """Send the other end of a new socket through the shared one."""
        self.socket, theirs = socket.socketpair()
        weakref.finalize(self, self.socket.close)
        self.socket.settimeout(SPAWNER_TIMEOUT)
        shared, self.page = new_turn_page()
        try:
            with theirs:
                _send(root, b"hello", [theirs.fileno(), shared])
        finally:
            os.close(shared)
        self.exits: dict[int, BotExit] = {}
        self.answers: list[Message] = []
        self.count = 0

    def next_number(self) -> int:
        """Return a number for the next bot."""
        self.count += 1
        return self.count

    def start(self, start: Start, questions: int, answers: int) -> Turn:
        """Start a bot that reads the one descriptor and writes the other."""
        turn = Turn(self.page, start.number)
        turn.reset()
        self._send(pickle.dumps(start), [questions, answers])
        return turn

    def stop(self, number: int) -> None:
        """Stop the processes of a bot while it is not its turn."""
        self._send(pickle.dumps(Pause(number, stop=True)))

    def resume(self, number: int) -> None:
        """Let the processes of a bot go on, and wait until they do."""
        self._send(pickle.dumps(Pause(number, stop=False)))
        self._wait_for_answer(SPAWNER_TIMEOUT)

    def prepare(self, recipe: bytes, thoughts: bool = False) -> str:
        """Have the spawner load what bots of this recipe need; return why it cannot, or empty."""
        self._send(pickle.dumps(Preload(recipe, thoughts)))
        answer = self._wait_for_answer(COMPILING_SECONDS)
        assert isinstance(answer, PreloadResult)
        return answer.problem

    def find_process(self, number: int) -> int:
        """Return the first process of a bot; 0 if it has ended."""
        self._send(pickle.dumps(FindProcess(number)))
        answer = self._wait_for_answer(SPAWNER_TIMEOUT)
        assert isinstance(answer, FindProcess)
        return answer.process

    def wait_for_exit(self, number: int, seconds: float) -> bool:
        """Return whether a bot ends by itself within some time."""
        until = time.monotonic() + seconds
        with suppress(SpawnerTimeout):
            while number not in self.exits:
                self._receive(until)
        return number in self.exits

    def end(self, number: int) -> BotExit:
        """End a bot, if it has not ended; return how it ended."""
        if number not in self.exits:
            self._send(pickle.dumps(End(number)))
        until = time.monotonic() + SPAWNER_TIMEOUT
        while number not in self.exits:
            self._receive(until)
        return self.exits.pop(number)

    def close(self) -> None:
        """End all bots of this connection."""
        self.socket.close()

    def _send(self, content: bytes, descriptors: Sequence[int] = ()) -> None:
        _send(self.socket, content, descriptors)

    def _wait_for_answer(self, seconds: float) -> Message:
        until = time.monotonic() + seconds
        while not self.answers:
            self._receive(until)
        return self.answers.pop()

    def _receive(self, until: float) -> None:
        """Take one message."""
        wait = select.poll()
        wait.register(self.socket, select.POLLIN)
        if not wait.poll(max(0.0, until - time.monotonic()) * 1000):
            raise SpawnerTimeout("the spawner of bots does not answer")
        with suppress(OSError):
            if content := receive_message(self.socket)[0]:
                message: Message = pickle.loads(content)
                if isinstance(message, BotExit):
                    self.exits[message.number] = message
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
