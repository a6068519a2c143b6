"""A Dask scheduler and workers as separate processes of this machine, as a user starts them."""

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.fresh import ROOT

DASK = [sys.executable, "-m", "dask"]
HERE = ["--host", "127.0.0.1", "--no-dashboard"]
PATIENCE_SECONDS = 60.0


class Machines(NamedTuple):
    """The processes of a cluster."""

    address: str
    scheduler: psutil.Process
    workers: list[psutil.Process]


@contextmanager
def local_cluster(workers: int, slots: int = 1) -> Iterator[Machines]:
    """Start a cluster with these numbers of workers and slots per worker; stop it on exit."""
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as begun:
        file = Path(directory) / "scheduler.json"
        words = ["scheduler", *HERE, "--port", "0", "--scheduler-file", str(file)]
        scheduler = begun.enter_context(_process(words, directory))
        address = _address(file)
        words = ["worker", address, *HERE, "--no-nanny", "--nthreads", str(slots)]
        words += ["--local-directory", directory, "--memory-limit", "0"]
        theirs = [begun.enter_context(_process(words, directory)) for _ in range(workers)]
        yield Machines(address, scheduler, theirs)


def processor_seconds(process: psutil.Process) -> float:
    """Return the processor time of a process and its children."""
    used = 0.0
    for each in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            used += times.user + times.system
    return used


@contextmanager
def _process(words: list[str], directory: str) -> Iterator[psutil.Process]:
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        [*DASK, *words], cwd=ROOT, stdin=quiet, stdout=quiet, stderr=quiet,
        start_new_session=True,
    ) as process:  # fmt: skip
        yield psutil.Process(process.pid)
        process.kill()


def _address(file: Path) -> str:
    """Wait for the scheduler's address file and return the address."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise TimeoutError(f"the scheduler did not start within {PATIENCE_SECONDS:.0f} seconds")
