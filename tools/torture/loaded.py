"""Load all that commands load, once: commands that are forked from here start at once."""

import importlib
import pkgutil

import arena
from tests.compiled import compile_family


def load_all() -> None:
    """Import the modules and compile the kernels of the game that is played."""
    for module in pkgutil.walk_packages(arena.__path__, "arena."):
        importlib.import_module(module.name)
    compile_family("kalah(4,3)")
