"""Load the modules of all commands once, so that forked commands start quickly."""

import importlib
import pkgutil

import arena
from tests.compiled import compile_family


def load_all() -> None:
    """Import all modules and compile the kernels of the game of the subjects."""
    for module in pkgutil.walk_packages(arena.__path__, "arena."):
        importlib.import_module(module.name)
    compile_family("kalah(4,3)")
