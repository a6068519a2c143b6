"""The verdict against a pool: recommended minus seed weights on the same openings."""

import pytest

from arena.tuning.validation import ScoreInterval, StudyVerdict, verdict_of


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [
        (ScoreInterval(0.03, 0.001, 0.06), StudyVerdict.BETTER),
        (ScoreInterval(0.03, 0.0, 0.06), StudyVerdict.UNDECIDED),
        (ScoreInterval(0.0, -0.01, 0.019), StudyVerdict.NOT_BETTER),
        (ScoreInterval(0.01, -0.01, 0.03), StudyVerdict.UNDECIDED),  # it may be more than enough
        (ScoreInterval(0.01, 0.005, 0.015), StudyVerdict.BETTER),  # little, and sure
    ],
)
def test_the_interval_of_the_gain_decides(gain: ScoreInterval, verdict: StudyVerdict) -> None:
    assert verdict_of(gain, 0.0, 0.02) is verdict
