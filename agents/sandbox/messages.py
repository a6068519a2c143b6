"""Messages between owner and spawner."""

import array
import mmap
import os
import resource
import signal
import socket
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

HEAD_BYTES = 4  # of a message: its length
MAX_DESCRIPTORS = 16  # with one message
MAX_OPEN_FILES = 1 << 16


@dataclass(frozen=True, slots=True)
class BotLimits:
    """The limits of a bot, for all its processes together."""

    memory: int = 512 << 20  # bytes
    processes: int = 64
    start_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Start:
    """Start a bot; the descriptors of its questions and answers come with the message."""

    number: int  # chosen by the client
    command: tuple[str, ...]  # empty: a Python bot, built from `recipe`
    recipe: bytes = b""  # (spec, game), pickled by the owner
    readable: tuple[str, ...] = ()  # files and directories besides those of the system
    limits: BotLimits = BotLimits()
    cores: tuple[int, ...] = ()  # none: any
    environment: dict[str, str] = field(default_factory=dict)
    cwd: str = ""  # of a command; empty: its scratch directory
    loopback: bool = False  # whether its own processes may talk to one another by TCP
    name: str = ""  # in front of its lines in the file of `KeepOutput`
    # Set by the spawner: the measures that confine it, and its directory (not in its own root).
    measures: frozenset[str] = frozenset()
    scratch: str = ""

    @property
    def has_own_root(self) -> bool:
        """Return whether it sees only its own files, processes and network."""
        return "namespaces" in self.measures


@dataclass(frozen=True, slots=True)
class KeepOutput:
    """Append what bots write to a file, from now on."""

    path: str


@dataclass(frozen=True, slots=True)
class Preload:
    """Load what bots of this spec need, before they are started.

    `thoughts`: they will also search single moves.
    """

    recipe: bytes
    thoughts: bool = False


@dataclass(frozen=True, slots=True)
class PreloadResult:
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
class BotExit:
    """A bot has ended, by itself or not."""

    number: int
    code: int  # its exit status, or minus the signal
    cause: str  # "memory", "flooded", "resources" if the machine lacked some, or empty
    reason: str
    log: bytes  # its end
    seconds: float = 0.0  # of processor time

    @property
    def description(self) -> str:
        """How it ended, as a clause of a message."""
        if self.reason:
            return self.reason
        if self.code < 0:
            return f"was ended by {signal_name(-self.code)}"
        return f"ended with exit status {self.code}"


Message = Start | KeepOutput | Preload | PreloadResult | FindProcess | Pause | End | BotExit


# Of each bot, 64 bits each: when its turn began (0: it is not its turn), the nanoseconds of all its
# turns before, and whether it must be stopped between turns.
TURN_FIELDS = 3
MAX_TURNS = 1024  # bots of one connection at a time


class Turn:
    """The clock of a bot's turns, in memory that its owner and the spawner share, but no bot.

    A message for each turn would take longer than a quick bot's answer.
    """

    def __init__(self, page: memoryview, number: int) -> None:
        """`page` has the fields of all bots of a connection."""
        first = TURN_FIELDS * (number % MAX_TURNS)
        self.fields = page[first : first + TURN_FIELDS]

    def reset(self) -> None:
        """Begin the turn of a bot that is being started."""
        self.fields[2] = self.fields[1] = 0
        self.fields[0] = time.monotonic_ns()

    def begin(self) -> bool:
        """Begin a turn; return whether the bot must be resumed."""
        if not self.fields[0]:
            self.fields[0] = time.monotonic_ns()
            return bool(self.fields[2])
        return False

    def end(self) -> bool:
        """End a turn; return whether the bot must be stopped."""
        fields = self.fields
        if begun := fields[0]:
            fields[0] = 0
            fields[1] += time.monotonic_ns() - begun
            return bool(fields[2])
        return False

    @property
    def is_active(self) -> bool:
        """Return whether it is the bot's turn."""
        return bool(self.fields[0])

    @property
    def needs_pauses(self) -> bool:
        """Return whether the bot must be stopped between turns."""
        return bool(self.fields[2])

    def require_pauses(self) -> None:
        """Have the owner stop the bot between turns from now on."""
        self.fields[2] = 1

    def total_nanoseconds(self, now: int) -> int:
        """Return how long all its turns have taken so far."""
        begun = self.fields[0]
        return self.fields[1] + (max(0, now - begun) if begun else 0)


def new_turn_page() -> tuple[int, memoryview]:
    """Return a page for turns, and a descriptor by which it can be shared."""
    size = TURN_FIELDS * MAX_TURNS * 8
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("turns", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor, open_turn_page(descriptor)


def open_turn_page(descriptor: int) -> memoryview:
    """Return the page of a descriptor."""
    return memoryview(mmap.mmap(descriptor, TURN_FIELDS * MAX_TURNS * 8)).cast("Q")


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def send_message(to: socket.socket, content: bytes, descriptors: Sequence[int] = ()) -> None:
    """Send a message that is not empty, with descriptors; OSError if the other end is closed."""
    whole = len(content).to_bytes(HEAD_BYTES, "little") + content
    extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    sent = to.sendmsg([whole], extra if descriptors else [])
    to.sendall(whole[sent:])


def receive_message(source: socket.socket) -> tuple[bytes, list[int]]:
    """Return a message with its descriptors; empty if the other end is closed."""
    room = socket.CMSG_SPACE(MAX_DESCRIPTORS * array.array("i").itemsize)
    head, extra, _, _ = source.recvmsg(HEAD_BYTES, room)
    descriptors = array.array("i")
    for _, _, piece in extra:
        descriptors.frombytes(piece[: len(piece) - len(piece) % descriptors.itemsize])
    head = _receive_bytes(source, head, HEAD_BYTES)
    content = _receive_bytes(source, b"", int.from_bytes(head, "little"))
    if not content:
        close_descriptors(list(descriptors))
        return b"", []
    return content, list(descriptors)


def _receive_bytes(source: socket.socket, begun: bytes, size: int) -> bytes:
    """Read on until there are `size` bytes; return none if the other end is closed."""
    content = bytearray(begun)
    while len(content) < size:
        piece = source.recv(size - len(content))
        if not piece:
            return b""
        content += piece
    return bytes(content)


def raise_open_file_limit() -> None:
    """Raise the soft limit of open files: each bot takes a few of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft not in (resource.RLIM_INFINITY, wanted) and soft < wanted:
        with suppress(OSError, ValueError):  # macOS allows fewer
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def require_descriptors(count: int) -> None:
    """Raise OSError if fewer descriptors can still be opened."""
    opened: list[int] = []
    try:
        while len(opened) < count:
            opened.append(os.dup(0))
    finally:
        close_descriptors(opened)


def close_descriptors(descriptors: list[int]) -> None:
    """Close descriptors that are no longer needed."""
    for each in descriptors:
        os.close(each)
