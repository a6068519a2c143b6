"""Numbers of pages: outward rounding, decisive scores, colours."""

import re

import pytest

from arena.report import numbers
from arena.report.numbers import decisive_end
from arena.report.palette import (
    DARK_RAMP,
    LIGHT_RAMP,
    RAMP_STEPS,
    luminance,
    ramp_class,
    ramp_colour,
    readable_on,
)
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.text import share_text


def known(low, high, value=0.5, kind=EstimateKind.FIXED):
    return Estimate(value, low, high, 0.95, kind)


@pytest.mark.parametrize(
    ("low", "high", "settled"),
    [(0.51, 0.9, 0.51), (0.1, 0.49, 0.49), (0.5, 0.9, None), (0.4, 0.6, None), (0.6, None, 0.6),
     (None, 0.4, 0.4), (None, None, None)],
)  # fmt: skip
def test_the_decisive_end_of_an_interval(low, high, settled):
    assert decisive_end(known(low, high)) == settled


def test_the_decisive_end_of_an_exact_score():
    assert decisive_end(known(None, None, 0.6, EstimateKind.CENSUS)) == 0.6
    assert decisive_end(known(None, None, 0.5, EstimateKind.CENSUS)) is None


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


def test_shares_and_elo_as_text():
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
def test_seconds_as_text(number, text):
    assert numbers.seconds(number) == text.replace(" ", "\u00a0")


@pytest.mark.parametrize("ramp", [LIGHT_RAMP, DARK_RAMP])
def test_text_is_readable_on_every_step_of_the_ramp(ramp):
    for step in range(RAMP_STEPS + 1):
        ground = ramp_colour(ramp, step / RAMP_STEPS)
        light, dark = sorted((luminance(ground), 0.0 if readable_on(ground) == "#000" else 1.0))
        assert (dark + 0.05) / (light + 0.05) >= 4.5


def test_scores_outside_the_ramp_get_its_ends():
    assert [ramp_class(score) for score in (-0.2, 0.0, 0.5, 1.0, 1.3)] == [
        "r0",
        "r0",
        "r25",
        "r50",
        "r50",
    ]


@pytest.mark.parametrize(("low", "high"), [(0.56449, 0.63151), (0.5, 0.75), (0.04, 0.06)])
def test_terminal_and_page_round_intervals_equally(low, high):
    estimate = Estimate((low + high) / 2, low, high, 0.95, EstimateKind.FIXED)
    text = share_text(estimate)
    shown = re.search(r"\[([\d.]+), ([\d.]+)\]", text).groups()
    assert shown == re.match(r"([\d.]+) to ([\d.]+)", numbers.share_ends(estimate)).groups()
    assert float(shown[0]) <= 100 * low and 100 * high <= float(shown[1])
