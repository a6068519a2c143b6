"""Calibration of the stop rules, with fewer runs than the page in docs/evidence."""

import numpy as np
import pytest

from arena.stats.sprt import SprtPlan
from arena.stats.stopping import GIVE_UP_ERROR, WidthPlan
from benchmarks.stop_rules import PAIRS, fixed_size, give_up_row, pair_law, width_row

RUNS = 150
# 95 % of binomial numbers with a chance of 5 % are below this share.
MOST = 0.05 + 1.645 * (0.05 * 0.95 / RUNS) ** 0.5


@pytest.mark.parametrize("kind", PAIRS)
def test_pairs_have_the_strength_that_they_say(kind):
    law = pair_law(50.0, *PAIRS[kind])
    assert law.min() >= 0.0
    assert law.sum() == pytest.approx(1.0)
    assert law @ np.arange(5) / 4 == pytest.approx(0.5715, abs=1e-4)


@pytest.mark.parametrize("elo", [0.0, 150.0])
@pytest.mark.parametrize("kind", PAIRS)
def test_the_width_rule_is_right_and_costs_at_most_a_third_more(kind, elo):
    row = width_row(pair_law(elo, *PAIRS[kind]), 40.0, RUNS)
    assert row.misses <= row.ever_missed <= MOST
    assert 1.1 < row.ratio <= 1.35


def test_matches_do_not_give_up_wrongly():
    law = pair_law(0.0, *PAIRS["30 % draws"])
    needed = 1.31 * fixed_size(law, 40.0)
    for share, least, most in ((0.5, 1.0, 1.0), (1.0, 0.1, 0.5), (1.3, 0.0, 0.05)):
        row = give_up_row(WidthPlan(40.0), law, round(share * needed), RUNS)
        assert row.wrongly <= GIVE_UP_ERROR
        assert least <= row.gives_up <= most
    close = pair_law(40.0, *PAIRS["30 % draws"])
    row = give_up_row(SprtPlan(0.0, 20.0), close, 150, 60)
    assert row.gives_up > 0.3
    assert row.wrongly <= 2 * GIVE_UP_ERROR
    assert row.pairs < 120
