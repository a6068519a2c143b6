"""What is made once a process and kept, whichever thread asks first."""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import TypeVar, TypeVarTuple

Arguments = TypeVarTuple("Arguments")
Made = TypeVar("Made")


def once(function: Callable[[*Arguments], Made]) -> Callable[[*Arguments], Made]:
    """As `functools.cache`, but two threads that ask together get the same object."""
    lock, cached = threading.RLock(), cache(function)

    @wraps(function)
    def made(*arguments: *Arguments) -> Made:
        with lock:
            return cached(*arguments)

    return made
