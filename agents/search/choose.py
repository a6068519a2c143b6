"""Choose a root move: policies, iterative deepening, ties."""

import numpy as np

from agents.search.context import (
    BEST,
    EPSILON,
    KIND,
    MINIMAX_KIND,
    NODES,
    NOT_SEARCHED,
    RANDOM_KIND,
    REACHED,
    SALT,
    VALUE,
)
from agents.search.policies import by_policy, draw, drawn
from agents.search.root_search import deepen
from games.kernels.bits import U
from games.kernels.context import PASS, Context
from games.kernels.family import State, moves, none, turned
from games.kernels.splitmix import STRIDE
from games.kernels.streams import mixed


def choose_behind_pass(ctx: Context, s: State, side: int) -> None:
    """Value a forced pass by the reply to it; a pass costs no depth."""
    if ctx[KIND] >= MINIMAX_KIND:
        deepen(ctx, turned(s), 1 - side)
        ctx[BEST], ctx[VALUE] = PASS, -ctx[VALUE]


def choose(ctx: Context, s: State, side: int) -> np.int64:
    """The slot of the agent's move for `side` of the board; the game must not be over."""
    ctx[NODES] = 0
    ctx[REACHED] = NOT_SEARCHED
    # The table forgets: a move is a function of the position and the stream, not of the game.
    ctx[SALT] = np.int64(mixed(U(ctx[SALT]) + STRIDE))
    kind = ctx[KIND]
    mask = moves(ctx, s)
    if none(mask):
        choose_behind_pass(ctx, s, side)
        return np.int64(PASS)
    strays = ctx[EPSILON] > 0 and draw(ctx, np.int64(1 << 32)) < ctx[EPSILON]
    if kind == RANDOM_KIND or strays:
        return drawn(ctx, mask)
    if kind >= MINIMAX_KIND:
        return deepen(ctx, s, side)
    return by_policy(ctx, s, side)


COMPILED = (choose_behind_pass, choose)
PASSAGES = (choose_behind_pass,)
