"""Bytes to and from a bot through pipes, with deadlines."""

import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NoReturn

from agents.core import AgentFailure
from agents.error_lines import telling_lines
from agents.sandbox import usage
from agents.sandbox.isolation import UNSTARTED
from agents.sandbox.messages import BotLimits, Ended, Start, close_descriptors
from agents.sandbox.sandbox import Connection, Sandbox
from games.base.errors import Unfinished, printable

MAX_WAIT_FACTOR = 10  # times its limit, for a bot that the machine does not let run
MORE_SECONDS = 5.0
NOTE_AGAIN = 50_000_000  # nanoseconds
BUSY = "the machine is too busy"
BILLION = 1_000_000_000
CHUNK = 1 << 16
MOMENT_SECONDS = 1.0  # from the end of what a bot writes to its own


class VoidGame(Unfinished):  # the glossary's word
    """A fault of ours or of the machine: the game does not count."""


class BotDeadline:
    """How long a bot's process waited for the machine in this game, and what that gives it."""

    def __init__(self, where: Callable[[], int]) -> None:
        """`where` finds the process, which is still loading; it is asked when first needed."""
        self.where = where
        self.process = self.before = self.noted = 0

    def new_game(self) -> None:
        """Note how long it had to wait so far; games of a moment share a note."""
        now = time.monotonic_ns()
        if self.process and now - self.noted < NOTE_AGAIN:
            return
        self.before, self.noted = self._waited_ever(), now

    def delayed(self, taken: int) -> int:
        """Of so many nanoseconds, those for which it was ready but did not run."""
        before, self.before = self.before, usage.run_delay(self.process)
        self.noted = time.monotonic_ns()
        return min(taken, max(0, self.before - before))

    def extend(self, seconds: float, since: int) -> int | None:
        """A later deadline for a bot that could not run; None if it could, Void in the end."""
        now = time.monotonic_ns()
        waited = min(max(0, self._waited_ever() - self.before), now - since)
        if now - since - waited >= int(seconds * BILLION):
            return None
        if now - since > int((MAX_WAIT_FACTOR * seconds + MORE_SECONDS) * BILLION):
            raise VoidGame(f"could not run for {(now - since) / BILLION:.1f} s: {BUSY}")
        return since + int(seconds * BILLION) + waited

    def _waited_ever(self) -> int:
        """Nanoseconds for which it was ready to run but the machine was busy."""
        self.process = self.process or self.where()
        return usage.run_delay(self.process)


