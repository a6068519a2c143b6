"""The tree and the kernels of Monte Carlo tree search.

Kocsis and Szepesvári, "Bandit based Monte-Carlo planning" (2006): plain UCT with random playouts.
"""

import math
from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from games.kernels.bits import Truth, U
from games.kernels.context import Context
from games.kernels.drivers import FAMILY_NAMES
from games.kernels.family import State, count, final, moves, none, nth, over, play, turned
from games.kernels.jit import family_kernels, specialise
from games.kernels.splitmix import STRIDE
from games.kernels.streams import below

Tree = NDArray[np.int64]  # one row for each node; row 0 is the root

PARENT, SLOT, SAME, FIRST_CHILD, LAST_CHILD, SIBLING, CHILDREN, VISITS, SCORE = range(9)
COLUMNS = 9
NONE = -1
MAX_NODES = 1 << 20
WIN, DRAW, LOSS = 2, 1, 0  # half points
LOG_STEPS = 1 << 20  # logarithms are rounded: libraries differ in the last bit


def result(ctx: Context, s: State) -> np.int64:
    """Return the half points of the mover at the end of a game."""
    margin = final(ctx, s)
    return np.int64(WIN if margin > 0 else (DRAW if margin == 0 else LOSS))


def play_and_pass(ctx: Context, s: State, slot: np.uint64) -> tuple[State, Truth]:
    """Return the state after a move and a forced pass, and whether the same side moves again."""
    s, same = play(ctx, s, slot)
    if none(moves(ctx, s)) and not over(ctx, s):
        return turned(s), not same
    return s, same


def playout(ctx: Context, s: State, word: np.uint64) -> tuple[np.int64, np.uint64]:
    """Return the half points of the mover after random moves, and the next random word."""
    own = True
    mask = moves(ctx, s)
    while not none(mask):
        word += STRIDE
        s, same = play_and_pass(ctx, s, nth(mask, below(word, U(count(mask)))))
        own = own == bool(same)
        mask = moves(ctx, s)
    points = result(ctx, s)
    return (points if own else WIN - points), word


def best_child(tree: Tree, node: np.int64, exploration: float) -> np.int64:
    """Return the child with the highest upper confidence bound; ties go to the first."""
    log = math.floor(math.log(tree[node, VISITS]) * LOG_STEPS + 0.5) / LOG_STEPS
    child = chosen = tree[node, FIRST_CHILD]
    highest = -1.0
    while child != NONE:
        visits = tree[child, VISITS]
        bound = tree[child, SCORE] / (WIN * visits) + exploration * math.sqrt(log / visits)
        if bound > highest:
            highest, chosen = bound, child
        child = tree[child, SIBLING]
    return chosen


def add_child(tree: Tree, node: np.int64, child: np.int64, slot: np.int64, same: np.int64) -> int:
    """Append a node to the children of another one."""
    tree[child] = 0
    tree[child, PARENT], tree[child, SLOT], tree[child, SAME] = node, slot, same
    tree[child, FIRST_CHILD] = tree[child, LAST_CHILD] = tree[child, SIBLING] = NONE
    if tree[node, CHILDREN] == 0:
        tree[node, FIRST_CHILD] = child
    else:
        tree[tree[node, LAST_CHILD], SIBLING] = child
    tree[node, LAST_CHILD] = child
    tree[node, CHILDREN] += 1
    return 0


def simulate(
    ctx: Context,
    root: State,
    tree: Tree,
    size: np.int64,
    simulations: np.int64,
    exploration: float,
    word: np.uint64,
) -> tuple[np.int64, np.uint64]:
    """Run simulations in a tree of `size` nodes; return its new size and the next random word.

    Each adds one node until the tree is full; then only statistics are collected.
    """
    for _ in range(simulations):
        s, node = root, np.int64(0)
        while True:
            mask = moves(ctx, s)
            if none(mask):
                break
            tried = tree[node, CHILDREN]
            if tried < count(mask) and size < tree.shape[0]:
                slot = nth(mask, U(tried))
                s, same = play_and_pass(ctx, s, slot)
                add_child(tree, node, size, np.int64(slot), np.int64(1 if same else 0))
                node = size
                size += 1
                break
            if tried == 0:
                break
            node = best_child(tree, node, exploration)
            s, _same = play_and_pass(ctx, s, U(tree[node, SLOT]))
        score, word = playout(ctx, s, word)
        while node != 0:
            score = score if tree[node, SAME] == 1 else WIN - score
            tree[node, VISITS] += 1
            tree[node, SCORE] += score
            node = tree[node, PARENT]
        tree[0, VISITS] += 1
    return size, word


def new_tree(nodes: int) -> Tree:
    """Return a tree for this many simulations, which holds only its root."""
    tree = np.zeros((min(nodes, MAX_NODES) + 1, COLUMNS), np.int64)
    tree[0, [FIRST_CHILD, LAST_CHILD, SIBLING]] = NONE
    return tree


def children(tree: Tree, node: int) -> list[int]:
    """Return the rows of a node's children."""
    rows, child = [], int(tree[node, FIRST_CHILD])
    while child != NONE:
        rows.append(child)
        child = int(tree[child, SIBLING])
    return rows


def most_visited(tree: Tree, node: int) -> int | None:
    """Return the child with the most visits; ties go to the higher score, then to the first."""
    below_ = children(tree, node)
    return max(below_, key=lambda at: (tree[at, VISITS], tree[at, SCORE]), default=None)


TEMPLATES = (result, play_and_pass, playout, best_child, add_child, simulate)


def bind_simulations(family: ModuleType) -> SimpleNamespace:
    """Return the kernels compiled for one family of states."""
    names = {name: getattr(family, name) for name in FAMILY_NAMES}
    return specialise(
        family.FAMILY, TEMPLATES, [result, play_and_pass, playout, best_child, add_child], **names
    )


def mcts_kernels(family_name: str) -> SimpleNamespace:
    """Return the kernels of a family, given by the name of its module."""
    return family_kernels(family_name, bind_simulations)
