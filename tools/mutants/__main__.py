"""Plant the faults of the table one by one in a copy of the tree, and name those that live.

python -m tools.mutants [WORD ...]: all of them, or those whose file holds one of the words.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import IO, NoReturn

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process that forks has one thread

# What every set of tests loads is loaded once, before the forks.
import numba
import pandas as pd  # noqa: F401  (loaded for the tests)
import pyarrow as pa  # noqa: F401  (the same)
import pytest

from tools.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
COPIED = (
    "games",
    "agents",
    "arena",
    "pitflip",
    "tests",
    "tools",
    "experiments",
    "benchmarks",
    "docs",
)
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PATIENCE_SECONDS = 600
SHARE = 0.95  # of the faults that must be noticed


def copied(tree: Path) -> None:
    """A copy of what the tests need; its kernels are compiled once, for all faults in `arena`."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree)


def run_tests(tree: Path, tests: Sequence[str], interpreted: bool, output: IO[bytes]) -> NoReturn:
    """Become pytest in the tree, where nothing of ours is loaded yet; the status is pytest's."""
    os.setsid()
    signal.alarm(PATIENCE_SECONDS)
    os.dup2(output.fileno(), sys.stdout.fileno())
    os.dup2(output.fileno(), sys.stderr.fileno())
    os.chdir(tree)
    for name in [name for name in sys.modules if name.partition(".")[0] in COPIED]:
        del sys.modules[name]
    sys.modules["__main__"] = ModuleType("__main__")  # what is spawned loads it again
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
    if interpreted:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.core.config.reload_config()
    words = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", *tests]
    status = pytest.main(words)
    sys.stdout.flush()
    os._exit(status)


def failure(tree: Path, tests: Sequence[str], interpreted: bool) -> str:
    """What pytest says when one of these tests fails in the tree; empty if they pass."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            run_tests(tree, tests, interpreted, output)
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        finally:
            stop_session(child)
        output.seek(0)
        text = f"{output.read().decode()}\n{' '.join(tests)} ends with {status}"
    if status not in (0, 1, 2, -signal.SIGALRM):  # what hangs fails too
        raise SystemExit(text)
    return text if status else ""


def stop_session(leader: int) -> None:
    """Stop what a run of tests has left behind."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


@contextmanager
def planted(tree: Path, mutant: Mutant, number: int) -> Iterator[None]:
    """A tree with the fault; the time of each edit is its own, so that no old bytecode is used."""
    path = tree / mutant.file
    sound, times = path.read_text(), path.stat()
    assert sound.count(mutant.old) == 1, f"{mutant.file}: {mutant.old!r} is not there once"
    path.write_text(sound.replace(mutant.old, mutant.new))
    os.utime(path, (times.st_atime, times.st_mtime + 1 + number))
    try:
        yield
    finally:
        path.write_text(sound)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def guards(mutants: Sequence[Mutant], interpreted: bool) -> list[str]:
    """The tests that guard these places, each once."""
    chosen = [mutant.tests for mutant in mutants if mutant.interpreted == interpreted]
    return list(dict.fromkeys(test for tests in chosen for test in tests))


def main(words: Sequence[str]) -> int:
    """Status 1 if more faults live than may."""
    chosen = [each for each in MUTANTS if not words or any(word in each.file for word in words)]
    survivors = []
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory)
        copied(tree)
        for interpreted in (False, True):
            tests = guards(chosen, interpreted)
            if tests and (text := failure(tree, tests, interpreted)):
                raise SystemExit(f"{text} without a fault")
        for number, mutant in enumerate(chosen, 1):
            with planted(tree, mutant, number):
                survived = not failure(tree, mutant.tests, mutant.interpreted)
            survivors += [mutant] * survived
            word = "LIVES " if survived else "killed"
            print(f"{number:3} of {len(chosen)}  {word}  {mutant}", flush=True)
    killed = len(chosen) - len(survivors)
    print(f"{killed} of {len(chosen)} killed ({killed / max(1, len(chosen)):.1%})")
    for mutant in survivors:
        print(f"lives: {mutant}")
    return int(killed < SHARE * len(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
