"""A process without secrets that all bots are forks of."""

import errno
import os
import pickle
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress

from agents.core import AgentSpec
from agents.sandbox import restrictions, syscalls, usage
from agents.sandbox.isolation import (
    STATUS,
    UNSTARTED,
    Child,
    Work,
    exit_process,
    fork_child,
    keep_descriptors,
    report_shortage,
)
from agents.sandbox.messages import Start, close_descriptors, receive_message, send_message
from games import Game
from games.base.text import quote

QUESTIONS, ANSWERS = 3, 4  # descriptors of a Python bot
FORK = b"fork"  # the first bytes of a request for a fork; no pickle begins so


def preload_problem(spec: AgentSpec, of: Game, thoughts: bool) -> str:
    """Load what all bots of the spec need; return why that failed, empty if it did not."""
    from agents.sandbox import bot_server  # noqa: PLC0415  # it loads the compiler

    try:
        bot_server.prepare(spec, of, thoughts)
    except Exception as error:  # reported to the owner, who can show it
        return f"{type(error).__name__}: {error}"
    return ""


def missing_program_text(program: str) -> str:
    """Return why a program is not found: perhaps only its interpreter is missing."""
    if os.path.exists(program):
        return f"{quote(program)} needs an interpreter or a loader that it cannot see"
    return f"there is no {quote(program)} that it may read"


def execute_program(command: tuple[str, ...]) -> int:
    """Do the work of a program's process."""
    try:
        os.execvpe(command[0], command, os.environ)
    except FileNotFoundError:
        exit_process(UNSTARTED, missing_program_text(command[0]))
    except OSError as error:
        report_shortage(error)
        exit_process(UNSTARTED, f"cannot be started: {error}")


def serve_bot(recipe: bytes) -> int:
    """Do the work of a Python bot's process."""
    from agents.sandbox import bot_server  # noqa: PLC0415  # loaded before the fork

    os.close(STATUS)
    bot_server.reset_interpreter()
    spec, of = pickle.loads(recipe)
    return bot_server.serve(spec, of, QUESTIONS, ANSWERS)


class ForkServer:
    """A process that all bots are forks of, and that never holds anything of a bot.

    A Python bot can read all memory of the process that it is a fork of, so that must not be the
    spawner, which knows other bots.
    """

    def __init__(self) -> None:
        """Fork it, before anything is known of a bot."""
        self.process = 0
        if syscalls.is_known_machine():
            self.socket, theirs = socket.socketpair()
            spawner, self.process = os.getpid(), os.fork()
            if self.process == 0:
                try:
                    syscalls.die_with_parent(spawner)
                    keep_descriptors({each: each for each in (0, 1, 2, theirs.fileno())})
                    self._serve(theirs)
                finally:
                    os._exit(1)
            theirs.close()

    def preload(self, kind: str, of: Game, thoughts: bool) -> str:
        """Load what bots of a kind need; return why that failed, empty if it did not."""
        if not self.process:
            return preload_problem(AgentSpec(kind), of, thoughts)
        return str(self._request(pickle.dumps((kind, of, thoughts)), []))

    def start(
        self, start: Start, descriptors: Mapping[int, int], work: Work, group: int = -1
    ) -> int:
        """Fork a confined process whose parent is this one; return its process id.

        `group` is the descriptor of its control group.
        """
        if not self.process:  # without clone a fork of ours must do
            return fork_child(lambda: (start, descriptors, work))
        reads, writes = os.pipe()
        with os.fdopen(writes, "wb") as to:
            try:
                sent = [descriptors[STATUS], reads, *descriptors.values()]
                sent += [group] if group >= 0 else []
                request = FORK + bytes([len(sent), int(group >= 0), int(start.has_own_root)])
                answer = self._request(request, sent)
            finally:
                os.close(reads)
            if isinstance(answer, OSError):
                raise answer
            process = int(str(answer))
            if start.has_own_root:
                restrictions.map_unused_user(process, start.readable)
            with suppress(BrokenPipeError):  # only the fork reads what it becomes
                to.write(pickle.dumps((start, tuple(descriptors), work)))
                to.flush()
            return process

    def close(self) -> None:
        """End it."""
        if self.process:
            self.socket.close()
            usage.send_signal(self.process, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(self.process, 0)

    def _request(self, request: bytes, descriptors: list[int]) -> object:
        """Return the answer; ConnectionError if the server is gone."""
        send_message(self.socket, request, descriptors)
        answer = receive_message(self.socket)[0]
        if not answer:
            raise ConnectionResetError("the process that bots are forked from is gone")
        return pickle.loads(answer)

    def _serve(self, spawner: socket.socket) -> None:
        while True:
            request, descriptors = receive_message(spawner)
            if not request:
                return
            answer: object = 0
            try:
                if request.startswith(FORK):
                    answer = self._fork(descriptors, *request[len(FORK) :])
                else:
                    kind, of, thoughts = pickle.loads(request)
                    answer = preload_problem(AgentSpec(kind), of, thoughts)
            except MemoryError:
                answer = OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
            except OSError as error:
                answer = OSError(error.errno, str(error))
            finally:
                close_descriptors(descriptors)
            send_message(spawner, pickle.dumps(answer))

    def _fork(self, descriptors: list[int], sent: int, has_group: int, own_root: int) -> int:
        if len(descriptors) < sent:  # the kernel drops those that we may not have
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        status, reads, *given = descriptors
        group = given.pop() if has_group else -1

        def load() -> Child:
            with open(os.dup(reads), "rb") as source:
                start, numbers, work = pickle.load(source)
            return start, dict(zip(numbers, given, strict=True)), work

        return fork_child(load, bool(own_root), status, sibling=True, group=group)
