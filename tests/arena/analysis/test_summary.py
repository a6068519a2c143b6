"""Summaries: repeats, forfeits, ratings, census, sequential tests and their texts."""

import itertools
import math
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.analysis import duplicates
from arena.analysis.duplicates import duplicate_keys, flag_repeats, repeat_keys
from arena.analysis.evidence import evidence_of
from arena.analysis.standings import rating_data_of_matches
from arena.analysis.summary import summarise
from arena.analysis.tables import elo_rows, win_rate_rows
from arena.planning.games import COLUMNS, Games
from arena.stats.counts import Wdl
from arena.stats.estimate import EstimateKind
from arena.stats.match_estimate import estimate_match
from arena.stats.rating_data import rating_data
from arena.stats.sprt import Decision, SprtPlan, start_sprt, update_sprt
from arena.stats.sprt_estimates import naive_estimate
from arena.stats.text import NO_ANSWER, match_estimate_text
from tests.arena.played import FORFEIT, experiment, games_by_hand, summarise_games

TWO = experiment(["smart", "bad"]).plan
THREE = experiment(["a", "b", "c"]).plan
FORBIDDEN = ("nan", "inf", "-0.0", "-0 ", "± 0 ", "± 0.0", "1199")


def replayed(letters, pairings, openings=1):
    """A deterministic pair that plays the same two games whenever an opening comes again."""
    return [(o, letters, 10 + 2 * o, 11 + 2 * o) for o in (n % openings for n in range(pairings))]


def pair_of(summary, agent, opponent):
    return next(r for r in summary.win_rates if (r.agent, r.opponent) == (agent, opponent))


def test_both_sides_of_a_pair_stand_together_wherever_one_looks():
    rates = summarise_games(
        games_by_hand((0, 1, [(0, "WL", 1, 2)]), (0, 2, [(0, "WW", 3, 4)])), THREE
    ).win_rates
    met = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a")]
    assert [(each.agent, each.opponent) for each in rates] == met
    assert len(rates) == len([*rates]) == 4
    assert [each.row.score.value for each in rates] == [0.5, 0.5, 1.0, 0.0]


# Repeats.


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=40))
def test_a_repeat_is_a_game_that_the_same_seats_played_before(pairings):
    games = games_by_hand((0, 1, [(0, "WW", one, other) for one, other in pairings]))
    seen, expected = set(), []
    for key in zip(games.game_id, games.first, games.second, strict=True):
        expected.append(key in seen)
        seen.add(key)
    assert flag_repeats([games], repeat_keys).tolist() == expected


def test_the_same_game_between_other_agents_or_in_other_seats_is_no_repeat():
    games = games_by_hand((0, 1, [(0, "WW", 5, 5)]), (0, 2, [(0, "WW", 5, 5)]))
    assert not flag_repeats([games], repeat_keys).any()
    assert flag_repeats([games], duplicate_keys).tolist() == [False, True, False, True]


