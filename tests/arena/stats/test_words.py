"""The degenerate cases of the reference, section 8, row by row."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.stats.anytime import anytime_estimate, start_anytime, update_anytime
from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate, EstimateKind
from arena.stats.intervals import score_estimate
from arena.stats.match_estimate import from_other_side, matchup
from arena.stats.ratings import RatingPlan, rate
from arena.stats.score_checks import score_at_least
from arena.stats.spread import spread
from arena.stats.sprt import SprtPlan, begin, finish_sprt, update_sprt
from arena.stats.sprt_estimates import corrected_estimate, uncorrected_estimate
from arena.stats.text import (
    NO_ANSWER,
    bound_text,
    check_text,
    decimals_for,
    elo_text,
    lower_bound_text,
    match_estimate_text,
    percent_text,
    range_text,
    rating_text,
    ratings_lines,
    score_text,
    share_text,
    signed_text,
    sprt_text,
)
from tests.arena.stats.golden import golden, results_of

SETS = golden("ratings.json")["sets"]
FORBIDDEN = ("nan", "inf", "-0.0", "-0 ", "± 0 ", "± 0.0", "1199")


def believable(text):
    return not any(word in f"{text} ".replace("inference", "") for word in FORBIDDEN)


def table_of(rows, names, **how):
    results, _ = results_of(rows, how.pop("openings", None))
    ratings = rate(results, RatingPlan(**how))
    return ratings_lines(ratings, names)


def test_no_games():
    assert match_estimate_text(matchup([], [], [])) == "no games"


def test_half_a_pairing():
    assert match_estimate_text(matchup([], [], []), unpaired_games=1) == "0 complete pairings"


def test_one_pairing():
    row = matchup([0], [1], [0])
    assert match_estimate_text(row) == "1 won, 0 drawn, 1 lost; one opening: no inference"
    assert elo_text(row.elo) == "one opening: no inference"
    assert (row.normalized.value, row.superiority) == (None, None)


def test_ten_to_nothing():
    row = matchup(range(5), [1] * 5, [1] * 5)
    assert match_estimate_text(row) == "100 %, > +34 Elo (95 %) for openings like these, K = 5"
    assert (
        match_estimate_text(from_other_side(row))
        == "0 %, < -34 Elo (95 %) for openings like these, K = 5"
    )


def test_a_thousand_to_nothing():
    row = matchup(range(500), [1] * 500, [1] * 500)
    assert match_estimate_text(row) == "100 %, > +888 Elo (95 %) for openings like these, K = 500"
    lost = matchup(range(500), [0] * 500, [0] * 500)
    assert match_estimate_text(lost) == "0 %, < -888 Elo (95 %) for openings like these, K = 500"


def test_a_thousand_to_nothing_in_two_distinct_games():
    row = matchup([0] * 500, [1] * 500, [1] * 500, games=(["a"] * 500, ["b"] * 500))
    assert match_estimate_text(row).endswith(
        "; 1 opening, 2 distinct games: no inference; "
        "no game varied in 998 repeats: at most 0.3 % do"
    )


def test_all_games_but_one():
    row = matchup(range(500), [1] * 500, [1] * 499 + [0])
    assert match_estimate_text(row) == (
        "99.9 % [99.3, 100.0], +1200 [+872, +1845] Elo for openings like these  n=1000 (n_eff 500)"
    )


@pytest.mark.parametrize("scores", [(0.5, 0.5), (1, 0)])
def test_all_draws_or_all_split(scores):
    row = matchup(range(500), [scores[0]] * 500, [scores[1]] * 500)
    assert (
        match_estimate_text(row).partition("], ")[2].startswith("0 ± 2.6 Elo, all pairings alike")
    )
    assert row.normalized.value is None
    assert row.superiority is None


def test_all_a_win_and_a_draw():
    row = matchup(range(500), [1] * 500, [0.5] * 500)
    assert match_estimate_text(row).partition("], ")[2].startswith("+191 [+185, +193] Elo, all")
    assert row.normalized.value is None


def test_identical_deterministic_bots():
    row = matchup(range(500), [1] * 500, [0] * 500, census=True)
    assert match_estimate_text(row) == "50.0 %, exactly 0 on these openings (census)"
    assert row.superiority is None


def test_a_census_without_a_loss():
    row = matchup(range(12), [1] * 12, [1] * 12, census=True)
    assert match_estimate_text(row) == "100 %, won or lost every game of these openings (census)"


def test_a_test_with_empty_cells_has_a_finite_ratio_and_no_early_verdict():
    plan = SprtPlan(0, 200)
    early = sprt_text(plan, update_sprt(plan, begin(plan), [1.0] * 9))
    assert "no verdict below 10 openings" in early
    assert "K = 9" in early
    for score in (0.5, 1.0):
        assert believable(sprt_text(plan, update_sprt(plan, begin(plan), [score] * 1000)))


def test_openings_used_up():
    plan = SprtPlan(0, 10)
    state = update_sprt(plan, begin(plan), [0.5, 0.75] * 20)
    assert sprt_text(plan, state).startswith("LLR ")
    assert sprt_text(plan, finish_sprt(state)) == "undecided, 40 openings used"


def test_a_decided_test_says_what_was_accepted():
    plan = SprtPlan(0, 60)
    won = update_sprt(plan, begin(plan), [1.0, 0.5] * 500)
    lost = update_sprt(plan, begin(plan), [0.0, 0.5] * 500)
    assert sprt_text(plan, won).startswith("accepted 60: LLR ")
    assert sprt_text(plan, lost).startswith("accepted 0: LLR ")
    assert sprt_text(plan, won).endswith("bounds [0, 60] logistic Elo")
    assert elo_text(uncorrected_estimate(won)).endswith("Elo sprt")
    assert elo_text(corrected_estimate(plan, won)).endswith("sprt")


def test_one_perfect_agent_among_three():
    rows = [["A", "B", 25, 0, 0], ["A", "C", 25, 0, 0], ["B", "A", 0, 0, 25], ["C", "A", 0, 0, 25]]
    rows += [["B", "C", 15, 0, 10], ["C", "B", 14, 0, 11]]
    lines = table_of(rows, "ABC", openings=25)
    assert any(line.startswith("B  ") and "[" in line for line in lines)
    assert all(believable(line) for line in lines)


def test_two_islands():
    lines = table_of(SETS["disconnected_two_islands"]["results"], "ABCD")
    assert "group 1 of 2: A, B" in lines
    assert "group 2 of 2: C, D" in lines
    assert lines[-1] == "2 groups that never met: not comparable"


def test_all_draws_in_a_pool():
    rows = [[a, b, 0, 20, 0] for a in "ABC" for b in "ABC" if a != b]
    lines = table_of(rows, "ABC", openings=20)
    # Twenty openings alike leave 17 % that may be otherwise: half of that in points.
    assert sum("  0 ± 60  " in line for line in lines) == 3
    assert all(believable(line) for line in lines)


def test_the_first_mover_wins_every_game():
    rows = [[a, b, 12, 0, 0] for a in "ABC" for b in "ABC" if a != b]
    lines = table_of(rows, "ABC", openings=12)
    assert lines[-1] == (
        "first mover won all 72, worth > +218 Elo; ratings without first-move term"
    )
    lost = [[a, b, 0, 0, 12] for a, b, *_ in rows]
    assert table_of(lost, "ABC")[-1].startswith("second mover won all 72, worth < -")


def test_sides_never_changed():
    lines = table_of([["A", "B", 20, 0, 10]], "AB")
    assert lines[-1].startswith("first-move advantage cannot be told from strength;")


def test_a_census_of_ratings():
    lines = table_of(SETS["rr4_draws"]["results"], "ABCD", census=True, openings=50)
    assert lines[0].startswith("A  +96 (exact for this opening set)")


def test_ratings_with_errors_and_an_anchor():
    lines = table_of(SETS["rr4_draws"]["results"], "ABCD", anchor=3)
    assert lines[0].startswith("A  +218 [+")
    assert lines[3].startswith("D  0 (anchor)")
    assert lines[4].startswith("first move +2 [")


def test_a_rating_may_be_bounded_on_one_side_or_on_none():
    assert rating_text(Estimate(61.4, 20.9, None, 0.95, EstimateKind.FIXED)) == "+61, > +20"
    assert rating_text(Estimate(-61.4, None, -20.9, 0.95, EstimateKind.FIXED)) == "-61, < -20"
    assert rating_text(Estimate(-0.2, None, None, 0.95, EstimateKind.FIXED)) == "-0.2"
    assert rating_text(Estimate(None, None, None, 0.95, EstimateKind.NONE)) == NO_ANSWER


def test_an_ordinary_result_reads_as_the_issue_asks():
    rng = np.random.default_rng(11)
    openings = np.repeat(np.arange(412), 3)[:1000]
    scores = np.repeat(rng.choice(3, size=(412, 2), p=[0.3, 0.16, 0.54]) / 2, 3, axis=0)[:1000]
    row = matchup(openings, scores[:, 0], scores[:, 1])
    text = match_estimate_text(row)
    assert re.match(
        r"59.9 % \[56.3, 63.3\], \+69 \[\+44, \+95\] Elo for openings like these  n", text
    )
    assert "  n=2000 (n_eff 333); no game varied in" in text
    assert ", -69 [-95, -44] Elo" in match_estimate_text(from_other_side(row))


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
        "no bound on Elo (95 %): too few openings to bound anything"
    )


def test_checks_are_printed_with_their_bound():
    assert check_text(score_at_least(spread(range(3), [1.0] * 3), 0.5)) == (
        "vacuous: needs 10 openings, has 3"
    )
    assert check_text(score_at_least(spread(range(100), [1.0] * 100), 0.9)) == (
        "passed: at least 90.0 % wanted, score 100 %, bound 97.0 % (one-sided 95 % bound), K = 100"
    )


def test_small_numbers_are_never_rounded_to_nothing():
    assert signed_text(-0.3) == "0"
    assert signed_text(-0.3, 1) == "-0.3"
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
def test_nothing_unbelievable_is_ever_printed(pairings, census):
    columns = list(zip(*pairings, strict=True)) or [[], [], []]
    row = matchup(*columns, census=census)
    for side in (row, from_other_side(row)):
        texts = [match_estimate_text(side), score_text(side.score), elo_text(side.elo)]
        texts += [elo_text(side.normalized), score_text(side.first_mover)]
        assert all(believable(text) for text in texts)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 2)), max_size=40))
def test_no_rating_table_prints_anything_unbelievable(games):
    rows = []
    for first, offset, result in games:
        counts = [int(result == kind) for kind in (2, 1, 0)]
        rows.append(["ABCD"[first], "ABCD"[(first + offset) % 4], *counts])
    names = sorted({row[0] for row in rows} | {row[1] for row in rows})
    if rows:
        lines = table_of(rows, names, draws=100, openings=None)
        assert all(believable(line) for line in lines)


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
