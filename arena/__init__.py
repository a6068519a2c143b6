"""Experiments; importing this loads nothing, but makes sure that `games` and `agents` are ours."""

import importlib.machinery
import sys
from pathlib import Path

# Beside a games.py or agents/ of the user's, `python -m arena.run` would import those.
_HOME = str(Path(__file__).parents[1])
for _name in ("games", "agents"):
    _found = importlib.machinery.PathFinder.find_spec(_name)
    if _name not in sys.modules and (
        _found is None or _found.origin != str(Path(_HOME, _name, "__init__.py"))
    ):
        sys.path.insert(0, _HOME)
