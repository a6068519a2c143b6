"""When a search must stop: every node counts, the clock is read now and then."""

from agents.kernels.clock import now
from agents.kernels.layout import (
    BUDGET,
    CHECK_AT,
    DEADLINE,
    GUESSES,
    NANOSECONDS,
    NODES,
    PROBING,
    STOPPED,
    UNLIMITED,
)
from games.kernels.bits import Truth
from games.kernels.context import Context
from games.kernels.jit import inlined

NODES_BETWEEN_LOOKS = 512


@inlined
def begin(ctx: Context) -> None:
    """Start counting one move."""
    ctx[NODES] = 0
    ctx[STOPPED] = 0
    ctx[GUESSES] = 0
    ctx[PROBING] = 0
    ctx[CHECK_AT] = ctx[BUDGET]
    ctx[DEADLINE] = UNLIMITED
    if ctx[NANOSECONDS] != UNLIMITED:
        ctx[DEADLINE] = now(ctx) + ctx[NANOSECONDS]
        ctx[CHECK_AT] = min(ctx[BUDGET], NODES_BETWEEN_LOOKS)


@inlined
def out_of_limits(ctx: Context) -> Truth:
    """Whether a limit is reached; called once the node count passes CHECK_AT."""
    if ctx[STOPPED] == 0:
        late = ctx[DEADLINE] != UNLIMITED and now(ctx) >= ctx[DEADLINE]
        if late or ctx[NODES] > ctx[BUDGET]:
            ctx[STOPPED] = 1
            ctx[CHECK_AT] = 0  # from here on every check stops at once
        else:
            ctx[CHECK_AT] = min(ctx[BUDGET], ctx[NODES] + NODES_BETWEEN_LOOKS)
    return ctx[STOPPED] != 0
