"""Commands in a process forked from this one, which has loaded already what they need.

A process of its own costs a command a second before it does anything. What tests of signals, pipes
and terminals are about comes later, and a fork has it all: a group of its own, streams of its own,
no file of ours, the handlers of signals that a command begins with. That commands also begin
well from nothing is said by tests that begin them so. No spawner is begun in a fork, unless its
test says that this one has its own: `with_bots`.
"""

import contextlib
import faulthandler
import gc
import logging
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import NoReturn

import numba
from numba.core import event

from agents.sandbox import sandbox
from agents.sandbox.sandbox import start_spawner

PACKAGES = ("games", "agents", "arena")
NOTHING = ["false"]  # the program that the process would go on with, did it ever return
FIRST_FILE, AFTER_LAST_FILE = 3, 1 << 20  # beside the standard streams
FAULT = 1


def in_fork(work: Callable[[], int], **options) -> dict:
    """The options of a `subprocess.Popen` whose process ends with the status of `work`."""
    environment = options.pop("env", None)
    become = partial(_become, work, environment)
    return {"args": NOTHING, "preexec_fn": become, "restore_signals": False, **options}


def with_bots(work: Callable[[], int]) -> int:
    """The status of `work` in a fork that begins a spawner of its own: half a second."""
    sandbox.start_spawner = start_spawner
    return work()


def forgetful(tree: Path, code: str, *words: str, env: Mapping[str, str]) -> CompletedProcess:
    """What `code` said in a fork that loads our packages anew, from `tree`: as `python -c` does.

    Numba and NumPy need not be loaded again; Numba's settings are those of the environment.
    """

    def work() -> int:
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
        event._registered.clear()
        numba.config.reload_config()
        sys.path.insert(0, str(tree))
        sys.argv = ["-c", *words]
        exec(code, {"__name__": "__main__"})
        return 0

    done = subprocess.run(
        **in_fork(work, cwd=tree, env=env), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def _refused() -> NoReturn:
    raise AssertionError("a fork has no spawner: begin it with bots")


def _become(work: Callable[[], int], environment: Mapping[str, str] | None) -> None:
    """Work in a process that was forked just now, and end it."""
    status = FAULT
    try:
        faulthandler.disable()  # it writes to a file of ours
        logging.getLogger().handlers.clear()  # as do pytest's, into whatever has its number then
        gc.freeze()  # what we hold is not collected here: it would close numbers of new files
        os.closerange(FIRST_FILE, AFTER_LAST_FILE)  # now `Popen` knows that the process has begun
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # as `arena` has it for commands
        sandbox.start_spawner = _refused  # the one that tests lend is a file of ours
        if environment is not None:
            os.environ.clear()
            os.environ.update(environment)
        status = work()
    except SystemExit as end:
        status = end.code or 0 if isinstance(end.code, int | None) else FAULT
    except BaseException:  # nothing may go on in the middle of our tests
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(status)