def test_an_opening_that_continues_another_is_no_opening_played_again():
    """The shorter opening leads both agents into the games of the longer one."""
    openings = [(n, "WL" if n % 3 else "WW", 10 * (n // 2), 10 * (n // 2) + 1) for n in range(24)]
    openings = [(n, openings[n // 2 * 2][1], *ids) for n, _, *ids in openings]
    summary = summarise_games(games_by_hand((0, 1, openings)), TWO, census=[("smart", "bad")])
    row = pair_of(summary, "smart", "bad")
    assert not summary.notes
    assert (row.evidence_games, row.row.counts.openings) == (48, 24)
    assert {each.openings for each in summary.ratings} == {24}
    assert row.row.score.kind is EstimateKind.CENSUS
    assert row.row.score.value == row.row.counts.score
    assert (summary.distinct_games, summary.duplicates) == (24, 24)


def test_few_repeats_among_more_games_than_are_looked_at_at_once_are_found(monkeypatch):
    monkeypatch.setattr(duplicates, "KEYS_AT_ONCE", 1 << 15)
    rng, size = np.random.default_rng(1), 4 << 15
    columns = {name: np.zeros(size, kind) for name, kind in COLUMNS.items()}
    columns["game_id"] = rng.integers(0, 2**63, size).astype(np.uint64)
    columns["game_id"][80_000:80_100] = columns["game_id"][:100]
    found = flag_repeats([Games(columns, None, {})], repeat_keys)
    assert np.flatnonzero(found).tolist() == list(range(80_000, 80_100))


def test_a_deterministic_pair_replayed_is_counted_once_for_each_opening():
    pairings = replayed("WL", 500, openings=4) + replayed("WW", 500, openings=8)[4:8]
    summary = summarise_games(games_by_hand((0, 1, pairings)), TWO)
    row = pair_of(summary, "smart", "bad")
    assert (row.row.counts.games, row.row.counts.distinct_games, row.evidence_games) == (
        1008,
        16,
        16,
    )
    assert row.row.answer.effective_pairs == 8
    assert row.row.score.value == 0.75
    assert row.row.counts.largest_multiplicity == 125


def test_an_agents_effective_size_is_that_of_its_only_match():
    pairings = [(n % 40, "WL" if n % 3 else "WW") for n in range(120)]
    summary = summarise_games(games_by_hand((0, 1, pairings)), TWO)
    (found,) = {row.n_eff for row in elo_rows(summary)}
    assert found == pytest.approx(pair_of(summary, "smart", "bad").row.answer.effective_pairs)


def test_opponents_on_the_same_openings_are_no_new_openings():
    luck = [(n, ("LL", "WL", "WW")[n % 3]) for n in range(60)]
    alone = summarise_games(games_by_hand((0, 1, luck)), THREE)
    shared = summarise_games(games_by_hand((0, 1, luck), (0, 2, luck)), THREE)
    apart = [(n + 60, letters) for n, letters in luck]
    fresh = summarise_games(games_by_hand((0, 1, luck), (0, 2, apart)), THREE)
    sizes = {
        name: next(row for row in elo_rows(each) if row.agent == "a").n_eff
        for name, each in (("alone", alone), ("shared", shared), ("fresh", fresh))
    }
    assert sizes["shared"] == pytest.approx(sizes["alone"], rel=0.02)
    assert sizes["fresh"] == pytest.approx(2 * sizes["alone"], rel=0.02)


def test_a_pair_that_ever_varied_is_counted_whole():
    pairings = [*replayed("WL", 20, openings=10), (3, "WW", 900, 901)]
    summary = summarise_games(games_by_hand((0, 1, pairings)), TWO)
    row = pair_of(summary, "smart", "bad")
    assert row.evidence_games == 42
    assert row.row.counts.distinct_games == 22
    assert row.row.score.value == pytest.approx(22 / 42)


def test_games_that_differ_and_end_alike_have_varied():
    pairings = [
        (opening, "WL", 10 * opening, 10 * opening + time) for opening in (1, 2) for time in (1, 2)
    ]
    row = pair_of(summarise_games(games_by_hand((0, 1, pairings)), TWO), "smart", "bad").row
    assert row.these.score.reason == "all pairs alike"  # and not: no game varied


def test_a_pairing_with_one_new_game_is_evidence():
    summary = summarise_games(games_by_hand((0, 1, [(0, "WW", 5, 6), (1, "WL", 5, 7)])), TWO)
    assert pair_of(summary, "smart", "bad").evidence_games == 4


# Degenerate cases: the table of the reference, section 8.


def test_no_games():
    summary = summarise_games(games_by_hand(), TWO)
    assert (summary.games, len(summary.win_rates)) == (0, 0)
    assert summary.first_mover.reason == "no games"
    assert [row.text for row in summary.ratings] == [NO_ANSWER, NO_ANSWER]


def test_a_census_needs_more_than_one_opening():
    games = games_by_hand((0, 1, replayed("WW", 1)))
    summary = summarise_games(games, TWO, census=[("smart", "bad")])
    assert pair_of(summary, "smart", "bad").row.score.kind is EstimateKind.NONE


def test_a_census_is_refused_to_a_pair_that_varied():
    games = games_by_hand((0, 1, [*replayed("WL", 12, openings=12), (0, "WW", 900, 901)]))
    summary = summarise_games(games, TWO, census=[("smart", "bad")])
    assert pair_of(summary, "smart", "bad").row.score.kind is EstimateKind.FIXED


def test_ratings_of_a_census_are_exact():
    letters = ["WL", "WW", "LW", "WL", "DD", "LL", "WD", "WL", "WL", "LW"]
    pairings = [(o, word, 2 * o, 2 * o + 1) for o, word in enumerate(letters)]
    summary = summarise_games(games_by_hand((0, 1, pairings)), TWO, census=[("smart", "bad")])
    assert {row.elo.kind for row in summary.ratings} == {EstimateKind.CENSUS}
    assert summary.ratings[0].text.endswith("(exact for this opening set)")


# Counts.


def test_results_are_counted_by_seat_from_both_sides():
    summary = summarise_games(
        games_by_hand((0, 1, [(0, "WL"), (1, "WD"), (2, "DW"), (3, "LL")])), TWO
    )
    row, other = (pair_of(summary, *names) for names in (("smart", "bad"), ("bad", "smart")))
    assert (row.row.counts.first, row.row.counts.second) == (Wdl(2, 1, 1), Wdl(1, 1, 2))
    assert (other.row.counts.first, other.row.counts.second) == (Wdl(2, 1, 1), Wdl(1, 1, 2))
    assert (row.row.score.value, other.row.score.value) == (0.5, 0.5)


def test_the_order_of_agents_in_a_pairing_does_not_matter():
    there = summarise_games(games_by_hand((0, 1, [(0, "WL"), (1, "WD")])), TWO)
    back = summarise_games(games_by_hand((1, 0, [(0, "WL"), (1, "DL")])), TWO)
    assert [r.row.counts for r in there.win_rates] == [r.row.counts for r in back.win_rates]


def test_forfeits_are_losses_and_are_counted_apart():
    games = games_by_hand(
        (0, 1, [(0, "WL"), (1, "LW")]), faults={0: FORFEIT, 2: FORFEIT, 3: FORFEIT}
    )
    summary = summarise_games(games, TWO)
    row = pair_of(summary, "smart", "bad")
    # Row 0: bad lost as second; row 2: smart lost as first; row 3: bad lost as first.
    assert (row.forfeits, row.opponent_forfeits, summary.forfeits) == (1, 2, 3)
    assert row.row.score.value == 0.5
    assert {rated.agent: rated.forfeits for rated in summary.ratings} == {"smart": 1, "bad": 2}


def test_half_a_pairing_is_refused():
    games = games_by_hand((0, 1, [(0, "WW"), (1, "WW")]))
    half = Games({name: column[:3] for name, column in games.columns.items()}, None, {})
    with pytest.raises(ValueError, match="both games of a pair must follow each other"):
        evidence_of(TWO, lambda: [half])


def test_a_row_is_what_the_statistics_say_of_the_same_pairings():
    rng = np.random.default_rng(4)
    letters = rng.choice(list("WDL"), (60, 2))
    pairings = [(n % 30, "".join(two)) for n, two in enumerate(letters)]
    row = pair_of(summarise_games(games_by_hand((0, 1, pairings)), TWO), "smart", "bad")
    points = {"W": 1.0, "D": 0.5, "L": 0.0}
    scores = ([points[word[seat]] for _, word in pairings] for seat in (0, 1))
    expected = estimate_match([o for o, _ in pairings], *scores)
    assert (row.row.score, row.row.elo) == (expected.score, expected.elo)
    assert row.text == match_estimate_text(expected)


# Ratings.


def round_robin(strengths, pairings=40, seed=5):
    """A round robin with known strengths, no draws."""
    rng, found = np.random.default_rng(seed), []
    for a in range(len(strengths)):
        for b in range(a + 1, len(strengths)):
            chance = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
            won = rng.random((pairings, 2)) < chance
            letters = ["".join("LW"[int(w)] for w in two) for two in won]
            found.append((a, b, list(enumerate(letters))))
    return games_by_hand(*found)


def test_ratings_are_ordered_and_near_the_truth():
    summary = summarise_games(round_robin([100, 0, -100], pairings=400), THREE)
    assert [row.agent for row in summary.ratings] == ["a", "b", "c"]
    for row, true in zip(summary.ratings, (100, 0, -100), strict=True):
        assert row.elo.value == pytest.approx(true, abs=25)
        assert row.elo.low < row.elo.value < row.elo.high


def test_results_are_those_of_the_single_games():
    games = games_by_hand(*random_matches(3))
    found = evidence_of(THREE, lambda: [games]).matches
    scores = games.result / 2
    expected = rating_data(games.first, games.second, scores, games.opening, 3)
    made = rating_data_of_matches(found, 3)
    assert (made.agents, made.openings) == (expected.agents, expected.openings)
    for name in ("opening", "pair", "games", "points", "drawn"):
        assert getattr(made, name).tolist() == getattr(expected, name).tolist()
    blocked = rating_data(games.first, games.second, scores, games.opening % 7, 3)
    assert rating_data_of_matches(found, 3, 7).points.tolist() == blocked.points.tolist()


def random_matches(agents):
    rng = np.random.default_rng(8)
    for a in range(agents):
        for b in range(a + 1, agents):
            yield (
                a,
                b,
                [
                    (int(rng.integers(30)) + 5, "".join(rng.choice(list("WDL"), 2)))
                    for _ in range(40)
                ],
            )


def test_an_unbeaten_agent_is_rated_apart():
    middle = [(o, "WL" if o % 2 else "LL") for o in range(20)] + [(20, "WW"), (21, "LW")]
    won = [(o, "WW") for o in range(20)]
    summary = summarise_games(games_by_hand((0, 1, won), (0, 2, won), (1, 2, middle)), THREE)
    assert [group.agents for group in summary.groups] == [("a",), ("b", "c")]
    assert summary.ratings[0].text.startswith("> +")


def test_many_openings_are_drawn_in_blocks_with_the_same_errors(monkeypatch):
    games = round_robin([60, 0], pairings=4000)
    exact = summarise_games(games, TWO).ratings[0]
    monkeypatch.setattr("arena.analysis.standings.BLOCKS", 500)
    blocked = summarise_games(games, TWO).ratings[0]
    assert blocked.elo.value == pytest.approx(exact.elo.value, abs=1e-6)
    width, expected = blocked.elo.high - blocked.elo.low, exact.elo.high - exact.elo.low
    assert width == pytest.approx(expected, rel=0.25)
    assert blocked.openings == 4000


# A sequential test.


def test_after_a_sequential_test_every_estimate_says_so():
    plan = SprtPlan(0.0, 50.0)
    letters = ["WW", "WL", "WW", "WL", "WD"] * 40
    points = {"W": 1.0, "D": 0.5, "L": 0.0}
    state = update_sprt(
        plan, start_sprt(plan), [sum(points[p] for p in two) / 2 for two in letters]
    )
    assert state.decision is Decision.ELO1
    pairings = list(enumerate(letters))[: state.observations]
    summary = summarise_games(games_by_hand((0, 1, pairings)), TWO, stop=plan, stop_state=state)
    assert summary.stop.text.startswith("smart against bad: accepted 50: LLR ")
    assert 0 < summary.stop.corrected.value < summary.stop.raw.value
    row = pair_of(summary, "smart", "bad")
    assert (row.row.score.kind, row.row.elo.kind) == (EstimateKind.SPRT, EstimateKind.SPRT)
    assert row.text.endswith(", raw")
    assert {rated.elo.kind for rated in summary.ratings} == {EstimateKind.SPRT}
    # One raw interval, wherever it is shown.
    assert summary.stop.raw == row.row.elo
    assert naive_estimate(state) == row.row.elo


# Everything at once.


def numbers(value):
    """All numbers in a nest of dataclasses, tuples and named tuples."""
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, tuple | list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, int | float) else []


@given(
    st.lists(
        st.tuples(
            st.sampled_from([(0, 1), (0, 2), (1, 2)]),
            st.integers(0, 3),
            st.text("WDL", min_size=2, max_size=2),
            st.integers(0, 2),
        ),
        max_size=25,
    )
)
@settings(max_examples=10)
def test_whatever_was_played_is_summed_up_in_finite_numbers(pairings):
    found = [(a, b, [(o, letters, g, g + 9)]) for (a, b), o, letters, g in pairings]
    summary = summarise_games(games_by_hand(*found), THREE, draws=0)
    assert all(math.isfinite(number) for number in numbers(summary))
    texts = [row.text for row in (*summary.win_rates, *summary.ratings)]
    assert not any(
        word in f"{text} ".replace("inference", "") for text in texts for word in FORBIDDEN
    )
    for row in (*elo_rows(summary), *win_rate_rows(summary)):
        assert all(math.copysign(1, cell) > 0 for cell in row if cell == 0)


# Two questions: openings like these, exactly these openings.


def noisy(openings, turns):
    """Pairings of agents with chance, opening after opening, each game a new one."""
    letters = np.random.default_rng(4).choice(["WW", "WL", "LL"], size=(turns, openings))
    numbers = itertools.count(1)
    return [
        (opening, word, next(numbers), next(numbers))
        for row in letters.tolist()
        for opening, word in enumerate(row)
    ]


def test_both_questions_have_a_row_where_both_have_an_answer():
    summary = summarise_games(games_by_hand((0, 1, noisy(12, 40))), TWO)
    row = pair_of(summary, "smart", "bad")
    like, these = row.row.like.score, row.row.these.score
    assert (like.value, str(like.scope)) == (these.value, "openings like these")
    assert str(these.scope) == "exactly these openings"
    assert "for openings like these" in row.text
    assert "for exactly these 12 openings, 480 pairs" in row.text
    stored = next(each for each in win_rate_rows(summary) if each.agent == "smart")
    assert (stored.of, stored.score_low) == ("openings like these", round(like.low, 6))
    assert (stored.these_score_low, stored.these_interval) == (round(these.low, 6), "fixed-n")


def test_one_opening_of_noisy_agents_is_answered_for_exactly_this_opening():
    summary = summarise_games(games_by_hand((0, 1, noisy(1, 400))), TWO)
    row = pair_of(summary, "smart", "bad")
    assert row.row.like.score.kind is EstimateKind.NONE
    assert row.row.score.has_both_ends
    assert "for exactly this opening, 400 pairs" in row.text


def test_agents_known_to_leave_nothing_to_chance_are_exact_on_their_openings():
    games = games_by_hand((0, 1, [(o, "WW" if o % 3 else "WL") for o in range(30)]))
    plain = pair_of(summarise_games(games, TWO), "smart", "bad").row
    known = summarise(evidence_of(TWO, lambda: [games], deterministic=[("smart", "bad")]))
    steady = pair_of(known, "smart", "bad").row
    one = games_by_hand((0, 1, [(0, "WL", 1, 2)]))
    alone = pair_of(
        summarise(evidence_of(TWO, lambda: [one], deterministic=[("smart", "bad")])), "smart", "bad"
    )
    assert alone.text == "1 won, 0 drawn, 1 lost; one opening: no inference"
    assert plain.these is None
    assert steady.these.score.kind is EstimateKind.CENSUS
    assert steady.like.score == plain.like.score


def test_a_pair_that_was_known_to_be_without_chance_and_varied_is_said():
    games = games_by_hand((0, 1, [(0, "WL", 1, 2), (0, "WW", 3, 4)]))
    found = summarise(evidence_of(TWO, lambda: [games], deterministic=[("bad", "smart")]))
    assert found.notes == (
        "smart against bad: deterministic = true is contradicted: games on one opening differed; "
        "nothing of this pair is exact",
    )
    assert pair_of(found, "smart", "bad").row.these.score.kind is not EstimateKind.CENSUS
    assert summarise(evidence_of(TWO, lambda: [games])).notes == ()
