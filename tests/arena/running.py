"""Runs for tests: experiments written to a directory, played here or by the command."""

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
from arena.config.command_line import RunOptions
from arena.config.experiment import load
from arena.pipeline.run import run
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
    """An experiment file; every bot named lies beside it, and is one of its agents."""
    for name in bots:
        (directory / f"{name}.py").write_text(BOTS[name])
        text += f'\n[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n'
    path = directory / "demo.toml"
    path.write_text(text)
    return path


def small(pairs: int = 20, more: str = "", plies: int = 5) -> str:
    """The head of an experiment on a small board, and its random agent."""
    return (
        f'game = "kalah(4,3)"\npairs = {pairs}\nseed = 5\n{more}\n'
        f"openings = {{ random_plies = {plies} }}\n{RANDOM}"
    )


def played(path: Path, results: Path, workers: int | None = None, **options) -> bool:
    """Run an experiment in this process; games too, where no number of workers is asked for."""
    overrides = options.pop("overrides", ())
    options.setdefault("quiet", True)
    options.setdefault("interrupts", Interrupts())
    with contextlib.closing(Sandbox()) as wall:
        options.setdefault("wall", wall)
        chosen = RunOptions(results, workers or 0, overrides=overrides, **options)
        return run(load(path, overrides), chosen)


@contextlib.contextmanager
def database(path: Path | str, **options) -> Iterator[sqlite3.Connection]:
    """A database whose changes are kept, and which is closed at the end."""
    with contextlib.closing(sqlite3.connect(path, **options)) as base, base:
        yield base


def directory_of(results: Path) -> Path:
    """The only run's directory."""
    (directory,) = (path.parent for path in results.glob("*/*/journal.sqlite"))
    return directory


def tables(results: Path) -> dict[str, bytes]:
    """The bytes of the reproducible tables of the only run."""
    directory = directory_of(results)
    return {name: (directory / name).read_bytes() for name in TABLES}


def command(*words: object) -> list[str]:
    """The command line of `python -m arena.run`."""
    return [sys.executable, "-m", "arena.run", *map(str, words)]


def held(gate: Path) -> None:
    """From now on workers wait in the middle of a run until the file is there."""
    play = Worker.play

    def patient(worker: Worker, task: Task) -> Games:
        while task.start >= 8 and not gate.exists():
            time.sleep(0.01)
        return play(worker, task)

    Worker.play = patient


def command_after(before: Callable[[], None] | None, words: tuple[object, ...]) -> int:
    """The command, in a process that did something before."""
    if before:
        before()
    return main(list(map(str, words)))


@contextlib.contextmanager
def begun(*words: object, **options) -> Iterator[subprocess.Popen]:
    """The command, running in a process group of its own, which is ended when we leave."""
    options.setdefault("args", command(*words))
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    with subprocess.Popen(**options, cwd=ROOT, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                kill_group(process)


def forked(
    *words: object,
    gate: Path | None = None,
    before: Callable[[], None] | None = None,
    bots: bool = False,
    **options,
) -> contextlib.AbstractContextManager[subprocess.Popen]:
    """The command as above, in a fork of this process: sooner there.

    With a `gate` it plays the first few pairings, and the rest once that file is there: what is
    to happen in the middle of a run happens there, however slow the machine. What is done
    `before` concerns its process alone. With `bots` it has a spawner of its own.
    """
    work = partial(command_after, partial(held, gate) if gate else before, words)
    work = partial(with_bots, work) if bots else work
    return begun(**in_fork(work, **options))


def ran(*words: object, seconds: float = 120, **options) -> subprocess.CompletedProcess:
    """The command, run to its end."""
    options.setdefault("capture_output", True)
    return subprocess.run(
        command(*words), cwd=ROOT, text=True, timeout=seconds, check=False, **options
    )


def called(*words: object) -> subprocess.CompletedProcess:
    """The command, run in this process: sooner there, and just as good for what it says.

    Games too are played here, where the words do not say who plays them.
    """
    words = [str(word) for word in words]
    if not {word.partition("=")[0] for word in words} & WHO_PLAYS:
        words += ["--workers", "0"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main(words)
        out.seek(0)
        errors.seek(0)
        # Whether kernels had to be compiled is no part of the answer.
        told = "".join(line for line in errors if "compiling for this machine" not in line)
        return subprocess.CompletedProcess(words, status, out.read(), told)


def kill_group(process: subprocess.Popen, how: int = signal.SIGKILL) -> None:
    """Send a signal to a command and to all its workers."""
    os.killpg(process.pid, how)


def children_of(pid: int) -> list[int]:
    """The processes that a process has forked and not yet ended."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
