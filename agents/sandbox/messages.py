"""Messages between owner and spawner."""

import array
import mmap
import os
import pickle
import resource
import signal
import socket
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

HEAD_BYTES = 4  # of a message: its length
MOST_DESCRIPTORS = 16  # with one message
MOST_OPEN_FILES = 1 << 16


@dataclass(frozen=True, slots=True)
class BotLimits:
    """The limits of a bot, for all its processes together."""

    memory: int = 512 << 20  # bytes
    processes: int = 64
    start_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Start:
    """Start a bot; the descriptors of its questions and answers come with the message."""

    number: int  # given by who asks
    command: tuple[str, ...]  # empty: a Python bot, made of `recipe`
    recipe: bytes = b""  # (spec, game), pickled by the owner
    readable: tuple[str, ...] = ()  # files and directories besides those of the system
    limits: BotLimits = BotLimits()
    cores: tuple[int, ...] = ()  # none: any
    environment: dict[str, str] = field(default_factory=dict)
    cwd: str = ""  # of a command; empty: its scratch directory
    loopback: bool = False  # whether its own processes may talk to one another by TCP


@dataclass(frozen=True, slots=True)
class Preload:
    """Load what bots of this spec will need, before they are started.

    `thoughts` is whether they will be asked what they think of single moves.
    """

    recipe: bytes
    thoughts: bool = False


@dataclass(frozen=True, slots=True)
class Preloaded:
    """The answer: why it could not be loaded, empty if it was."""

    problem: str


@dataclass(frozen=True, slots=True)
class FindProcess:
    """Ask for the first of a bot's processes; the answer is this request with its id."""

    number: int
    process: int = 0  # 0: there is none


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop the processes of a bot while it is not its turn, or let them go on."""

    number: int
    stop: bool


@dataclass(frozen=True, slots=True)
class End:
    """End a bot and everything it has started."""

    number: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A bot has ended, by itself or not."""

    number: int
    code: int  # its exit status, or minus the signal
    cause: str  # "memory", "flooded", "resources" (which the machine lacked) or empty
    reason: str
    log: bytes  # the last of what it wrote to its log
    seconds: float = 0.0  # of processor time

    @property
    def description(self) -> str:
        """How it ended, in words."""
        if self.reason:
            return self.reason
        if self.code < 0:
            return f"was ended by {signal_name(-self.code)}"
        return f"ended with exit status {self.code}"


Message = Start | Preload | Preloaded | FindProcess | Pause | End | Ended


TURN_FIELDS = 3  # of 64 bits, for each bot
MOST_TURNS = 1024  # bots of one connection at a time


class Turn:
    """When a bot is asked: memory that its owner and the spawner share, but no bot.

    A message for each question would cost more than the question.
    """

    def __init__(self, page: memoryview, number: int) -> None:
        """`page` has room for every bot of a connection."""
        first = TURN_FIELDS * (number % MOST_TURNS)
        self.fields = page[first : first + TURN_FIELDS]

    def reset(self) -> None:
        """The bot is started, which is its turn."""
        self.fields[2] = self.fields[1] = 0
        self.fields[0] = time.monotonic_ns()

    def begin(self) -> bool:
        """The bot is asked; whether it has to be resumed."""
        if not self.fields[0]:
            self.fields[0] = time.monotonic_ns()
            return bool(self.fields[2])
        return False

    def end(self) -> bool:
        """The bot has answered; whether it has to be stopped."""
        fields = self.fields
        if begun := fields[0]:
            fields[0] = 0
            fields[1] += time.monotonic_ns() - begun
            return bool(fields[2])
        return False

    @property
    def is_asked(self) -> bool:
        """Return whether it is the bot's turn."""
        return bool(self.fields[0])

    @property
    def is_watched(self) -> bool:
        """Return whether the bot has used the processor out of turn, and is stopped since."""
        return bool(self.fields[2])

    def watch(self) -> None:
        """Have the owner report from now on when the bot is asked."""
        self.fields[2] = 1

    def nanoseconds(self, now: int) -> int:
        """How long all its turns have taken so far."""
        begun = self.fields[0]
        return self.fields[1] + (max(0, now - begun) if begun else 0)


def new_page() -> tuple[int, memoryview]:
    """A page for turns, and a descriptor by which it can be shared."""
    size = TURN_FIELDS * MOST_TURNS * 8
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("turns", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor, open_page(descriptor)


def open_page(descriptor: int) -> memoryview:
    """The page behind a descriptor."""
    return memoryview(mmap.mmap(descriptor, TURN_FIELDS * MOST_TURNS * 8)).cast("Q")


def signal_name(number: int) -> str:
    """Such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def encode(message: Message) -> bytes:
    """The message as it travels; it never comes from a bot."""
    return pickle.dumps(message)


def decode(content: bytes) -> Message:
    """The message that `encode` made."""
    message: Message = pickle.loads(content)
    return message


def send_message(to: socket.socket, content: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send a message that is not empty, with descriptors; OSError if the other end is closed."""
    whole = len(content).to_bytes(HEAD_BYTES, "little") + content
    extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    sent = to.sendmsg([whole], extra if descriptors else [])
    to.sendall(whole[sent:])


def receive_message(source: socket.socket) -> tuple[bytes, list[int]]:
    """A message with its descriptors; empty if the other end is closed."""
    room = socket.CMSG_SPACE(MOST_DESCRIPTORS * array.array("i").itemsize)
    head, extra, _, _ = source.recvmsg(HEAD_BYTES, room)
    descriptors = array.array("i")
    for _, _, piece in extra:
        descriptors.frombytes(piece[: len(piece) - len(piece) % descriptors.itemsize])
    head = _read_exactly(source, head, HEAD_BYTES)
    content = _read_exactly(source, b"", int.from_bytes(head, "little"))
    if not content:
        close_descriptors(list(descriptors))
        return b"", []
    return content, list(descriptors)


def _read_exactly(source: socket.socket, begun: bytes, size: int) -> bytes:
    """So many bytes, the first of which are read; none if the other end is closed."""
    content = bytearray(begun)
    while len(content) < size:
        piece = source.recv(size - len(content))
        if not piece:
            return b""
        content += piece
    return bytes(content)


def allow_open_files() -> None:
    """Raise the soft limit of open files: each bot takes a few of ours."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft not in (resource.RLIM_INFINITY, wanted) and soft < wanted:
        with suppress(OSError, ValueError):  # macOS has a lower limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def close_descriptors(descriptors: list[int]) -> None:
    """Close descriptors that are no longer needed."""
    for each in descriptors:
        os.close(each)
