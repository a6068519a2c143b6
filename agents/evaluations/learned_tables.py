"""An agent's context with learned tables in it, and their evaluation called by the search."""

from pathlib import Path

import numpy as np

from agents.evaluations.learned_weights import learned_for, unfolded
from agents.kernels.evaluator import address_of
from agents.kernels.layout import EVALUATOR
from agents.kernels.learned_value import MOST_REMAINING, learned_kernels, phase_of, with_block
from games import Game
from games.kernels.context import Context


def with_learned(ctx: Context, path: Path, of: Game) -> Context:
    """The context with the weights of a file; one compiled evaluation serves all of a layout."""
    read, tables, layout = learned_for(path, of)
    left = np.arange(MOST_REMAINING)
    phases = phase_of(left, read.phases, read.least, read.most)
    weights = unfolded(read.weights, tables.same(layout))
    longer = with_block(ctx, layout.entries, phases, weights)
    evaluate = learned_kernels(of.family_name, tables, layout).learned_value
    longer[EVALUATOR] = address_of(evaluate, longer, of.start().state)
    return longer
