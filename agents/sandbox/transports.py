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
from agents.fault_text import relevant_lines
from agents.sandbox import usage
from agents.sandbox.isolation import UNSTARTED
from agents.sandbox.messages import BotExit, BotLimits, Start, close_descriptors
from agents.sandbox.sandbox import Connection, Sandbox, SpawnerLost
from games.base.errors import Unfinished, printable

MAX_WAIT_FACTOR = 10  # times its limit, for a bot that the machine does not let run
EXTRA_WAIT_SECONDS = 5.0
MAX_RUNNABLE = 2  # threads for each core; fewer cannot delay a bot for that long
# The first sample of a bot's use is taken after this time, or this part of its limit.
FIRST_SAMPLE_SECONDS, FIRST_SAMPLE_SHARE = 0.02, 0.05
MIN_EXTENSION = 5_000_000  # nanoseconds
MAX_OWN_DELAY = 100_000_000  # nanoseconds, for our own delay between two pieces of an answer
BUSY_TEXT = "the machine is too busy"
BILLION = 1_000_000_000
CHUNK = 1 << 16
EXIT_SECONDS = 1.0  # from the end of a bot's output to the end of its process


def bot_seed(seed: int) -> int:
    """Return the seed of a user's bot, which does not reveal that of its opponent."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


class VoidGame(Unfinished):  # the glossary's word
    """A fault of ours or of the machine: the game does not count."""


class UsageSample(NamedTuple):
    """The times of a bot's processes, in nanoseconds."""

    time: int
    delay: int  # for which a thread was ready but did not run
    run_time: int


class DelayMeter:
    """Measures how long a bot could not run in its turn because others used the machine.

    A delay is at most the time that passed less the time for which the bot's processes ran: a bot
    that keeps the cores busy itself is not delayed.
    """

    def __init__(self, find_process: Callable[[], int]) -> None:
        """`find_process` returns the first process of the bot."""
        self.find_process = find_process
        self.process = 0
        self.last_sample = UsageSample(0, 0, 0)
        self.first_sample: UsageSample | None = None  # since the question
        self.earlier_delay = 0  # from the question to its first sample

    def take_first_sample(self, since: int) -> None:
        """Take the first sample since the question."""
        self.process = self.process or self.find_process()
        last, self.first_sample = self.last_sample, self._take_sample()
        earlier = last._replace(time=since)
        self.earlier_delay = self._delay(earlier, self.first_sample) if last.time else 0

    def delay(self) -> int:
        """Return the delay since the question, in nanoseconds."""
        first = self.first_sample
        return self.earlier_delay + self._delay(first, self._take_sample()) if first else 0

    @staticmethod
    def _delay(one: UsageSample, other: UsageSample) -> int:
        passed, delayed, ran = (now - then for now, then in zip(other, one, strict=True))
        return max(0, min(delayed, passed - ran))

    def later_deadline(self, seconds: float, since: int) -> int | None:
        """Return a later deadline for a bot that could not run, and None for one that could.

        VoidGame if it could not run for far too long, unless it keeps the cores busy itself: the
        kernel forgets the time of children for which no process waits.
        """
        delay, now = self.delay(), time.monotonic_ns()
        passed = now - since
        delay = min(delay, passed)
        if passed - delay >= int(seconds * BILLION):
            return None
        if passed > int((MAX_WAIT_FACTOR * seconds + EXTRA_WAIT_SECONDS) * BILLION):
            if usage.runnable_count(self._tree()) > MAX_RUNNABLE * (os.cpu_count() or 1):
                return None
            raise VoidGame(f"could not run for {passed / BILLION:.1f} s: {BUSY_TEXT}")
        return max(since + int(seconds * BILLION) + delay, now + MIN_EXTENSION)

    def _tree(self) -> list[int]:
        return usage.descendants(self.process) if self.process else []

    def _take_sample(self) -> UsageSample:
        tree = self._tree()
        self.last_sample = UsageSample(
            time.monotonic_ns(), usage.longest_run_delay(tree), usage.tree_time(tree)
        )
        return self.last_sample


