"""The answer of a sweep allows for the number of its cells."""

import numpy as np
import pytest

from arena.analysis.sweep import BETTER, UNDECIDED, WORSE, cell_score

LAW = (0.15, 0.2, 0.3, 0.2, 0.15)
SCORES = np.arange(5) / 4


@pytest.mark.slow
def test_equals_are_told_apart_in_any_of_six_cells_in_five_of_a_hundred_sweeps():
    draw, wrong = np.random.default_rng(5), 0
    for _ in range(150):
        answers = {
            cell_score(range(60), draw.choice(SCORES, 60, p=LAW), 6).answer for _ in range(6)
        }
        wrong += answers != {UNDECIDED}
    assert wrong <= 14  # 5 % of 150 are 7.5; more than 14 in 1 of 100 such tests


def test_the_answer_is_that_of_the_interval_of_all_cells():
    better = cell_score(range(40), [1.0, 0.5] * 20, 10)
    assert better.answer == BETTER
    assert cell_score(range(40), [0.0, 0.5] * 20, 10).answer == WORSE
    scores = [1.0] * 25 + [0.0] * 15  # enough for one cell alone, not for fifty
    assert cell_score(range(40), [0.75] * 25 + [0.25] * 15, 1).answer == UNDECIDED
    assert cell_score(range(40), scores, 50).answer == UNDECIDED
