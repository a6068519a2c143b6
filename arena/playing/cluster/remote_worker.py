"""Code that runs inside a Dask worker: it starts players and passes items to them."""

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from distributed import Worker, get_worker
from distributed.core import Status

from arena.playing.cluster.package import WorkPackage
from arena.playing.cluster.remote_player import Calibration, ItemReply, PlayerReady
from arena.storage import provenance

MAX_PACKAGES = 8
READY_SECONDS = 600.0  # a machine that has never played compiles first
POLL_SECONDS = 0.1
# Not `python -m`: pickled classes must be found again by the name of their module.
START_PLAYERS = "from arena.playing.cluster.remote_player import main; main()"
# Attributes that we add to a Dask worker.
POOL_ATTRIBUTE, LOCK, LOADED = "pitflip_hands", "pitflip_lock", "pitflip_loaded"


class AdmissionReply(NamedTuple):
    """A worker's answer to a package: its calibration, or why it cannot play."""

    calibration: Calibration | None
    refusal: str = ""
    isolation: str = ""  # the sandbox level of bots there, if there are any


class ItemDropped(Exception):  # noqa: N818  # an event, not an error of the code
    """The result of the item is no longer needed."""


def prepare_worker(sources: str, sent: bytes) -> bytes:
    """Prepare for a pickled package if our sources match the sender's; an AdmissionReply."""
    here, worker = provenance.code_digest(), get_worker()
    loaded = vars(worker).setdefault(LOADED, here)
    if here != sources:
        refusal = f"it has other sources of pitflip, {here}, here they are {sources}"
        return pickle.dumps(AdmissionReply(None, refusal))
    if loaded != here:  # its files are newer than the loaded modules
        return pickle.dumps(
            AdmissionReply(None, "pitflip was changed there while it ran: start it again")
        )
    return pickle.dumps(_start_player(pickle.loads(sent)))


def _start_player(package: WorkPackage) -> AdmissionReply:
    """Start a player of the package, and keep it for the first item."""
    try:
        pool = _player_pool(get_worker())
        pool.add_package(package)
        player = pool.take(package.digest, _make_need_check())
        pool.put(player)
        return AdmissionReply(pool.calibration, isolation=player.isolation)
    except (PlayerNotReady, OSError) as error:
        return AdmissionReply(None, f"it cannot begin ({error})")
    except EOFError:
        raise RuntimeError("its player ended before it was ready") from None


def run_item(digest: str, item: bytes) -> bytes:
    """Have a player do an item of a package; if it dies, have another one do it.

    Items and replies are pickles, which are opened only at the ends. An empty reply says that the
    package is not known (any more).
    """
    pool, is_wanted = _player_pool(get_worker()), _make_need_check()
    for _ in range(2):
        with contextlib.suppress(EOFError, ConnectionError):
            if digest not in pool.packages:
                return b""
            player = pool.take(digest, is_wanted)
            reply = player.ask(item, is_wanted)
            pool.put(player)
            return reply
    return pickle.dumps(ItemReply(None, ""))


class PlayerNotReady(Exception):  # noqa: N818  # an event, not an error of the code
    """A player cannot start; the message says what is missing on its machine."""


class PlayerHandle:
    """The Dask worker's connection to a player."""

    def __init__(self, digest: str, connection: Connection) -> None:
        self.digest, self.connection = digest, connection
        self.process, self.isolation = 0, ""

    def wait_until_ready(self, is_wanted: Callable[[], bool]) -> None:
        """Wait until the player is ready; PlayerNotReady if it cannot start."""
        ready: PlayerReady = pickle.loads(self._receive(is_wanted))
        self.process, self.isolation = ready.process, ready.isolation
        if ready.refusal:
            raise PlayerNotReady(ready.refusal)

    def ask(self, item: bytes, is_wanted: Callable[[], bool]) -> bytes:
        """Return the reply to an item; EOFError if the player dies."""
        self.connection.send_bytes(item)
        return self._receive(is_wanted)

    def _receive(self, is_wanted: Callable[[], bool]) -> bytes:
        while not self.connection.poll(POLL_SECONDS):
            if not is_wanted():
                self.end()
                raise ItemDropped
        return self.connection.recv_bytes()

    def end(self) -> None:
        """End the player and everything that it has started."""
        self.connection.close()
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGTERM)


class PlayerPool:
    """The players of one Dask worker, forked from one process that it started."""

    def __init__(self, name: str, directory: Path) -> None:
        """Start with the Dask worker's name; users' files are kept in `directory`."""
        self.name = name
        self.lock = threading.Lock()
        self.packages: dict[str, WorkPackage] = {}  # the latest last
        self.idle: list[PlayerHandle] = []
        self.directory = directory
        ours, theirs = socket.socketpair()
        with theirs:
            self.spawner = subprocess.Popen(
                [sys.executable, "-c", START_PLAYERS, str(theirs.fileno()), str(directory)],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )  # fmt: skip
        self.control = ours
        ours.settimeout(READY_SECONDS)
        with ours.makefile("rb") as lines:
            line = lines.readline()
        if not line:
            raise EOFError  # it may have been killed; the client tries again a few times
        self.calibration = Calibration(*json.loads(line))

    def add_package(self, package: WorkPackage) -> None:
        """Keep a package; players of those before the latest two are ended."""
        with self.lock:
            self.packages.pop(package.digest, None)
            self.packages[package.digest] = package
            for digest in list(self.packages)[:-MAX_PACKAGES]:
                del self.packages[digest]
            latest = list(self.packages)[-2:]
            old = [player for player in self.idle if player.digest not in latest]
            self.idle = [player for player in self.idle if player.digest in latest]
        for player in old:
            player.end()

    def take(self, digest: str, is_wanted: Callable[[], bool]) -> PlayerHandle:
        """Return an idle player of this package, or a new one."""
        with self.lock:
            for player in self.idle:
                if player.digest == digest:
                    self.idle.remove(player)
                    return player
        ours, theirs = socket.socketpair()
        with theirs, self.lock:
            socket.send_fds(self.control, [b"p"], [theirs.fileno()])
        player = PlayerHandle(digest, Connection(ours.detach()))
        player.connection.send((self.name, self.packages[digest]))
        player.wait_until_ready(is_wanted)
        return player

    def put(self, player: PlayerHandle) -> None:
        """Keep a player for the next item."""
        with self.lock:
            self.idle.append(player)


def _player_pool(worker: Worker) -> PlayerPool:
    """Return the players of a Dask worker, started at the first call and again after a death."""
    with vars(worker).setdefault(LOCK, threading.Lock()):
        pool: PlayerPool | None = getattr(worker, POOL_ATTRIBUTE, None)
        if pool is None or pool.spawner.poll() is not None:
            pool = PlayerPool(worker.address, Path(worker.local_directory) / "pitflip")
            setattr(worker, POOL_ATTRIBUTE, pool)
        return pool


def _make_need_check() -> Callable[[], bool]:
    """Return a function that returns whether the result of the running task is still needed."""
    worker = get_worker()
    key = worker.get_current_task()

    def is_executing() -> bool:
        task = worker.state.tasks.get(key)
        is_running = worker.status in (Status.running, Status.paused)
        return is_running and task is not None and task.state == "executing"

    return is_executing
