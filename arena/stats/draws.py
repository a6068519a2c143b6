"""Share of drawn games at a given expected score."""

import numpy as np

from arena.stats.counts import Floats

_STEPS = 60


def draw_share(score: float, even: float) -> float:
    """Share of draws at expected `score`, `even` being the share at an expected score of 1/2.

    Positive root of (1 - 2 even) / even^2 x^2 + 2 x = 4 score (1 - score) (Ordo, option -D).
    """
    return float(_shares(np.array([score]), even)[0])


def even_draw_share(scores: Floats, games: Floats, drawn: float) -> float:
    """Share of draws between equals at which as many draws are expected as were `drawn`."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if float((games * _shares(scores, middle)).sum()) < drawn:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high) if drawn > 0.0 else 0.0


def _shares(scores: Floats, even: float) -> Floats:
    if even <= 0.0:
        return np.zeros_like(scores)
    room = 4.0 * scores * (1.0 - scores)
    bend = (1.0 - 2.0 * even) / even**2
    # The root in a form that stays true where the bend is 0 or negative.
    root = np.sqrt(np.maximum(1.0 + bend * room, 0.0))
    return np.asarray(room / (1.0 + root), dtype=np.float64)
