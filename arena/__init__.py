"""Experiments: plan, play, store, analyse and show; tune and learn."""

import os
import sys
from pathlib import Path


def prepare_process() -> None:
    """Prepare the process of a command; call this before other imports."""
    # Our `games` and `agents` come before files of these names in the working directory.
    home = str(Path(__file__).parents[1])
    if sys.path[:1] != [home]:
        sys.path.insert(0, home)
    # Workers use every core; threads of linear algebra would slow them down.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
