"""Bytes to and from a bot through pipes, with deadlines."""

import fcntl
import hashlib
import os
import select
import struct
import termios
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, NoReturn

from agents.core import AgentFailure
from agents.error_lines import telling_lines
from agents.sandbox import usage
from agents.sandbox.isolation import UNSTARTED
from agents.sandbox.messages import BotLimits, Ended, Start, close_descriptors
from agents.sandbox.sandbox import Connection, Sandbox
from games.base.errors import Unfinished, printable

MAX_WAIT_FACTOR = 10  # times its limit, for a bot that the machine does not let run
MORE_SECONDS = 5.0
# After so long, or this part of the limit, a bot's processes are looked at for the first time.
NOTE_SECONDS, NOTE_SHARE = 0.02, 0.05
LEAST_EXTENSION = 5_000_000  # nanoseconds
MOST_LATE = 100_000_000  # nanoseconds, for our own delay between two pieces of an answer
BUSY = "the machine is too busy"
BILLION = 1_000_000_000
CHUNK = 1 << 16
MOMENT_SECONDS = 1.0  # from the end of what a bot writes to its own


def bot_seed(seed: int) -> int:
    """Return the seed of a user's bot, which does not reveal that of its opponent."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


class VoidGame(Unfinished):  # the glossary's word
    """A fault of ours or of the machine: the game does not count."""


class Seen(NamedTuple):
    """A look at the processes of a bot, in nanoseconds."""

    time: int
    delay: int  # for which a thread was ready but did not run
    ran: int


class DelayWatch:
    """How long a bot that was asked could not run, because others used the machine.

    A delay is never more than the time that passed less the time for which the processes of the
    bot ran: a bot that keeps the cores busy itself is not delayed.
    """

    def __init__(self, find_process: Callable[[], int]) -> None:
        """`find_process` returns the first process of the bot, when it is first needed."""
        self.find_process = find_process
        self.process = 0
        self.last = Seen(0, 0, 0)  # at the last look of all, if there was one
        self.noted: Seen | None = None  # at the first look since the question
        self.before = 0  # the delay until then, by what was seen at earlier questions

    def note(self, since: int) -> None:
        """Look at the processes for the first time since the question."""
        self.process = self.process or self.find_process()
        last, self.noted = self.last, self._look()
        earlier = last._replace(time=since)
        self.before = self._delay(earlier, self.noted) if last.time else 0

    def delay(self) -> int:
        """Nanoseconds since the question."""
        return self.before + self._delay(self.noted, self._look()) if self.noted else 0

    @staticmethod
    def _delay(one: "Seen", other: "Seen") -> int:
        passed, delayed, ran = (now - then for now, then in zip(other, one, strict=True))
        return max(0, min(delayed, passed - ran))

    def extend(self, seconds: float, since: int) -> int | None:
        """A later deadline for a bot that could not run; None if it could, VoidGame in the end."""
        delay, now = self.delay(), time.monotonic_ns()
        passed = now - since
        delay = min(delay, passed)
        if passed - delay >= int(seconds * BILLION):
            return None
        if passed > int((MAX_WAIT_FACTOR * seconds + MORE_SECONDS) * BILLION):
            raise VoidGame(f"could not run for {passed / BILLION:.1f} s: {BUSY}")
        return max(since + int(seconds * BILLION) + delay, now + LEAST_EXTENSION)

    def _look(self) -> "Seen":
        tree = usage.descendants(self.process) if self.process else []
        self.last = Seen(time.monotonic_ns(), usage.run_delay(tree), usage.tree_time(tree))
        return self.last


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
        """Return whether this process has started it, and not ended it; a fork's copy is not its.

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
        reads, self.questions = os.pipe()
        self.answers, writes = os.pipe()
        os.set_blocking(self.questions, False)
        self.number = connection.number()
        start = Start(number=self.number, limits=self.limits, cores=cores, **program)  # type: ignore[arg-type]
        self.turn = connection.start(start, reads, writes)
        close_descriptors([reads, writes])
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(self.answers, select.POLLIN)
        self.writable.register(self.questions, select.POLLOUT)
        self.watch = DelayWatch(lambda: self.spawner.where(self.number))
        self.sent, self.has_written_before = 0, False
        self.heard = False  # whether it has written anything since the question

    def delayed(self, taken: int) -> int:
        """Of so many nanoseconds, those for which it was ready but did not run."""
        return min(taken, self.watch.delay()) if self.alive else 0

    @property
    def is_watched(self) -> bool:
        """Return whether it has used the processor out of turn, and is stopped since."""
        return self.alive and self.turn.is_watched

    def begin_turn(self) -> None:
        """Let its processes go on if they were stopped."""
        if self.turn.begin():
            self.spawner.resume(self.number)

    def end_turn(self) -> None:
        """Stop its processes if they use the processor out of turn."""
        if self.turn.end():
            self.spawner.stop(self.number)

    def send(self, content: bytes | memoryview, seconds: float) -> None:
        """Write everything; a bot that does not read gets as long as for an answer."""
        self.begin_turn()
        self.watch.noted, self.heard = None, False
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
        """Return what it has written, once it comes: nothing if it has ended, None if late.

        `since` are the nanoseconds at which its clock started: the limit is one for all pieces.
        """
        self.begin_turn()
        until = since + int(seconds * BILLION)
        first_look = since + int(min(NOTE_SECONDS, seconds * NOTE_SHARE) * BILLION)
        while True:
            next_look = until if self.watch.noted else first_look
            wait = next_look - time.monotonic_ns()
            # What comes piece by piece is late when the whole of it is.
            late = self.heard and -wait > MOST_LATE and self.watch.noted
            if not late and self.readable.poll(max(0.0, wait / 1e6 + 0.5)):
                return self._read()
            if not self.watch.noted:
                self.watch.note(since)
                continue
            try:
                later = self.watch.extend(seconds, since)
            except VoidGame as void:
                self.end()
                raise VoidGame(f"{self.name} {void}") from None
            if later is None:
                return None
            until = later

    def quick_answer(self, seconds: float) -> bytes | None:
        """Return what it has written, if that needs no second look."""
        if self.readable.poll(min(seconds, NOTE_SECONDS) * 1000):
            return self._read() or None
        return None

    def _read(self) -> bytes:
        """Return what it has written; its turn is over, until more is read."""
        content = b""
        with suppress(OSError):
            content = os.read(self.answers, CHUNK)
        self.has_written_before |= bool(content)
        self.heard = True
        self.end_turn()
        return content

    def answer(self, seconds: float, since: int, silence: str = "did not answer") -> bytes:
        """Return what it has written; ending, or writing nothing in time, is its fault."""
        content = self.receive(seconds, since)
        if content is None:
            self.raise_fault("timeout", f"{silence} within {seconds:.3g} s")
        return content or self.raise_crash()

    @property
    def has_written(self) -> bool:
        """Return whether something can be read at once, its end too."""
        return bool(self.readable.poll(0))

    def close_input(self, seconds: float) -> bool:
        """Close its input; whether it writes something then: it was in a buffer of its own."""
        os.close(self.questions)
        self.questions = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        return bool(self.receive(seconds, time.monotonic_ns()))

    @property
    def has_closed(self) -> bool:
        """Return whether it has closed its end between two games, as many programs do."""
        return any(event & select.POLLHUP for _, event in self.readable.poll(0))

    def has_ended(self, seconds: float = 0.2) -> bool:
        """Return whether its process ends within this time."""
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
        """Return whether it has not yet read a byte of what it was sent: it is still loading."""
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
