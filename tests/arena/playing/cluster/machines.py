"""A cluster for tests: a scheduler and workers, each with its own directory."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE_SECONDS = 90.0
DASK = [sys.executable, "-m", "dask"]
WORKER = ["--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]


class Room:
    """Machines that a test starts and ends; on exit all are killed."""

    def __init__(self, directory: Path, protocol: str = "tcp") -> None:
        self.directory, self.protocol = directory, protocol
        self.processes: list[subprocess.Popen] = []
        self.scheduler: subprocess.Popen | None = None
        self.file = directory / "scheduler.json"
        self.port = "0"

    def __enter__(self) -> "Room":
        if self.scheduler is None:
            self.begin_scheduler()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
        for process in self.processes:
            process.wait()

    def begin_scheduler(self, program: list[str] = DASK) -> None:
        """Start the scheduler, at the same address as the one before."""
        self.file.unlink(missing_ok=True)
        words = ["scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard"]
        words += ["--protocol", self.protocol]
        words += ["--scheduler-file", str(self.file)]
        self.scheduler = self._begin("scheduler", *words, program=program)
        # It is there before it is written.
        patient(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))
        self.port = self.address.rpartition(":")[2]

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return json.loads(self.file.read_text())["address"]

    def begin_worker(
        self, *words: str, program: list[str] = DASK, **environment: str
    ) -> subprocess.Popen:
        """Start a worker with a core and a directory of its own."""
        name = f"worker-{len(self.processes)}"
        threads = [] if "--nthreads" in words else ["--nthreads", "1"]
        return self._begin(
            name, "worker", self.address, *WORKER, "--protocol", self.protocol, *threads,
            "--name", name,
            "--local-directory", str(self.directory / name), *words,
            program=program, environment=environment,
        )  # fmt: skip

    def log(self, number: int) -> bytes:
        """The output of a worker so far."""
        return (self.directory / f"worker-{number}" / "log").read_bytes()

    def _begin(self, name, *words, program=DASK, environment=None) -> subprocess.Popen:
        own = self.directory / name
        own.mkdir(exist_ok=True)
        with (own / "log").open("ab") as log:
            process = subprocess.Popen(
                [*program, *words], cwd=own, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **(environment or {})}, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process


def patient(condition):
    """Wait until the condition is true, and return it."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)
    return found


def players(directory: Path) -> list[int]:
    """The processes that play for workers of this cluster."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes()
            if b"cluster.remote_player" in words and str(directory).encode() in words:
                found.append(int(path.parent.name))
    return found
