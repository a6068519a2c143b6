"""The monotonic clock inside kernels: libc's, because Python's needs the interpreter."""

import time
from typing import Any

import numpy as np
from numba import types

from agents.kernels.layout import CLOCK
from games.kernels.context import Context
from games.kernels.jit import INTERPRETED, inlined

MONOTONIC = int(getattr(time, "CLOCK_MONOTONIC", 1))
SECOND = 1_000_000_000

_clock_gettime: Any = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.CPointer(types.int64))
)


def _plain_now(ctx: Context) -> np.int64:
    return np.int64(time.monotonic_ns())


@inlined
def _compiled_now(ctx: Context) -> np.int64:
    _clock_gettime(np.int32(MONOTONIC), ctx[CLOCK:].ctypes)
    return ctx[CLOCK] * SECOND + ctx[CLOCK + 1]


now = _plain_now if INTERPRETED else _compiled_now
