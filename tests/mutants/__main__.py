"""Plant the faults of the table one by one in a copy of the tree, and name those that live.

python -m tests.mutants [WORD ...]: all of them, or those whose file holds one of the words.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
COPIED = ("games", "agents", "arena", "tests", "experiments", "benchmarks", "docs")
FILES = ("pyproject.toml", "Makefile", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PATIENCE_SECONDS = 600
SHARE = 0.95  # of the faults that must be noticed
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if "PYTEST" not in key},
    "PYTHONDONTWRITEBYTECODE": "1",  # an edit within a second of the last one is still an edit
}


def copied(tree: Path) -> None:
    """A copy of what the tests need; its kernels are compiled once, for all faults in `arena`."""
    for name in COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, tree)


def passes(tree: Path, tests: Sequence[str], interpreted: bool) -> bool:
    """Whether these tests pass in the tree; what hangs does not."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    words += ["--hypothesis-profile=mutants", *tests]
    env = ENVIRONMENT | ({"NUMBA_DISABLE_JIT": "1"} if interpreted else {})
    try:
        done = subprocess.run(
            words, cwd=tree, env=env, capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{' '.join(tests)} cannot be run:\n{done.stdout.decode()[-2000:]}")
    return done.returncode == 0


def lives(tree: Path, mutant: Mutant) -> bool:
    """Whether the tests that guard a place do not notice the fault there."""
    path = tree / mutant.file
    sound = path.read_text()
    assert sound.count(mutant.old) == 1, f"{mutant.file}: {mutant.old!r} is not there once"
    path.write_text(sound.replace(mutant.old, mutant.new))
    try:
        return passes(tree, mutant.tests, mutant.interpreted)
    finally:
        path.write_text(sound)


def guards(mutants: Sequence[Mutant]) -> list[tuple[tuple[str, ...], bool]]:
    """The sets of tests that guard these places, each once."""
    return list(dict.fromkeys((mutant.tests, mutant.interpreted) for mutant in mutants))


def main(words: Sequence[str]) -> int:
    """Status 1 if more faults live than may."""
    chosen = [each for each in MUTANTS if not words or any(word in each.file for word in words)]
    survivors = []
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory)
        copied(tree)
        for tests, interpreted in guards(chosen):
            if not passes(tree, tests, interpreted):
                raise SystemExit(f"{' '.join(tests)} must pass without a fault")
        for number, mutant in enumerate(chosen, 1):
            survived = lives(tree, mutant)
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
