"""A run on a cluster with random disturbances: the same tables, and no process is left."""

import contextlib
import os
import random
import signal
import subprocess
import time

import pytest

from tests.arena.playing.cluster.machines import Room, patient, players
from tests.arena.running import experiment_file, kill_group, run_in_process, start_process, tables
from tests.arena.test_kill import LONG, stored_batches

FEWEST, MOST = 1, 4  # workers
# One worker may be left, on a machine that has much else to do.
PATIENCE_SECONDS, START_SECONDS = 1_800, 30
LONGER = LONG.replace("pairs = 2500", "pairs = 10_000")  # most disturbances come while it plays
WHILE_IT_PLAYS = 0.75  # of the commands are left alone until they play


class Disturber:
    """Disturbs a cluster and its client at random."""

    def __init__(self, room: Room, seed: int) -> None:
        self.room, self.chance = room, random.Random(seed)
        self.workers: list[subprocess.Popen] = []
        self.stopped: list[subprocess.Popen] = []
        self.done: list[str] = []
        for _ in range(2):
            self.workers.append(room.begin_worker())

    def disturb(self, client: subprocess.Popen, names: list[str]) -> None:
        name = self.chance.choice(names)
        self.done.append(name)
        getattr(self, name)(client)
        while len(self.workers) < FEWEST:
            self.workers.append(self.room.begin_worker())

    def _one(self) -> subprocess.Popen:
        return self.workers.pop(self.chance.randrange(len(self.workers)))

    def kill(self, _client) -> None:
        self._one().kill()

    def dismiss(self, _client) -> None:
        self._one().send_signal(signal.SIGTERM)

    def add(self, _client) -> None:
        if len(self.workers) < MOST:
            threads = str(self.chance.choice([1, 1, 2]))
            self.workers.append(self.room.begin_worker("--nthreads", threads))

    def stop(self, _client) -> None:
        self.stopped.append(self._one())
        self.stopped[-1].send_signal(signal.SIGSTOP)

    def go_on(self, _client) -> None:
        for worker in self.stopped:
            worker.send_signal(signal.SIGCONT)
        self.workers += self.stopped
        self.stopped.clear()

    def kill_client(self, client) -> None:
        kill_group(client)

    def kill_player(self, _client) -> None:
        for process in players(self.room.directory)[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def kill_scheduler(self, client) -> None:
        self.room.scheduler.kill()
        client.wait(PATIENCE_SECONDS)
        self.room.begin_scheduler()
        self.workers, self.stopped = [], []


GENTLE = ["kill", "dismiss", "add", "add", "stop", "go_on", "go_on", "kill_player"]
ALL = [*GENTLE, "kill_client", "kill_scheduler"]


def until_it_plays(client, results, batches):
    """Wait for a batch after these, so that most disturbances come while games are played."""
    until = time.monotonic() + START_SECONDS
    while client.poll() is None and stored_batches(results) <= batches and time.monotonic() < until:
        time.sleep(0.05)


def run_disturbed(path, results, disturber, times, names):
    """Run with at most `times` disturbances, and start again until the run is finished."""
    before, address = len(disturber.done), disturber.room.address
    while True:
        batches = stored_batches(results)
        with start_process(path, "--results", results, "--cluster", address, "--quiet") as client:
            if disturber.chance.random() < WHILE_IT_PLAYS:
                until_it_plays(client, results, batches)
            while client.poll() is None and len(disturber.done) - before < times:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    client.wait(disturber.chance.uniform(0.1, 1.0))
                    break
                disturber.disturb(client, names)
            _, told = client.communicate(timeout=PATIENCE_SECONDS)
            assert "Traceback" not in told
            if client.returncode == 0:
                return
            # The scheduler may be killed before it was asked.
            is_gone = "cannot be reached" in told
            assert client.returncode in (2 if is_gone else 3, 3, -signal.SIGKILL), told


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A long experiment and its tables, played here."""
    directory = tmp_path_factory.mktemp("undisturbed")
    path = experiment_file(directory, LONGER)
    assert run_in_process(path, "--results", directory / "results", "--workers", 2).returncode == 0
    return path, tables(directory / "results")


@pytest.mark.slow
@pytest.mark.slow
def test_a_few_disturbances_change_no_table(undisturbed, tmp_path):
    path, expected = undisturbed
    with Room(tmp_path) as room:
        disturber = Disturber(room, 1)
        run_disturbed(path, tmp_path / "results", disturber, 4, ["kill", "add", "stop", "go_on"])
    assert tables(tmp_path / "results") == expected
    patient(lambda: not players(tmp_path))


@pytest.mark.slow
def test_a_hundred_disturbances_change_no_table(undisturbed, tmp_path):
    path, expected = undisturbed
    with Room(tmp_path) as room:
        disturber, runs = Disturber(room, 2), 0
        while len(disturber.done) < 100:
            results = tmp_path / f"results-{runs}"
            run_disturbed(path, results, disturber, 100 - len(disturber.done), ALL)
            assert tables(results) == expected
            runs += 1
    assert set(disturber.done) == set(ALL)
    patient(lambda: not players(tmp_path))
