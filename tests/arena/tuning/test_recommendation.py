"""What is recommended after a few trials, and when that is to change nothing."""

import numpy as np
import pytest

from arena.tuning.recommendation import FEW, NO_CHANGE, NO_GAIN, recommend
from arena.tuning.space import Axis, Space
from arena.tuning.trials import Trial

SPACE = Space((Axis("pot", 0.0, 1.0),), {})
SEED = np.array([0.1])


def trials(scores, noise=1e-4, alike=False):
    """Trials evenly over the range, with these scores."""
    points = np.linspace(0.0, 1.0, len(scores))
    return [
        Trial(slot, np.array([point]), score, 0.0, 1.0, noise, 8, 8, 0 if alike else slot, 1.0)
        for slot, (point, score) in enumerate(zip(points, scores, strict=True))
    ]


RISING = (0.3, 0.4, 0.5, 0.6, 0.7)


@pytest.mark.parametrize(
    ("given", "flat"),
    [
        (trials(RISING), ""),
        (trials(RISING[:4]), FEW),
        (trials(RISING, alike=True), NO_CHANGE),
        (trials((0.5, 0.6, 0.45, 0.55, 0.6), noise=0.02), NO_GAIN),
    ],
)
def test_weights_are_recommended_when_their_gain_is_sure(given, flat):
    found, _ = recommend(SPACE, SEED, given, 1)
    assert found.flat == flat
    assert found.gain.value > 0.0
    assert (found.weights == SPACE.values(SEED)) == bool(flat)
