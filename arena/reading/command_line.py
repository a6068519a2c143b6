"""What commands read from their command line alike."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path


def workers(text: str) -> int:
    """A number of processes."""
    if not text.isdecimal() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 256, got {text!r}")
    return int(text)


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def same_command(module: str, words: list[str] | None) -> str:
    """The command that continues this run: the same again, but not from the beginning."""
    kept = [word for word in (sys.argv[1:] if words is None else words) if word != "--fresh"]
    return shlex.join(["python", "-m", module, *kept])


def run_command(path: Path, overrides: Sequence[str], *more: str) -> str:
    """The command that runs an experiment, for a shell."""
    changes = [word for override in overrides for word in ("--set", override)]
    return shlex.join(["python", "-m", "arena.run", str(path), *changes, *more])
