"""Messages between owner and spawner."""

import os
import pickle
import resource
import signal
from contextlib import suppress
from dataclasses import dataclass, field

MESSAGE_BYTES = 1 << 20
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
    """Ask for a bot's process; the answer is this request with its process id."""

    number: int
    process: int = 0  # 0: there is none


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


Message = Start | Preload | Preloaded | FindProcess | End | Ended


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
    """The message that `packed` made."""
    message: Message = pickle.loads(content)
    return message


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
