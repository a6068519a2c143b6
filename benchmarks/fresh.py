"""Python code in a process of its own: what it printed, and how long it took from outside."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class ProcessResult(NamedTuple):
    """The end of a process."""

    printed: str
    seconds: float  # from its start to its end, the interpreter's own start included


def fresh(
    words: Sequence[str], cache: str | None = None, most_seconds: float = 300.0
) -> ProcessResult:
    """Run the interpreter with these arguments; `cache` is where kernels are kept, if told."""
    told = {} if cache is None else {"NUMBA_CACHE_DIR": cache}
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | told,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # "compiling ..." is for users
        text=True,
        check=True,
        timeout=most_seconds,
    )
    return ProcessResult(done.stdout, time.perf_counter() - begun)
