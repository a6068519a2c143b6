"""Our algorithms in C, compiled on this machine; the programs measure their own time."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).parent
FLAGS = ("-std=c11", "-D_POSIX_C_SOURCE=199309L", "-Wall", "-Wextra", "-O3", "-march=native")


class PerftResult(NamedTuple):
    """The output of a perft program."""

    rows: list[tuple[int, int]]  # (leaves, ended early) of every depth from 1
    seconds: float  # the best of its repeats


class SearchResult(NamedTuple):
    """The output of a search program."""

    found: tuple[int, int, int]  # nodes, value in thousandths, slot of the move
    seconds: float  # the best of its repeats


def compiler() -> str | None:
    """Return the path of the C compiler, or `None` if there is none."""
    return shutil.which("cc")


@contextmanager
def compiled_program(source: str) -> Iterator[Path]:
    """Compile `source` and yield the path of the program; it is deleted afterwards."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / Path(source).stem
        command = ["cc", *FLAGS, str(SOURCES / source), "-o", str(program)]
        subprocess.run(command, check=True, timeout=120)
        yield program


def perft_in_c(program: Path, depth: int, repeats: int) -> PerftResult:
    """Run a perft program and return its counts and its best time."""
    *counts, seconds = run_program(program, depth, repeats)
    numbers = [int(word) for word in counts]
    return PerftResult(list(zip(numbers[::2], numbers[1::2], strict=True)), float(seconds))


def search_in_c(program: Path, depth: int, repeats: int, weights: Sequence[int]) -> SearchResult:
    """Run a search program and return its result and best time; weights in thousandths."""
    nodes, value, slot, seconds = run_program(program, depth, repeats, *weights)
    return SearchResult((int(nodes), int(value), int(slot)), float(seconds))


def run_program(program: Path, *arguments: int) -> list[str]:
    """Run a program and return its output, split at white space."""
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return done.stdout.split()