class BotProcess:
    """A bot's process: ended after every fault, started again on request."""

    def __init__(self, name: str, wall: Sandbox, limits: BotLimits) -> None:
        """`name` is the bot's name in messages; nothing is started yet."""
        self.name, self.wall, self.limits = name, wall, limits
        self.number = 0
        self.connection: Connection | None = None  # to the spawner that started it
        self.questions = self.answers = -1
        self.sent = 0
        self.has_written_before = False  # whether this process has written anything

    @property
    def alive(self) -> bool:
        """Whether this process has started it, and not ended it; a fork's copy is not its.

        With its spawner it has ended too.
        """
        return self.number != 0 and self.wall.has(self.connection)

    @property
    def spawner(self) -> Connection:
        """The way to the spawner of a bot that was begun."""
        assert self.connection is not None  # else there is no bot
        return self.connection

    def begin(self, program: Mapping[str, object], cores: tuple[int, ...] = ()) -> None:
        """Start the process; `program` are the fields of a `Start`."""
        if self.number:
            close_descriptors([self.questions, self.answers])  # our parent's, or of a lost spawner
            self.number = 0
        connection = self.connection = self.wall.connection()
        reads, self.questions = os.pipe2(os.O_CLOEXEC)
        self.answers, writes = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.questions, False)
        self.number = connection.number()
        start = Start(number=self.number, limits=self.limits, cores=cores, **program)  # type: ignore[arg-type]
        connection.start(start, reads, writes)
        close_descriptors([reads, writes])
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(self.answers, select.POLLIN)
        self.writable.register(self.questions, select.POLLOUT)
        self.deadline = BotDeadline(lambda: self.spawner.where(self.number))
        self.sent, self.has_written_before = 0, False

    def new_game(self) -> None:
        """Note how long it had to wait for the machine."""
        self.deadline.new_game()

    def delayed(self, taken: int) -> int:
        """Of so many nanoseconds, those for which it was ready but did not run."""
        return self.deadline.delayed(taken) if self.alive else 0

    def send(self, content: bytes | memoryview, seconds: float) -> None:
        """Write everything; a bot that does not read gets as long as for an answer."""
        until = time.monotonic() + seconds
        rest = memoryview(content)
        while rest:
            try:
                written = os.write(self.questions, rest)
                self.sent, rest = self.sent + written, rest[written:]
            except BlockingIOError:
                wait = until - time.monotonic()
                if wait <= 0 or not self.writable.poll(wait * 1000):
                    self.raise_fault("timeout", f"did not read its question for {seconds:g} s")
            except OSError:
                self.raise_crash()

    def receive(self, seconds: float, since: int) -> bytes | None:
        """What it has written, as soon as it comes: nothing when it has ended, None too late.

        `since` are the nanoseconds at which its clock started: the limit is one for all pieces.
        """
        until = since + int(seconds * BILLION)
        while True:
            wait = until - time.monotonic_ns()
            if self.readable.poll(max(0.0, wait / 1e6 + 0.5)):
                with suppress(OSError):
                    content = os.read(self.answers, CHUNK)
                    self.has_written_before |= bool(content)
                    return content
                return b""
            try:
                later = self.deadline.extend(seconds, since)
            except VoidGame as void:
                self.end()
                raise VoidGame(f"{self.name} {void}") from None
            if later is None:
                return None
            until = later

    def quick_answer(self, seconds: float) -> bytes | None:
        """What it has written, if that needs no second look."""
        if self.readable.poll(seconds * 1000):
            with suppress(OSError):
                return os.read(self.answers, CHUNK) or None
        return None

    def answer(self, seconds: float, since: int, silence: str = "did not answer") -> bytes:
        """What it has written; ending, or writing nothing in time, is its fault."""
        content = self.receive(seconds, since)
        if content is None:
            self.raise_fault("timeout", f"{silence} within {seconds:g} s")
        return content or self.raise_crash()

    @property
    def has_written(self) -> bool:
        """Whether something can be read at once, its end too."""
        return bool(self.readable.poll(0))

    def close_input(self, seconds: float) -> bool:
        """Close its input; whether it writes something then: it was in a buffer of its own."""
        os.close(self.questions)
        self.questions = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        return bool(self.receive(seconds, time.monotonic_ns()))

    @property
    def has_closed(self) -> bool:
        """Whether it has closed its end between two games, as many programs do."""
        return any(event & select.POLLHUP for _, event in self.readable.poll(0))

    def has_ended(self, seconds: float = 0.2) -> bool:
        """Whether its process ends within this time."""
        return self.spawner.has_ended(self.number, seconds)

    def raise_crash(self) -> NoReturn:
        """Raise the failure of a bot that has ended or closed its end."""
        unread, unheard = self._unread(), not self.has_written_before
        by_itself = self.spawner.has_ended(self.number, MOMENT_SECONDS)
        ended = self.end()
        how = ended.description if by_itself else ended.reason or "closed its end of the pipe"
        if unheard and ended.code == UNSTARTED:  # as shells and `env` say it, too
            self.raise_failure("unloadable", "cannot be started", ended)
        if unread and not ended.cause:
            self.raise_failure(
                "unloadable", f"cannot be used: it {how} before it read anything", ended
            )
        self.raise_failure(ended.cause or "crashed", how, ended)

    def _unread(self) -> bool:
        """Whether it has not yet read a byte of what it was sent: it is still loading."""
        count = struct.pack("i", 0)
        with suppress(OSError):
            count = fcntl.ioctl(self.questions, termios.FIONREAD, count)
        return self.sent > 0 and struct.unpack("i", count)[0] == self.sent

    def raise_fault(self, kind: str, message: str) -> NoReturn:
        """End it because it has broken a rule."""
        ended = self.end()
        self.raise_failure(ended.cause or kind, ended.reason or message, ended)

    def raise_failure(self, kind: str, message: str, ended: Ended) -> NoReturn:
        """Raise the failure, with the lines it wrote that say why."""
        if ended.cause == "resources":
            raise VoidGame(f"{self.name} could not be started: {printable(ended.reason)}")
        lines = telling_lines(ended.log.decode(errors="backslashreplace"))
        trace = "\n".join(printable(line) for line in lines)
        raise AgentFailure(kind, self.name, "", printable(message), trace) from None

    def end(self) -> Ended:
        """End the process and everything it has started."""
        number, self.number = self.number, 0
        close_descriptors([self.questions, self.answers])
        return self.spawner.end(number)
