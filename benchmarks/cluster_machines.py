"""A Dask scheduler and workers as their owner starts them, each a process of this machine."""

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
    """A cluster of so many workers with so many slots each; all of it ends with the context."""
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
    """What a process and those that it has begun have used so far."""
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
    """Where the scheduler is, once it has written that down."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise TimeoutError("the scheduler does not start")
