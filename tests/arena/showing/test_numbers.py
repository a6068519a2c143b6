"""Numbers of a page are rounded outwards; a score is settled only beyond an even one."""

import re

import pytest

from arena.report import numbers
from arena.report.numbers import StoredEstimate
from arena.report.palette import (
    DARK_RAMP,
    LIGHT_RAMP,
    STEPS,
    luminance,
    ramp_colour,
    readable_on,
    step_of,
)
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.text import share_text


def known(low, high, value=0.5, kind="fixed-n"):
    return StoredEstimate(value, low, high, kind, 0.95, "")


@pytest.mark.parametrize(
    ("low", "high", "settled"),
    [(0.51, 0.9, 0.51), (0.1, 0.49, 0.49), (0.5, 0.9, None), (0.4, 0.6, None), (0.6, None, 0.6),
     (None, 0.4, 0.4), (None, None, None)],
)  # fmt: skip
def test_a_score_is_settled_by_the_end_nearer_to_an_even_one(low, high, settled):
    assert known(low, high).settled == settled


def test_a_census_is_settled_by_its_score_alone():
    assert known(None, None, 0.6, numbers.CENSUS).settled == 0.6
    assert known(None, None, 0.5, numbers.CENSUS).settled is None


@pytest.mark.parametrize(
    ("low", "high", "cell", "ends"),
    [
        (0.6771, 0.7989, "67\u201380", "67.7 to 79.9\u00a0%"),
        (0.9951, None, ">\u00a099", "more than 99.5\u00a0%"),
        (None, 0.0049, "<\u00a01", "less than 0.5\u00a0%"),
        (0.25, 0.75, "25\u201375", "25.0 to 75.0\u00a0%"),
    ],
)  # fmt: skip
def test_intervals_are_rounded_outwards(low, high, cell, ends):
    assert numbers.cell_ends(known(low, high)) == cell
    assert numbers.share_ends(known(low, high)) == ends


def test_only_all_is_all_and_a_minus_is_a_minus():
    assert numbers.share(1996 / 2000) == "99.8\u00a0%"
    assert numbers.share(0.99999) == "99.999\u00a0%"
    assert (numbers.bare_share(1.0), numbers.bare_share(0.0)) == ("100.0", "0.0")
    assert numbers.elo(-63.6) == "\u221264"
    assert numbers.elo_ends(known(12.7, None)) == "more than +12"
    assert numbers.elo_ends(known(None, -12.3)) == "less than \u221212"
    assert numbers.elo_ends(known(None, None)) == "no interval"


@pytest.mark.parametrize(
    ("number", "text"),
    [(3e-7, "300 ns"), (1e-6, "1 \u00b5s"), (0.0123, "12 ms"), (1.26, "1.3 s"), (300, "5 min"),
     (9000, "2.5 h"), (0.0, "0 ns")],
)  # fmt: skip
def test_a_time_has_the_unit_that_fits(number, text):
    assert numbers.seconds(number) == text.replace(" ", "\u00a0")


@pytest.mark.parametrize("ramp", [LIGHT_RAMP, DARK_RAMP])
def test_text_on_every_step_of_the_scale_can_be_read(ramp):
    for step in range(STEPS + 1):
        ground = ramp_colour(ramp, step / STEPS)
        light, dark = sorted((luminance(ground), 0.0 if readable_on(ground) == "#000" else 1.0))
        assert (dark + 0.05) / (light + 0.05) >= 4.5


def test_scores_beyond_the_scale_take_its_ends():
    assert [step_of(score) for score in (-0.2, 0.0, 0.5, 1.0, 1.3)] == [
        "r0",
        "r0",
        "r25",
        "r50",
        "r50",
    ]


@pytest.mark.parametrize(("low", "high"), [(0.56449, 0.63151), (0.5, 0.75), (0.04, 0.06)])
def test_terminal_and_page_round_intervals_alike(low, high):
    estimate = Estimate((low + high) / 2, low, high, 0.95, EstimateKind.FIXED)
    text = share_text(estimate)
    shown = re.search(r"\[([\d.]+), ([\d.]+)\]", text).groups()
    known = StoredEstimate(estimate.value, low, high, "fixed-n", 0.95, "")
    assert shown == re.match(r"([\d.]+) to ([\d.]+)", numbers.share_ends(known)).groups()
    assert float(shown[0]) <= 100 * low and 100 * high <= float(shown[1])
