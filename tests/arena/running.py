"""Helpers that write experiments and run them, in this process or another."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from agents.sandbox.sandbox import Sandbox
from arena.commands.run import print_run
from arena.config.experiment import load_experiment
from arena.config.run_options import RunOptions
from arena.pipeline.run import run_experiment
from arena.planning.games import Games
from arena.planning.tasks import Task
from arena.playing.options import Interrupts
from arena.playing.worker import Worker
from tests.commands import run as main
from tests.forked import in_fork, with_bots

ROOT = Path(__file__).parents[2]
WHO_PLAYS = {"--workers", "--cluster"}
TABLES = ("games.parquet", "elo.parquet", "win_rates.parquet")

BOTS = {
    "good": "def choose(view, legal, rng):\n    return rng.choice(legal)\n",
    "fixed": "def choose(view, legal, rng):\n    return legal[len(legal) // 2]\n",
    "interrupting": (
        "def choose(view, legal, rng):\n"
        "    if rng.random() < 0.1:\n"
        "        raise KeyboardInterrupt\n"
        "    return legal[0]\n"
    ),
    "raising": (
        "def choose(view, legal, rng):\n"
        "    if rng.random() < 0.1:\n"
        "        raise ValueError('no idea')\n"
        "    return legal[0]\n"
    ),
    "illegal": (
        "def choose(view, legal, rng):\n    return 99 if rng.random() < 0.05 else legal[-1]\n"
    ),
    "hanging": (
        "import time\n"
        "def choose(view, legal, rng):\n"
        "    if rng.random() < 0.02:\n"
        "        while True:\n"
        "            time.sleep(1)\n"
        "    return legal[0]\n"
    ),
    "hanging_at_start": (
        "import time\n"
        "class Bot:\n"
        "    def start(self, seed):\n"
        "        while seed and seed % 4 == 1:\n"
        "            time.sleep(1)\n"
        "    def choose(self, view, legal, rng):\n"
        "        return legal[0]\n"
        "choose = Bot\n"
    ),
    "hanging_import": "import time\nwhile True:\n    time.sleep(1)\n",
    "crashing": (
        "import os, signal\n"
        "def choose(view, legal, rng):\n"
        "    if rng.random() < 0.002:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return legal[0]\n"
    ),
    "talking": "def choose(view, legal, rng):\n    print('hello')\n    return legal[0]\n",
}

RANDOM = '[agents.random]\nkind = "random"\n'


def experiment_file(directory: Path, text: str, *bots: str) -> Path:
    """Write an experiment file and the files of its bots, which become agents."""
    for name in bots:
        (directory / f"{name}.py").write_text(BOTS[name])
        text += f'\n[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n'
    path = directory / "demo.toml"
    path.write_text(text)
    return path


def small(pairs: int = 20, more: str = "", plies: int = 5) -> str:
    """Return an experiment on a small board with a random agent."""
    return (
        f'game = "kalah(4,3)"\npairs = {pairs}\nseed = 5\n{more}\n'
        f"openings = {{ random_plies = {plies} }}\n{RANDOM}"
    )


def run_experiment_file(
    path: Path, results: Path, workers: int | None = None, *, tables: bool = False, **options
) -> bool:
    """Run an experiment in this process, which also plays the games unless `workers` is given."""
    overrides = options.pop("overrides", ())
    options.setdefault("quiet", True)
    options.setdefault("interrupts", Interrupts())
    with contextlib.closing(Sandbox()) as sandbox:
        options.setdefault("sandbox", sandbox)
        chosen = RunOptions(results, workers or 0, overrides=overrides, **options)
        result = run_experiment(load_experiment(path, overrides), chosen)
        if tables:
            print_run(result, chosen)
        return result.checks_hold


@contextlib.contextmanager
def database(path: Path | str, **options) -> Iterator[sqlite3.Connection]:
    """Open a database; commit and close it at the end."""
    with contextlib.closing(sqlite3.connect(path, **options)) as base, base:
        yield base


def only_run(results: Path) -> Path:
    """Return the directory of the only run."""
    (directory,) = (path.parent for path in results.glob("*/*/journal.sqlite"))
    return directory


def tables(results: Path) -> dict[str, bytes]:
    """Return the reproducible tables of the only run as bytes."""
    directory = only_run(results)
    return {name: (directory / name).read_bytes() for name in TABLES}


def command(*words: object) -> list[str]:
    """Return the command line of `python -m arena.run`."""
    return [sys.executable, "-m", "arena.run", *map(str, words)]


def hold_workers(gate: Path) -> None:
    """Make workers wait in the middle of a run until the file exists."""
    play = Worker.play

    def patient(worker: Worker, task: Task) -> Games:
        while task.start >= 8 and not gate.exists():
            time.sleep(0.01)
        return play(worker, task)

    Worker.play = patient


def command_after(before: Callable[[], None] | None, words: tuple[object, ...]) -> int:
    """Call `before`, then run the command."""
    if before:
        before()
    return main(list(map(str, words)))


@contextlib.contextmanager
def start_process(*words: object, **options) -> Iterator[subprocess.Popen]:
    """Start the command in a new process group, which is killed at the end."""
    options.setdefault("args", command(*words))
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    with subprocess.Popen(**options, cwd=ROOT, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                kill_group(process)


def run_in_fork(
    *words: object,
    gate: Path | None = None,
    before: Callable[[], None] | None = None,
    bots: bool = False,
    **options,
) -> contextlib.AbstractContextManager[subprocess.Popen]:
    """Start the command in a fork of this process, which is faster.

    With a `gate` it plays a few pairs, and the others once that file exists. `before` is called
    in the fork. With `bots` the fork starts its own spawner.
    """
    work = partial(command_after, partial(hold_workers, gate) if gate else before, words)
    work = partial(with_bots, work) if bots else work
    return start_process(**in_fork(work, **options))


def run_in_subprocess(
    *words: object, seconds: float = 120, **options
) -> subprocess.CompletedProcess:
    """Run the command in a new process to its end."""
    options.setdefault("capture_output", True)
    return subprocess.run(
        command(*words), cwd=ROOT, text=True, timeout=seconds, check=False, **options
    )


def run_in_process(*words: object) -> subprocess.CompletedProcess:
    """Run the command in this process, which also plays unless an option names other workers."""
    words = [str(word) for word in words]
    if not {word.partition("=")[0] for word in words} & WHO_PLAYS:
        words += ["--workers", "0"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main(words)
        out.seek(0)
        errors.seek(0)
        # The line about compilation depends on the cache.
        told = "".join(line for line in errors if "compiling for this machine" not in line)
        return subprocess.CompletedProcess(words, status, out.read(), told)


def kill_group(process: subprocess.Popen, how: int = signal.SIGKILL) -> None:
    """Send a signal to a command and to all its workers."""
    os.killpg(process.pid, how)


def children_of(pid: int) -> list[int]:
    """Return the child processes of a process."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Return whether a process runs and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
