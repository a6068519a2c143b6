"""Insert the faults of the table one by one into a copy of the tree, and list the survivors.

python -m tools.mutants [WORD ...]: all of them, or those whose file name contains a word.
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

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # forking is safe with one thread only

# Loaded once, before the forks, because all tests need them.
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
TIMEOUT_SECONDS = 600
SHARE = 0.95  # of the faults, which the tests must detect


def copy_tree(tree: Path) -> None:
    """Copy the files that the tests need."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree)


def run_tests(tree: Path, tests: Sequence[str], interpreted: bool, output: IO[bytes]) -> NoReturn:
    """Run pytest in the tree with fresh imports, and exit with its status."""
    os.setsid()
    signal.alarm(TIMEOUT_SECONDS)
    os.dup2(output.fileno(), sys.stdout.fileno())
    os.dup2(output.fileno(), sys.stderr.fileno())
    os.chdir(tree)
    for name in [name for name in sys.modules if name.partition(".")[0] in COPIED]:
        del sys.modules[name]
    sys.modules["__main__"] = ModuleType("__main__")  # spawned processes import it again
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
    if interpreted:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.core.config.reload_config()
    words = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants", *tests]
    status = pytest.main(words)
    sys.stdout.flush()
    os._exit(status)


def failure(tree: Path, tests: Sequence[str], interpreted: bool) -> str:
    """Return the output of pytest if one of these tests fails in the tree, otherwise nothing."""
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
    if status not in (0, 1, 2, -signal.SIGALRM):  # a test that hangs has failed
        raise SystemExit(text)
    return text if status else ""


def stop_session(leader: int) -> None:
    """Kill the processes that a test run has left behind."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


@contextmanager
def insert_fault(tree: Path, mutant: Mutant, number: int) -> Iterator[None]:
    """Insert the fault into the tree, with a new modification time against stale bytecode."""
    path = tree / mutant.file
    original, times = path.read_text(), path.stat()
    assert original.count(mutant.old) == 1, f"{mutant.file}: {mutant.old!r} must occur exactly once"
    path.write_text(original.replace(mutant.old, mutant.new))
    os.utime(path, (times.st_atime, times.st_mtime + 1 + number))
    try:
        yield
    finally:
        path.write_text(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def tests_of(mutants: Sequence[Mutant], interpreted: bool) -> list[str]:
    """Return the distinct tests of these mutants."""
    chosen = [mutant.tests for mutant in mutants if mutant.interpreted == interpreted]
    return list(dict.fromkeys(test for tests in chosen for test in tests))


def main(words: Sequence[str]) -> int:
    """Return 1 if too many faults survive."""
    chosen = [each for each in MUTANTS if not words or any(word in each.file for word in words)]
    survivors = []
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory)
        copy_tree(tree)
        for interpreted in (False, True):
            tests = tests_of(chosen, interpreted)
            if tests and (text := failure(tree, tests, interpreted)):
                raise SystemExit(f"{text} (in the tree without a fault)")
        for number, mutant in enumerate(chosen, 1):
            with insert_fault(tree, mutant, number):
                survived = not failure(tree, mutant.tests, mutant.interpreted)
            survivors += [mutant] * survived
            word = "SURVIVED" if survived else "killed  "
            print(f"{number:3} of {len(chosen)}  {word}  {mutant}", flush=True)
    killed = len(chosen) - len(survivors)
    print(f"{killed} of {len(chosen)} killed ({killed / max(1, len(chosen)):.1%})")
    for mutant in survivors:
        print(f"survived: {mutant}")
    return int(killed < SHARE * len(chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
