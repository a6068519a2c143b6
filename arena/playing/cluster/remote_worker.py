"""Code inside a Dask worker."""

import contextlib
import json
import os
import pickle
import shutil
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

MOST_PARCELS = 8
READY_SECONDS = 600.0  # a machine that has never played compiles first
TURN_SECONDS = 0.1
# Not `python -m`: pickled classes must be found again by the name of their module.
BEGIN = "from arena.playing.cluster.remote_player import main; main()"
# Attributes that we add to a Dask worker.
POOL_ATTRIBUTE, LOCK, LOADED = "pitflip_hands", "pitflip_lock", "pitflip_loaded"


class AdmissionReply(NamedTuple):
    """A worker's answer to a package: its calibration, or why it cannot play."""

    calibration: Calibration | None
    refusal: str = ""
    isolation: str = ""  # the walls that bots play behind there, if there are any


class ItemDropped(Exception):  # noqa: N818  # what happened, not an error of the code
    """The item is no longer needed."""


def prepare_worker(sources: str, sent: bytes) -> bytes:
    """Prepare for a pickled package if our sources match the sender's; an AdmissionReply."""
    here, worker = provenance.code_digest(), get_worker()
    loaded = vars(worker).setdefault(LOADED, here)
    if here != sources:
        refusal = f"it has other sources of pitflip, {here}, here they are {sources}"
        return pickle.dumps(AdmissionReply(None, refusal))
    if loaded != here:  # its files are newer than what it has loaded
        return pickle.dumps(
            AdmissionReply(None, "pitflip was changed there while it ran: start it again")
        )
    return pickle.dumps(_start_player(pickle.loads(sent)))


def _start_player(sent: WorkPackage) -> AdmissionReply:
    """Start a player of the package, and keep it for the first item."""
    try:
        hands = _player_pool(get_worker())
        hands.remember(sent)
        player = hands.take(sent.digest, _is_wanted())
        hands.put(player)
        return AdmissionReply(hands.calibration, isolation=player.isolation)
    except (PlayerNotReady, OSError) as error:
        return AdmissionReply(None, f"it cannot begin ({error})")
    except EOFError:
        raise RuntimeError("its player ended before it was ready") from None


def run_item(digest: str, item: bytes) -> bytes:
    """Have a player do an item of a package, and once more another one if it dies.

    Items and replies are pickles that are opened at the ends only. An empty reply says that the
    parcel is not known (any more).
    """
    hands, wanted = _player_pool(get_worker()), _is_wanted()
    for _ in range(2):
        with contextlib.suppress(EOFError, ConnectionError):
            if digest not in hands.parcels:
                return b""
            player = hands.take(digest, wanted)
            reply = player.ask(item, wanted)
            hands.put(player)
            return reply
    return pickle.dumps(ItemReply(None, ""))


class PlayerNotReady(Exception):  # noqa: N818  # what happened, not an error of the code
    """A player cannot start; the message says what is missing on its machine."""


class PlayerHandle:
    """A player, as its Dask worker sees it."""

    def __init__(self, digest: str, link: Connection) -> None:
        """It has been sent its parcel, and will say when it is ready."""
        self.digest, self.link = digest, link
        self.process, self.isolation = 0, ""

    def hello(self, wanted: Callable[[], bool]) -> None:
        """Wait until it is ready."""
        said: PlayerReady = pickle.loads(self._heard(wanted))
        self.process, self.isolation = said.process, said.isolation
        if said.refusal:
            raise PlayerNotReady(said.refusal)

    def ask(self, item: bytes, wanted: Callable[[], bool]) -> bytes:
        """The outcome of an item; EOFError if the player dies."""
        self.link.send_bytes(item)
        return self._heard(wanted)

    def _heard(self, wanted: Callable[[], bool]) -> bytes:
        while not self.link.poll(TURN_SECONDS):
            if not wanted():
                self.end()
                raise ItemDropped
        return self.link.recv_bytes()

    def end(self) -> None:
        """End it and everything it has started."""
        self.link.close()
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGTERM)


class PlayerPool:
    """The players of one Dask worker, forked from one process that it started."""

    def __init__(self, name: str, directory: Path) -> None:
        """The Dask worker's name; users' files are kept in `directory`."""
        self.name = name
        self.lock = threading.Lock()
        self.parcels: dict[str, WorkPackage] = {}  # the latest last
        self.idle: list[PlayerHandle] = []
        self.directory = directory
        ours, theirs = socket.socketpair()
        with theirs:
            self.spawner = subprocess.Popen(
                [sys.executable, "-c", BEGIN, str(theirs.fileno()), str(directory)],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )  # fmt: skip
        self.control = ours
        ours.settimeout(READY_SECONDS)
        with ours.makefile("rb") as lines:
            line = lines.readline()
        if not line:
            raise EOFError  # killed from outside, perhaps; the client tries again a few times
        self.calibration = Calibration(*json.loads(line))

    def remember(self, sent: WorkPackage) -> None:
        """Keep a parcel; players of those before the latest two are ended."""
        with self.lock:
            self.parcels.pop(sent.digest, None)
            self.parcels[sent.digest] = sent
            for digest in list(self.parcels)[:-MOST_PARCELS]:
                del self.parcels[digest]
            latest = list(self.parcels)[-2:]
            old = [player for player in self.idle if player.digest not in latest]
            self.idle = [player for player in self.idle if player.digest in latest]
        for player in old:
            player.end()

    def take(self, digest: str, wanted: Callable[[], bool]) -> PlayerHandle:
        """An idle player of this parcel, or a new one."""
        with self.lock:
            for player in self.idle:
                if player.digest == digest:
                    self.idle.remove(player)
                    return player
        ours, theirs = socket.socketpair()
        with theirs, self.lock:
            socket.send_fds(self.control, [b"p"], [theirs.fileno()])
        player = PlayerHandle(digest, Connection(ours.detach()))
        player.link.send((self.name, self.parcels[digest]))
        player.hello(wanted)
        return player

    def put(self, player: PlayerHandle) -> None:
        """Keep a player for the next item."""
        with self.lock:
            self.idle.append(player)

    def close(self) -> None:
        """End all players, because the process that started them is ending."""
        self.control.close()
        self.spawner.kill()
        self.spawner.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def _player_pool(worker: Worker) -> PlayerPool:
    """The players of a Dask worker, started when it is first asked and again after a death."""
    with vars(worker).setdefault(LOCK, threading.Lock()):
        hands: PlayerPool | None = getattr(worker, POOL_ATTRIBUTE, None)
        if hands is None or hands.spawner.poll() is not None:
            hands = PlayerPool(worker.address, Path(worker.local_directory) / "pitflip")
            setattr(worker, POOL_ATTRIBUTE, hands)
        return hands


def _is_wanted() -> Callable[[], bool]:
    """Return a function that tells whether the running task is still wanted."""
    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        running = worker.status in (Status.running, Status.paused)
        return running and task is not None and task.state == "executing"

    return wanted
