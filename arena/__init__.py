"""Experiments: read, plan, play, keep, analyse, show; tune and learn."""

import sys
from pathlib import Path


def prefer_own_packages() -> None:
    """Import our `games` and `agents` even if the working directory has files of these names."""
    home = str(Path(__file__).parents[1])
    if sys.path[:1] != [home]:
        sys.path.insert(0, home)
