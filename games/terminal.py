"""How a command ends: at once when its user or the reader of its output has had enough."""

import signal
import sys
from collections.abc import Callable
from typing import NoReturn


def run(main: Callable[[], int]) -> NoReturn:
    """Exit with what `main` returns; Ctrl-C or a closed pipe ends it silently, in a kernel too."""
    # Python's own handlers wait until compiled code returns, and then print a traceback.
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):  # Windows has no SIGPIPE
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    sys.exit(main())
