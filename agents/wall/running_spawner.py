"""The spawner as the process sees it that began it: how it is started, and how it is ended."""

import os
import pickle
import socket
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

from agents.wall.confinement import THREADS
from agents.wall.ladder import WallLevel
from agents.wall.requests import MESSAGE_BYTES
from agents.wall.scratch import cleaned
from games.terminal import Unfinished

TRIES = 3  # to start one
PATIENCE_SECONDS = 60.0  # with the spawner, which never waits for a bot; a bomb of forks slows all
ROOT = Path(__file__).parents[2]
# What the spawner needs to find its libraries and what is compiled; a bot gets none of it.
KEPT = ("PATH", "HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "TMPDIR",
        "LD_LIBRARY_PATH", "PITFLIP_WALL")  # fmt: skip
# Ctrl-C at the terminal is for whoever asks, while this is still loading too.
SERVE = """
import signal, sys
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.SIG_IGN)
sys.path[:0] = [{root!r}]
from agents.wall import spawner
spawner.main({fd})
"""


class SpawnerLost(Unfinished):
    """The spawner does not answer, which is never a bot's fault."""


class RunningSpawner:
    """A spawner that has begun: its process, the way to it, and what walls it has."""

    def __init__(self, process: "subprocess.Popen[bytes]", root: socket.socket) -> None:
        """OSError or EOFError if it does not say what walls it has."""
        self.process, self.root = process, root
        self.close = weakref.finalize(self, _finish, process, root, os.getpid())
        try:
            self.level: WallLevel = pickle.loads(root.recv(MESSAGE_BYTES))
        except (OSError, EOFError):
            self.close()
            raise

    def kill(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.close()


def kept_environment() -> dict[str, str]:
    """What a spawner gets of our environment."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def begin_spawner() -> RunningSpawner:
    """A spawner of our own; SpawnerLost if it does not start."""
    for tries_left in reversed(range(TRIES)):
        try:
            return _begun()
        except (OSError, EOFError) as error:
            if not tries_left:
                why = str(error) if isinstance(error, OSError) else "it ended at once"
                raise SpawnerLost(f"the spawner of bots did not start: {why}") from None
    raise AssertionError("the last try returns or raises")


def _begun() -> RunningSpawner:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE.format(root=str(ROOT), fd=theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env=kept_environment() | dict.fromkeys(THREADS, "1"),
            cwd="/",
        )
    ours.settimeout(PATIENCE_SECONDS * 6)
    return RunningSpawner(process, ours)


def _finish(process: "subprocess.Popen[bytes]", root: socket.socket, owner: int) -> None:
    root.close()
    if os.getpid() != owner:
        process.returncode = 0  # a fork's copy: it is not our child
        return
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.returncode:  # it could not remove its files
        cleaned(Path(tempfile.gettempdir()))
