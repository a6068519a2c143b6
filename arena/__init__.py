"""Experiments: what must hold before any of their modules is loaded, and lazy names.

As a command Ctrl-C ends it silently until games are played, a module that is no command is
refused, and `games` and `agents` are ours; in a user's program only the last.
"""

# Python's own part of `signal`, which loads `enum` and so takes its time; it has no types.
import _signal  # type: ignore[import-not-found] # isort: skip
import importlib
import importlib.machinery
import sys

__all__ = ["load_run"]

# A command of ours begins here. What it loads takes a while, and nothing is kept before the games:
# until `Interrupts` takes over, Ctrl-C ends the process as SIGTERM does, without a traceback.
_BY_MODULE = sys.argv[:1] == ["-m"] and any(
    word.partition(".")[0] == "arena" for word in sys.orig_argv
)
_BY_SCRIPT = sys.argv[:1] != [] and sys.argv[0].endswith("/pitflip")
if (_BY_MODULE or _BY_SCRIPT) and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

# Beside a games.py or agents/ of the user's, `python -m arena.run` would import those.
_HOME = __file__.rsplit("/", 2)[0]  # without pathlib, which takes its time to load
for _name in ("games", "agents"):
    _found = importlib.machinery.PathFinder.find_spec(_name)
    if _name not in sys.modules and (
        _found is None or _found.origin != f"{_HOME}/{_name}/__init__.py"
    ):
        sys.path.insert(0, _HOME)

if _BY_MODULE:  # a command needs `games` anyway
    importlib.import_module("games.shell_commands").refuse_no_command("arena")


def __getattr__(name: str) -> object:
    """`from arena import load_run` for notebooks; nothing of it is loaded before."""
    if name == "load_run":
        return importlib.import_module("arena.loaded_run").load_run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
