"""Experiments; importing this loads nothing, but makes sure that `games` and `agents` are ours."""

import importlib
import importlib.machinery
import sys
from pathlib import Path

__all__ = ["load_run"]

# Beside a games.py or agents/ of the user's, `python -m arena.run` would import those.
_HOME = str(Path(__file__).parents[1])
for _name in ("games", "agents"):
    _found = importlib.machinery.PathFinder.find_spec(_name)
    if _name not in sys.modules and (
        _found is None or _found.origin != str(Path(_HOME, _name, "__init__.py"))
    ):
        sys.path.insert(0, _HOME)


def __getattr__(name: str) -> object:
    """`from arena import load_run` for notebooks; nothing of it is loaded before."""
    if name == "load_run":
        return importlib.import_module("arena.loaded_run").load_run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
