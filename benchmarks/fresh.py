"""Run Python code in a new process and measure it from outside."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class ProcessResult(NamedTuple):
    """The output and duration of a process."""

    printed: str
    seconds: float  # includes the start of the interpreter


def fresh(
    words: Sequence[str], cache: str | None = None, most_seconds: float = 300.0
) -> ProcessResult:
    """Run the interpreter with these arguments; `cache` replaces the kernel cache if given."""
    environment = {} if cache is None else {"NUMBA_CACHE_DIR": cache}
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # hides "compiling ..."
        text=True,
        check=True,
        timeout=most_seconds,
    )
    return ProcessResult(done.stdout, time.perf_counter() - begun)
