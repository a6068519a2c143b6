"""The levels of isolation, strongest first, each found by trying it in a child process."""

import errno
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from agents.wall.confinement import UNSTARTED, Confinement, begin, leave, own_measures
from agents.wall.requests import BotLimits
from agents.wall.system_calls import write

# The level, strongest first -> what it is made of; the first of each must work. What is not one of
# ours below is a module of this package, with `HOLDS`, `restrict` and `attempts`.
WALLS: Mapping[str, tuple[str, ...]] = {
    "namespaces": ("namespaces", "landlock", "seccomp", "limits"),
    "bubblewrap": ("bubblewrap", "seccomp", "limits"),
    "landlock": ("landlock", "seccomp", "limits"),
    "limits": ("limits",),
    "none": (),
}
# One of these is what `isolation = "required"` accepts.
SEPARATING = ({"namespaces"}, {"bubblewrap"}, {"landlock", "seccomp"})
UNUSED = "bubblewrap"  # by this version
MEASURES = tuple(dict.fromkeys(each for made in WALLS.values() for each in made if each != UNUSED))
HELD = {
    "namespaces": "no files but their own, no network, no sight of other processes",
    "bubblewrap": "no files but their own, no network, no sight of other processes",
    "landlock": "no files but their own, no network but local sockets, no signals to us",
    "limits": "memory, processes and time are limited; files and network are open to them",
}
# What an attempt that is stopped is told.
STOPPED = (
    errno.EPERM, errno.EACCES, errno.ENOENT, errno.ECONNREFUSED, errno.ENETUNREACH,
    errno.EADDRNOTAVAIL, errno.EMFILE, errno.EAGAIN, errno.ENOMEM,
)  # fmt: skip
TRIAL_LIMITS = BotLimits(memory=256 << 20)


class WallLevel(NamedTuple):
    """The rung that holds, what it is made of here, and why others do not."""

    name: str
    measures: frozenset[str]
    problems: Mapping[str, str]  # by measure, in words with the errno

    @property
    def words(self) -> str:
        """What they hold back."""
        more = [each.HOLDS for each in own_measures(self.measures)]
        held = next((words for each, words in HELD.items() if each in self.measures), "")
        return "; ".join([*more, held or "nothing is held back: run only code that you trust"])

    @property
    def enough(self) -> bool:
        """Whether it separates a bot from our files, network and processes."""
        return any(needed <= self.measures for needed in SEPARATING)

    def refusal(self) -> str:
        """Why `isolation = "required"` is impossible here."""
        reasons = "; ".join(f"{name}: {why}" for name, why in self.problems.items())
        return f'isolation = "required" cannot be had, the walls are "{self.name}" ({reasons})'


def level(scratch: Path, weakest: str = "") -> WallLevel:
    """The strongest rung that this machine has; `scratch` is a directory of ours.

    `weakest` names a level that must do instead: for tests of machines that have no better one.
    """
    allowed = WALLS.get(weakest, MEASURES)
    problems = {
        each: problem
        for each in MEASURES
        if (problem := tried(each, scratch) if each in allowed else "not to be used")
    }
    problems[UNUSED] = "not used by this version"
    for name, made_of in WALLS.items():
        if not made_of or made_of[0] not in problems:
            return WallLevel(name, frozenset(made_of) - frozenset(problems), problems)
    raise AssertionError("the last rung needs nothing")


def tried(measure: str, scratch: Path) -> str:
    """Why a measure does not work here; empty if it does."""
    own, outside = scratch / f"try-{measure}", scratch / f"outside-{measure}"
    own.mkdir(exist_ok=True)
    write(str(outside), "not for bots")
    reading, writing = os.pipe()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        confinement = Confinement(
            frozenset({measure}), str(own), (), TRIAL_LIMITS, (), {}, grown=True
        )
        null = os.open(os.devnull, os.O_RDWR)
        descriptors = {0: null, 1: writing, 2: writing}
        process = begin(confinement, descriptors, lambda: _attempt(measure, outside, port))
    for each in (null, writing):
        os.close(each)
    answer = os.read(reading, 4096).decode(errors="replace")
    os.close(reading)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code == 0:
        return ""
    return answer.removeprefix("cannot be started: ") or f"the trial ended with {code}"


def _attempt(measure: str, outside: Path, port: int) -> int:
    """In the child: what the measure must stop, and what it must allow."""
    attempts: Mapping[str, Mapping[str, Callable[[], object]]] = {
        "namespaces": {"files": outside.read_text, "network": lambda: _connect(port)},
        "landlock": {"files": outside.read_text},
        "seccomp": {"network": lambda: _connect(port)},
    }
    for own in own_measures({measure}):
        attempts = {measure: own.attempts()}
    for what, attempt in attempts.get(measure, {}).items():
        try:
            attempt()
        except OSError as error:
            if error.errno not in STOPPED:
                leave(UNSTARTED, f"{what}: {error}")
        else:
            leave(UNSTARTED, f"{what} of others stay within reach")
    write("scratch-of-the-trial", "ours")
    return 0


def _connect(port: int) -> None:
    with socket.socket() as own:  # by a plain call: nothing more can be imported here
        own.settimeout(2)
        own.connect(("127.0.0.1", port))
