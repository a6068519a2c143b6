"""When a study plays its second half against its best so far."""

from types import SimpleNamespace

import pytest

from arena.tuning.second_half import too_easy


@pytest.mark.parametrize(
    ("score", "flat", "answer"), [(0.85, None, True), (0.849, None, False), (0.99, "flat", False)]
)
def test_a_score_of_85_percent_is_too_easy_to_learn_from(score, flat, answer):
    found = SimpleNamespace(flat=flat, score=SimpleNamespace(value=score))
    assert too_easy(found) is answer
