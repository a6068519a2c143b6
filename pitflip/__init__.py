"""Pitflip: which of two bots is stronger, by how much, and how sure are we?"""

from importlib import import_module

__all__ = ["load"]

PLACES = {"load": ("arena.pipeline.loaded_run", "load_run")}


def __getattr__(name: str) -> object:
    """Load a name of the public interface when it is first used."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = PLACES[name]
    return getattr(import_module(module), attribute)
