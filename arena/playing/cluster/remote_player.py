"""Processes of another machine that do the items of a job, forked from one that is compiled."""

import contextlib
import hashlib
import json
import logging
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Generator
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

from agents.core import AgentSpec
from arena.planning.plan import OpeningsSpec, Plan
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.playing.cluster.package import WorkPackage, load_job
from arena.playing.executor import ItemFailed, Job, WorkFailed, run_in_order
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.process_pool import end_with_parent
from games.base.errors import printable

MAX_REASON, MAX_TRACE = 300, 4_000  # characters
ONE_WORKER = PlayOptions(1, Interrupts())
Work: TypeAlias = Any  # an item or its result, which only the job knows
CALIBRATION_PLAN = Plan(
    game_name="kalah(6,4)",
    agents={"first": AgentSpec("alphabeta", depth=6), "second": AgentSpec("alphabeta", depth=6)},
    matches=((0, 1),),
    openings=OpeningsSpec("random", {"random_plies": 6}),
    pairs=10,
)
CALIBRATION_TURNS = 8


class Calibration(NamedTuple):
    """The processor seconds of the same games on any machine, and a digest of their moves."""

    seconds: float
    games_digest: str

    def to_json(self) -> bytes:
        """Return the calibration in one line."""
        return json.dumps(self).encode() + b"\n"


def measure_speed() -> Calibration:
    """Play the calibration games several times; the best time counts, without compilation."""
    # It loads the kernels, which a Dask worker and a client do not need.
    from arena.playing.worker import Worker  # noqa: PLC0415

    worker, task = Worker(make_schedule(CALIBRATION_PLAN)), Task(0, CALIBRATION_PLAN.pairs, {})
    worker.compile_agents()
    games, seconds = worker.play(task), []
    for _ in range(CALIBRATION_TURNS):
        begun = time.process_time()
        worker.play(task)
        seconds.append(time.process_time() - begun)
    digest = hashlib.blake2b(games.game_id.tobytes(), digest_size=8)
    return Calibration(min(seconds), digest.hexdigest())


class PlayerReady(NamedTuple):
    """A player's first message: it is ready, or why it is not."""

    process: int
    refusal: str = ""  # why its machine cannot work, in one line
    isolation: str = ""  # the sandbox of that machine, if bots play there


class ItemReply(NamedTuple):
    """The outcome of an item: its result, or its failure."""

    result: Work
    failure: str | None = None  # a traceback, "" if the player died
    void_failure: str = ""  # an earlier failure, after which the item was repeated


class RemotePlayer:
    """Does the items of one job, which arrive one by one."""

    def __init__(self, connection: Connection, job: Job[Work, Work]) -> None:
        """`connection` leads to the Dask worker."""
        self.connection, self.job = connection, job
        self.item: Work = None
        self.parts: list[Work] = []
        self.void_failure = ""

    def play(self) -> None:
        """Reply to items until the connection ends."""
        while True:
            try:
                with contextlib.closing(
                    run_in_order(self.job, self._next, ONE_WORKER, self._note_failure)
                ) as results:
                    self._send_results(results)
                    return
            except ItemFailed as failure:
                self._reply(ItemReply(None, failure.trace))

    def _send_results(self, results: Generator[Work, None, None]) -> None:
        for result in results:
            self.parts.append(result)
            if (whole := self.job.merge(self.item, self.parts)) is not None:
                self._reply(ItemReply(whole, void_failure=self.void_failure))

    def _next(self, _worker: str) -> Work | None:
        """Wait for the next item; None while one is under way or if the connection has ended."""
        if self.item is None:
            with contextlib.suppress(EOFError, ConnectionError):
                self.item = self.connection.recv()
            return self.item
        return None

    def _note_failure(self, failure: WorkFailed) -> None:
        """Keep the first failure for the client, which has the log."""
        self.void_failure = self.void_failure or failure.text[-MAX_TRACE:]

    def _reply(self, reply: ItemReply) -> None:
        self.item, self.parts, self.void_failure = None, [], ""
        self.connection.send(reply)


def play(connection: Connection, directory: Path) -> None:
    """Run one player: it receives a name and a package first, then item after item."""
    name: str
    package: WorkPackage
    name, package = connection.recv()
    try:
        job = load_job(package, directory, name)
        job.prepare()
        isolation = job.isolation()
    except Exception as error:  # the sender was ready, so this machine is the reason
        traceback.print_exc()
        reason = printable(str(error), MAX_REASON) or type(error).__name__
        connection.send(PlayerReady(os.getpid(), reason))
        return
    connection.send(PlayerReady(os.getpid(), isolation=isolation))
    RemotePlayer(connection, job).play()


def serve(control: socket.socket, directory: Path) -> None:
    """Fork a player for every socket that arrives, until the Dask worker is gone."""
    control.sendall(measure_speed().to_json())
    while True:
        message, sockets, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            _run_player(Connection(sockets[0]), directory)
        os.close(sockets[0])
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _run_player(connection: Connection, directory: Path) -> None:
    """Play in the forked process, and end it."""
    end_with_parent(os.getppid())
    signal.signal(signal.SIGTERM, _exit)
    try:
        play(connection, directory)
    except (EOFError, ConnectionError, SystemExit):
        pass
    finally:
        sys.stderr.flush()
        os._exit(0)


def _exit(_signal: int, _frame: FrameType | None) -> None:
    """Exit, and run all clean-up code on the way."""
    raise SystemExit


def main() -> None:
    """Serve over the socket whose number is the first argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Forfeits are in the records; a local cluster writes to the terminal of the run.
    logging.disable(logging.WARNING)
    with socket.socket(fileno=int(sys.argv[1])) as control, contextlib.suppress(ConnectionError):
        serve(control, Path(sys.argv[2]))