class BotProcess:
    """A bot's process: ended after every fault, started again on request."""

    def __init__(self, name: str, sandbox: Sandbox, limits: BotLimits, label: str = "") -> None:
        """`name` is the bot's name in messages, `label` in its output; nothing is started yet."""
        self.name, self.sandbox, self.limits = name, sandbox, limits
        self.label = printable(label or name.rpartition("/")[2])
        self.number = 0
        self.connection: Connection | None = None  # to the spawner that started it
        self.questions = self.answers = -1
        self.sent = 0
        self.ever_wrote = False  # whether this process has written anything

    @property
    def alive(self) -> bool:
        """Return whether it was started by this process, and neither it nor its spawner ended."""
        return self.number != 0 and self.sandbox.is_current(self.connection)

    @property
    def spawner(self) -> Connection:
        """The connection to the spawner of a bot that was started."""
        assert self.connection is not None
        return self.connection

    def start(self, program: Mapping[str, object], cores: tuple[int, ...] = ()) -> None:
        """Start the process; `program` are the fields of a `Start`."""
        if self.number:
            close_descriptors([self.questions, self.answers])  # our parent's, or of a lost spawner
            self.number = 0
        connection = self.connection = self.sandbox.connection()
        reads, self.questions = os.pipe()
        self.answers, writes = os.pipe()
        os.set_blocking(self.questions, False)
        self.number = connection.next_number()
        fields = {"limits": self.limits, "cores": cores, "name": self.label, **program}
        start = Start(number=self.number, **fields)  # type: ignore[arg-type]
        self.turn = connection.start(start, reads, writes)
        close_descriptors([reads, writes])
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(self.answers, select.POLLIN)
        self.writable.register(self.questions, select.POLLOUT)
        for each in (self.readable, self.writable):
            each.register(connection.socket, 0)  # only its end
        self.delay_meter = DelayMeter(lambda: self.spawner.find_process(self.number))
        self.sent, self.ever_wrote = 0, False
        self.got_output = False  # whether it has written anything since the question

    def delay_within(self, taken: int) -> int:
        """Return the part of some nanoseconds for which it was ready but did not run."""
        return min(taken, self.delay_meter.delay()) if self.alive else 0

    @property
    def needs_pauses(self) -> bool:
        """Return whether it is stopped between turns, because it used the processor there."""
        return self.alive and self.turn.needs_pauses

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
        self.delay_meter.first_sample, self.got_output = None, False
        until = time.monotonic() + seconds
        rest = memoryview(content)
        while rest:
            try:
                written = os.write(self.questions, rest)
                self.sent, rest = self.sent + written, rest[written:]
            except BlockingIOError:
                wait = until - time.monotonic()
                if wait <= 0 or not self._wait(self.writable, wait * 1000):
                    self.raise_fault("timeout", f"did not read its question for {seconds:g} s")
            except OSError:
                self.raise_crash()

    def receive(self, seconds: float, since: int) -> bytes | None:
        """Wait for output and return it: empty if the bot has ended, None if it is late.

        `since` is when its clock started, in nanoseconds: one limit holds for all pieces.
        """
        self.begin_turn()
        until = since + int(seconds * BILLION)
        first_sample_at = since + int(
            min(FIRST_SAMPLE_SECONDS, seconds * FIRST_SAMPLE_SHARE) * BILLION
        )
        while True:
            next_at = until if self.delay_meter.first_sample else first_sample_at
            wait = next_at - time.monotonic_ns()
            # Output that comes piece by piece is late when the whole of it is.
            late = self.got_output and -wait > MAX_OWN_DELAY and self.delay_meter.first_sample
            if not late and self._wait(self.readable, max(0.0, wait / 1e6 + 0.5)):
                return self._read()
            if not self.delay_meter.first_sample:
                self.delay_meter.take_first_sample(since)
                continue
            try:
                later = self.delay_meter.later_deadline(seconds, since)
            except VoidGame as void:
                self.end()
                raise VoidGame(f"{self.name} {void}") from None
            if later is None:
                return None
            until = later

    def quick_answer(self, seconds: float) -> bytes | None:
        """Return output that comes before the first sample is due; None if there is none."""
        if self._wait(self.readable, min(seconds, FIRST_SAMPLE_SECONDS) * 1000):
            return self._read() or None
        return None

    def _wait(self, poll: select.poll, milliseconds: float) -> bool:
        """Return whether a pipe is ready within this time; SpawnerLost if the spawner is gone."""
        ready = [descriptor for descriptor, _ in poll.poll(milliseconds)]
        if self.spawner.socket.fileno() in ready:
            raise SpawnerLost("the spawner of bots is gone")
        return bool(ready)

    def _read(self) -> bytes:
        """Return its output, and end its turn."""
        content = b""
        with suppress(OSError):
            content = os.read(self.answers, CHUNK)
        self.ever_wrote |= bool(content)
        self.got_output = True
        self.end_turn()
        return content

    def answer(self, seconds: float, since: int, silence: str = "did not answer") -> bytes:
        """Return its output; to end, or to write nothing in time, is its fault."""
        content = self.receive(seconds, since)
        if content is None:
            self.raise_fault("timeout", f"{silence} within {seconds:.3g} s")
        return content or self.raise_crash()

    @property
    def has_output(self) -> bool:
        """Return whether a read returns at once, with output or its end."""
        return self._wait(self.readable, 0)

    def close_input(self, seconds: float) -> bool:
        """Close its input; return whether it then writes output that it had not flushed."""
        os.close(self.questions)
        self.questions = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        return bool(self.receive(seconds, time.monotonic_ns()))

    @property
    def is_at_end(self) -> bool:
        """Return whether it has closed its end between two games, as many programs do."""
        events = dict(self.readable.poll(0))
        return bool(events.get(self.answers, 0) & select.POLLHUP)

    def wait_for_exit(self, seconds: float = 0.2) -> bool:
        """Return whether its process ends within this time."""
        return self.spawner.wait_for_exit(self.number, seconds)

    def raise_crash(self) -> NoReturn:
        """Raise the failure of a bot that has ended or closed its end."""
        unread = self._has_read_nothing()
        by_itself = self.wait_for_exit(EXIT_SECONDS)
        ended = self.end()
        how = ended.description if by_itself else ended.reason or "closed its end of the pipe"
        if not self.ever_wrote and ended.code == UNSTARTED:  # of shells and `env`, too
            self.raise_failure("unloadable", "cannot be started", ended)
        if unread and not ended.cause:
            self.raise_failure(
                "unloadable", f"cannot be used: it {how} before it read anything", ended
            )
        self.raise_failure(ended.cause or "crashed", how, ended)

    def _has_read_nothing(self) -> bool:
        """Return whether it has read no byte of its input: it is still loading."""
        count = struct.pack("i", 0)
        with suppress(OSError):
            count = fcntl.ioctl(self.questions, termios.FIONREAD, count)
        return self.sent > 0 and struct.unpack("i", count)[0] == self.sent

    def raise_fault(self, kind: str, message: str) -> NoReturn:
        """End it because it has broken a rule."""
        ended = self.end()
        self.raise_failure(ended.cause or kind, ended.reason or message, ended)

    def raise_failure(self, kind: str, message: str, ended: BotExit) -> NoReturn:
        """Raise the failure, with the lines of its log that explain it."""
        if ended.cause == "resources":
            raise VoidGame(f"{self.name} could not be started: {printable(ended.reason)}")
        lines = relevant_lines(ended.log.decode(errors="backslashreplace"))
        trace = "\n".join(printable(line) for line in lines)
        raise AgentFailure(kind, self.name, "", printable(message), trace) from None

    def end(self) -> BotExit:
        """End the process and everything it has started."""
        number, self.number = self.number, 0
        close_descriptors([self.questions, self.answers])
        return self.spawner.end(number)
