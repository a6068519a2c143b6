"""Our algorithms in C: built here and now, run as programs that time themselves."""

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
    """What a perft program printed."""

    rows: list[tuple[int, int]]  # (leaves, ended early) of every depth from 1
    seconds: float  # the best of its repeats


class Searched(NamedTuple):
    """What a search program printed."""

    found: tuple[int, int, int]  # nodes, value in thousandths, slot of the move
    seconds: float  # the best of its repeats


def compiler() -> str | None:
    """The C compiler of this machine."""
    return shutil.which("cc")


@contextmanager
def compiled_program(source: str) -> Iterator[Path]:
    """The program compiled from `source`, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / Path(source).stem
        command = ["cc", *FLAGS, str(SOURCES / source), "-o", str(program)]
        subprocess.run(command, check=True, timeout=120)
        yield program


def perft_in_c(program: Path, depth: int, repeats: int) -> PerftResult:
    """The counts of a perft program and its best seconds."""
    *counts, seconds = run_program(program, depth, repeats)
    numbers = [int(word) for word in counts]
    return PerftResult(list(zip(numbers[::2], numbers[1::2], strict=True)), float(seconds))


def search_in_c(program: Path, depth: int, repeats: int, weights: Sequence[int]) -> Searched:
    """The result of a search program and its best seconds; weights in thousandths."""
    nodes, value, slot, seconds = run_program(program, depth, repeats, *weights)
    return Searched((int(nodes), int(value), int(slot)), float(seconds))


def run_program(program: Path, *arguments: int) -> list[str]:
    """The words that a program printed."""
    command = [str(program), *map(str, arguments)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return told.stdout.split()
