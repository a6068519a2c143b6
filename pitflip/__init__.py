"""Pitflip: which of two bots is stronger, by how much, and how sure are we?

The functions and types of this package are described in docs/reference/python.md.
"""

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

API, STORED, CORE = "pitflip.api", "pitflip.stored_run", "games"
MODULES = {
    "CheckResult": STORED,
    "ExperimentError": "arena.config.toml_file",
    "Game": CORE,
    "PlayedGame": API,
    "Position": CORE,
    "Run": STORED,
    "Solution": "games.solving.solution",
    "StudyResult": API,
    "Unfinished": "games.base.errors",
    "UserError": "games.base.errors",
    "agent": API,
    "game": API,
    "latest": STORED,
    "load": STORED,
    "match": API,
    "play": API,
    "rate": API,
    "run": API,
    "solve": API,
    "tune": API,
}
__all__ = [  # noqa: PLE0604  # the table is the one list of names
    *MODULES,
    "__version__",
]


def __getattr__(name: str) -> object:
    """Import a name on first use, so that `import pitflip` loads neither Numba nor pandas."""
    if name == "__version__":
        return version("pitflip")
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _refuse_hidden_packages()
    return getattr(import_module(MODULES[name]), name)


def _refuse_hidden_packages() -> None:
    """Raise an ImportError if a user's file hides one of our packages."""
    home = Path(__file__).parents[1]
    for package in ("games", "agents", "arena"):
        found = find_spec(package)
        if found is not None and found.origin and Path(found.origin).parents[1] != home:
            raise ImportError(f"{found.origin} hides the package {package!r} of pitflip: rename it")


def __dir__() -> list[str]:
    return sorted(__all__)
