"""Estimates as text, with the degenerate results of matches, tests and ratings."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.anytime import anytime_estimate, start_anytime, update_anytime
from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.intervals import score_estimate
from arena.stats.match_estimate import estimate_match, mirror_estimate
from arena.stats.ratings import RatingPlan, rate
from arena.stats.score_checks import score_at_least
from arena.stats.spread import spread
from arena.stats.sprt import SprtPlan, finish_sprt, start_sprt, update_sprt
from arena.stats.sprt_estimates import median_unbiased_estimate, naive_estimate
from arena.stats.text import (
    NO_ANSWER,
    bound_text,
    check_text,
    decimals_for,
    elo_text,
    first_move_text,
    lower_bound_text,
    match_estimate_text,
    percent_text,
    range_text,
    rating_text,
    score_text,
    share_text,
    sign_text,
    sprt_text,
)
from tests.arena.stats.golden import golden, results_of

SETS = golden("ratings.json")["sets"]
FORBIDDEN = ("nan", "inf", "-0.0", "-0 ", "± 0 ", "± 0.0", "1199")
ONE_WIN = [[a, b, 12, 0, 0] for a in "ABC" for b in "ABC" if a != b]


def is_plausible(text):
    return not any(word in f"{text} ".replace("inference", "") for word in FORBIDDEN)


def rating_lines(rows, openings=None, **how):
    """The text of every rating and, for each group of several agents, of the first move."""
    results, names = results_of(rows, openings)
    ratings, lines = rate(results, RatingPlan(**how)), []
    for number, group in enumerate(ratings.groups):
        own = [row for row in ratings.agents if row.group == number]
        lines += [f"{names[row.agent]}  {rating_text(row.rating)}" for row in own]
        if len(own) > 1:
            lines.append(first_move_text(group, sum(row.games for row in own) // 2))
    return lines


@pytest.mark.parametrize(
    ("openings", "first", "second", "census", "expected"),
    [
        (0, [], [], False, "no games"),
        (1, [1], [0], False, "1 won, 0 drawn, 1 lost; one opening: no inference"),
        (5, [1] * 5, [1] * 5, False, "100 %, > +34 Elo (95 %) for openings like these, K = 5"),
        (5, [0] * 5, [0] * 5, False, "0 %, < -34 Elo (95 %) for openings like these, K = 5"),
        (500, [1] * 500, [1] * 500, False,
         "100 %, > +888 Elo (95 %) for openings like these, K = 500"),
        (500, [1] * 500, [1] * 499 + [0], False,
         "99.9 % [99.3, 100.0], +1200 [+872, +1845] Elo for openings like these  "
         "n=1000 (n_eff 500)"),
        (500, [0.5] * 500, [0.5] * 500, False, "], 0 ± 2.6 Elo, all pairs alike"),
        (500, [1] * 500, [0] * 500, False, "], 0 ± 2.6 Elo, all pairs alike"),
        (500, [1] * 500, [0.5] * 500, False, "], +191 [+185, +193] Elo, all pairs alike"),
        (500, [1] * 500, [0] * 500, True, "50.0 %, exactly 0 on these openings (census)"),
        (12, [1] * 12, [1] * 12, True,
         "100 %, won or lost every game of these openings (census)"),
    ],
)  # fmt: skip
def test_a_match_has_one_text_for_every_kind_of_result(openings, first, second, census, expected):
    row = estimate_match(range(openings), first, second, census=census)
    text = match_estimate_text(row)
    assert expected in text if expected.startswith("]") else text == expected
    if len({*zip(first, second, strict=True)}) == 1:
        assert row.answer.normalized.value is None
        assert row.superiority is None


def test_games_on_one_opening_that_never_varied_bound_the_share_that_varies():
    row = estimate_match([0] * 500, [1] * 500, [1] * 500)
    assert elo_text(row.like.elo) == "one opening: no inference"
    assert match_estimate_text(row).endswith("; no game varied in 998 repeats: at most 0.3 % do")


def test_a_test_with_empty_cells_has_a_finite_ratio_and_no_early_verdict():
    plan = SprtPlan(0, 200)
    early = sprt_text(plan, update_sprt(plan, start_sprt(plan), [1.0] * 9))
    assert "no verdict below 10 openings" in early
    assert "K = 9" in early
    for score in (0.5, 1.0):
        assert is_plausible(sprt_text(plan, update_sprt(plan, start_sprt(plan), [score] * 1000)))


def test_a_test_names_its_decision_and_its_bounds():
    plan = SprtPlan(0, 10)
    state = update_sprt(plan, start_sprt(plan), [0.5, 0.75] * 20)
    assert sprt_text(plan, state).startswith("LLR ")
    assert sprt_text(plan, finish_sprt(state)) == "undecided, 40 openings used"
    plan = SprtPlan(0, 60)
    won = update_sprt(plan, start_sprt(plan), [1.0, 0.5] * 500)
    lost = update_sprt(plan, start_sprt(plan), [0.0, 0.5] * 500)
    assert sprt_text(plan, won).startswith("accepted 60: LLR ")
    assert sprt_text(plan, lost).startswith("accepted 0: LLR ")
    assert sprt_text(plan, won).endswith("bounds [0, 60] logistic Elo")
    assert elo_text(naive_estimate(won)).endswith("Elo sprt")
    assert elo_text(median_unbiased_estimate(plan, won)).endswith("sprt")


PERFECT = [["A", "B", 25, 0, 0], ["A", "C", 25, 0, 0], ["B", "A", 0, 0, 25], ["C", "A", 0, 0, 25],
           ["B", "C", 15, 0, 10], ["C", "B", 14, 0, 11]]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "how", "expected"),
    [
        (PERFECT, {"openings": 25}, {1: "B  +"}),
        ([[a, b, 0, 20, 0] for a, b, *_ in ONE_WIN], {"openings": 20}, {0: "A  0 ± 60"}),
        (ONE_WIN, {"openings": 12},
         {-1: "first mover won all 72, worth > +218 Elo; ratings without first-move term"}),
        ([[a, b, 0, 0, 12] for a, b, *_ in ONE_WIN], {}, {-1: "second mover won all 72, worth"}),
        ([["A", "B", 20, 0, 10]], {}, {-1: "first-move advantage cannot be told"}),
        (SETS["rr4_draws"]["results"], {"census": True, "openings": 50},
         {0: "A  +96 (exact for this opening set)"}),
        (SETS["rr4_draws"]["results"], {"anchor": 3},
         {0: "A  +218 [+", 3: "D  0 (anchor)", 4: "first move +2 ["}),
        (SETS["rr4_draws"]["results"], {"openings": 9}, {0: "A  +96 (needs 10 openings, has 9)"}),
    ],
    ids=lambda each: "",
)  # fmt: skip
def test_ratings_and_the_first_move_have_a_text_for_every_kind_of_result(rows, how, expected):
    lines = rating_lines(rows, **how)
    assert all(lines[at].startswith(start) for at, start in expected.items()), lines
    assert all(is_plausible(line) for line in lines)


def test_a_rating_may_be_bounded_on_one_side_or_on_none():
    assert rating_text(Estimate(61.4, 20.9, None, 0.95, EstimateKind.FIXED)) == "+61, > +20"
    assert rating_text(Estimate(-61.4, None, -20.9, 0.95, EstimateKind.FIXED)) == "-61, < -20"
    assert rating_text(Estimate(-0.2, None, None, 0.95, EstimateKind.FIXED)) == "-0.2"
    assert rating_text(Estimate(None, None, None, 0.95, EstimateKind.NONE)) == NO_ANSWER


def test_an_ordinary_result_reads_as_the_issue_asks():
    rng = np.random.default_rng(11)
    openings = np.repeat(np.arange(412), 3)[:1000]
    scores = np.repeat(rng.choice(3, size=(412, 2), p=[0.3, 0.16, 0.54]) / 2, 3, axis=0)[:1000]
    row = estimate_match(openings, scores[:, 0], scores[:, 1])
    text = match_estimate_text(row)
    assert re.match(
        r"59.9 % \[56.3, 63.3\], \+69 \[\+44, \+95\] Elo for openings like these  n", text
    )
    assert "  n=2000 (n_eff 333); no game varied in" in text
    assert ", -69 [-95, -44] Elo" in match_estimate_text(mirror_estimate(row))


def test_a_live_interval_says_that_it_is_anytime():
    found = anytime_estimate(
        update_anytime(start_anytime(300, again=False), [0.5, 0.75, 0.25] * 100)
    )
    assert score_text(found).endswith("] anytime")
    assert elo_text(elo_estimate(found)).endswith("Elo anytime")


def test_scores_are_printed_with_their_interval():
    assert score_text(score_estimate([], [])) == "no games"
    assert score_text(score_estimate(range(100), [0.25, 0.75] * 50)) == "50.0 % [44.8, 55.2]"
    assert score_text(score_estimate(range(50), [1.0] * 50)) == "100 %, > 94.1 %"
    assert score_text(score_estimate(range(50), [0.0] * 50)) == "0 %, < 5.9 %"
    assert score_text(score_estimate(range(2), [0.0, 1.0])) == "50.0 %, no bound"
    assert score_text(score_estimate([0, 0], [1, 1])) == "100 % (one opening: no inference)"
    assert elo_text(elo_estimate(score_estimate(range(2), [0.0, 1.0]))) == (
        "no bound on Elo (95 %): needs 10 openings, has 2"
    )


def test_checks_are_printed_with_their_bound():
    assert check_text(score_at_least(spread(range(3), [1.0] * 3), 0.5)) == (
        "vacuous: needs 10 openings, has 3"
    )
    assert check_text(score_at_least(spread(range(100), [1.0] * 100), 0.9)) == (
        "passed: at least 90.0 % wanted, score 100 %, bound 97.0 % (one-sided 95 % bound), K = 100"
    )


def test_small_numbers_are_never_rounded_to_nothing():
    assert sign_text(-0.3) == "0"
    assert sign_text(-0.3, 1) == "-0.3"
    assert percent_text(0.99996) == "99.996 %"
    assert percent_text(1 - 1e-15) == "> 99.9999 %"
    assert percent_text(0.0) == "0 %"
    assert [decimals_for(w) for w in (40.0, 3.0, 2.6, 0.2, 0.01)] == [0, 0, 1, 2, 3]
    assert bound_text(Estimate(None, -0.2, None, 0.95, EstimateKind.FIXED)) == "> -1"


def test_an_interval_without_ends_is_not_printed_as_one():
    with pytest.raises(ValueError, match="both ends"):
        range_text(Estimate(1.0, None, 2.0, 0.95, EstimateKind.FIXED))


PAIRINGS = st.lists(
    st.tuples(st.integers(0, 14), st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1])),
    max_size=40,
)


@given(PAIRINGS, st.booleans())
def test_nothing_unis_plausible_is_ever_printed(pairings, census):
    columns = list(zip(*pairings, strict=True)) or [[], [], []]
    row = estimate_match(*columns, census=census)
    for side in (row, mirror_estimate(row)):
        texts = [match_estimate_text(side), score_text(side.score), elo_text(side.elo)]
        texts += [elo_text(side.answer.normalized), score_text(side.first_mover)]
        assert all(is_plausible(text) for text in texts)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 2)), max_size=40))
def test_no_rating_table_prints_anything_unis_plausible(games):
    rows = []
    for first, offset, result in games:
        counts = [int(result == kind) for kind in (2, 1, 0)]
        rows.append(["ABCD"[first], "ABCD"[(first + offset) % 4], *counts])
    if rows:
        lines = rating_lines(rows, draws=100)
        assert all(is_plausible(line) for line in lines)


@given(st.floats(-400, 400), st.floats(0.001, 300), st.floats(0.001, 300), st.floats(0, 1))
def test_a_one_sided_bound_never_lies_beyond_the_two_sided_interval(value, below, above, share):
    """The ends are rounded by one rule, so that what holds of the numbers holds of the text."""
    low, high = value - below, value + above
    bound = low + share * below * 0.2  # a bound of the same level lies inside
    interval = range_text(Estimate(value, low, high, 0.95, EstimateKind.FIXED))
    ends = [float(end) for end in interval.partition("[")[2].rstrip("]").split(", ")]
    assert ends[0] <= low + 1e-6 and high - 1e-6 <= ends[1]
    one_sided = bound_text(Estimate(value, bound, None, 0.95, EstimateKind.FIXED))
    printed = float(one_sided.removeprefix("> "))
    assert printed <= bound + 1e-6
    assert printed >= ends[0]


@given(st.floats(0.05, 0.95), st.floats(1e-4, 0.04), st.floats(0, 1))
def test_a_bound_on_a_score_is_as_fine_as_its_interval(score, width, share):
    text = share_text(Estimate(score, score - width, score + width, 0.95, EstimateKind.FIXED))
    low = float(text.partition("[")[2].partition(",")[0])
    bound = lower_bound_text(score, score - width + share * width * 0.2)
    assert float(bound.removesuffix(" %")) >= low
