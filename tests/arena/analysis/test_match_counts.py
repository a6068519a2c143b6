"""Matches counted from pieces of games, against a naive count of the whole table."""

import contextlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.analysis import duplicates as repeated
from arena.analysis import evidence as evidence_module
from arena.analysis import match_counts
from arena.analysis.checks.registry import verdicts
from arena.analysis.checks.score_at_least import first_score_per_opening
from arena.analysis.evidence import evidence_of, pair_scores_of
from arena.analysis.summary import summarise
from arena.planning.games import COLUMNS, Termination, rechunk_games, slice_games
from tests.arena.analysis.naive import whole_table
from tests.arena.played import columns, experiment

AGENTS = ("a", "b", "c")
ENDS = [Termination.NORMAL] * 6 + [Termination.RAISED, Termination.TOO_LONG, Termination.RESIGNED]
ASKED = experiment(
    AGENTS,
    {"that": "a beats b", "always": True},
    {"that": "b beats a", "score_at_least": 0.4},
    {"that": "b beats c", "score_at_least": 0.4, "of": "these", "looks": "many"},
    {"that": "all", "no_forfeits": True},
    {"that": "all", "max_seconds": 0.01, "per": "game"},
    {"that": "all", "max_seconds": 0.01, "per": "mean move"},
)


@st.composite
def journals(draw):
    """Rows of games of three agents on few openings, some of them played before."""
    rng, rows = np.random.default_rng(draw(st.integers(0, 2**32))), []
    deterministic = draw(st.booleans())
    for pair in range(draw(st.integers(1, 40))):
        a, b = sorted(rng.choice(3, 2, replace=False).tolist(), reverse=bool(rng.integers(2)))
        opening, number = int(rng.integers(4)), int(rng.integers(1 if deterministic else 3))
        for leg, (first, second) in enumerate(((a, b), (b, a))):
            key = 1000 * first + 100 * second + 10 * opening + number
            if {first, second} == {0, 1}:  # both games of a pairing alike
                key = 10 * opening + number
            own = np.random.default_rng(key)  # the same game ends in the same way
            rows.append({
                "pair": pair, "leg": leg, "opening": opening, "first": first, "second": second,
                "first_side": opening % 2,
                "seed": pair, "game_id": key, "result": int(own.integers(3)),
                "margin": int(own.integers(-9, 10)), "plies": int(own.integers(10, 40)),
                "termination": int(own.choice(ENDS)), "first_moves": 5, "second_moves": 6,
                "first_nanoseconds": int(rng.integers(10**7)),
                "second_nanoseconds": int(rng.integers(2 * 10**7)),
            })  # fmt: skip
    return rows


@contextlib.contextmanager
def smaller():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeated, "KEYS_AT_ONCE", 8)
        patch.setattr(match_counts, "FEWEST_WAITING", 3)
        patch.setattr(evidence_module, "rechunk_games", lambda parts: rechunk_games(parts, 6))
        yield


@pytest.fixture
def little_at_once():
    with smaller():
        yield


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(journals())
def test_a_match_has_the_pairings_of_the_whole_table(little_at_once, rows):
    games = columns(rows)
    evidence = evidence_of(ASKED.plan, lambda: [games])
    expected = whole_table.matches(rows)
    assert evidence.repeat.tolist() == whole_table.repeats(rows)
    assert evidence.duplicates == sum(whole_table.duplicates(rows))
    assert [(match.a, match.b) for match in evidence.matches] == list(expected)
    for match, pairings in zip(evidence.matches, expected.values(), strict=True):
        assert counted(match, match.times) == tallied(pairings)
        assert counted(match, match.evidence_times) == tallied(whole_table.fresh(pairings))
        assert match.distinct_games == sum(each["new"] for each in pairings)
        lost, won = (sum(sum(each[name]) for each in pairings) for name in ("lost", "won"))
        assert match.forfeits == (lost, won)
        for name in ("margin", "mover_margin", "normal_games", "identical_pairs"):
            assert getattr(match, name) == sum(each[name] for each in pairings)
        assert match.wins == sum(each["points"].count(2) for each in pairings)
        first = {each["opening"]: sum(each["points"]) / 4 for each in reversed(pairings)}
        assert first_score_per_opening(match).tolist() == [
            score for _, score in sorted(first.items())
        ]
        for fair in (False, True):
            scores = np.concatenate(list(pair_scores_of(evidence, match, fair)))
            own = [each for each in pairings if each["fair"] or not fair]
            assert scores.tolist() == [sum(each["points"]) / 4 for each in own]


def counted(match, times):
    halves = zip(match.half_first.tolist(), match.half_second.tolist(), strict=True)
    ways = zip(match.openings.tolist(), halves, match.fair.tolist(), strict=True)
    found = Counter()
    for way, often in zip(ways, times.tolist(), strict=True):
        found[way] += often
    return +found


def tallied(pairings):
    return Counter((each["opening"], each["points"], each["fair"]) for each in pairings)


def whole_and_parted(rows, pairings):
    """The evidence of the same games at once, and of pieces so small that all happens twice."""
    games = columns(rows, traces=dict.fromkeys(range(0, len(rows), 7), "died"))
    size = 2 * pairings
    yield evidence_of(ASKED.plan, lambda: [games])
    with smaller():
        yield evidence_of(
            ASKED.plan,
            lambda: (slice_games(games, at, at + size) for at in range(0, len(games), size)),
        )


@settings(max_examples=12)
@given(journals(), st.integers(1, 20))
def test_how_games_are_cut_leaves_no_trace(rows, pairings):
    whole, parted = whole_and_parted(rows, pairings)
    assert np.array_equal(parted.repeat, whole.repeat)
    assert (parted.timings, parted.faulty) == (whole.timings, whole.faulty)
    for one, other in zip(parted.matches, whole.matches, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            assert np.array_equal(mine, theirs)


def test_what_differed_once_differs_however_often_it_is_piled():
    def pile(*keys, differ=False):
        columns = [np.array(keys, np.int64)] * 3 + [np.array(keys, np.uint64)] * 2
        return match_counts.PairRows(*columns, np.full(len(keys), differ))

    piled = match_counts._merge_rows([pile(1, 2, differ=True), pile(1, 3)])
    assert match_counts._merge_rows([piled, pile(2, 3)]).differ.tolist() == [True, True, False]


@pytest.mark.slow
@settings(max_examples=30)
@given(journals(), st.integers(1, 20))
def test_how_games_are_cut_leaves_no_trace_in_summary_and_verdicts(rows, pairings):
    found = []
    for evidence in whole_and_parted(rows, pairings):
        asked = replace(evidence, replay=lambda row, _: [row % 6])
        found.append((verdicts(ASKED.checks, asked), summarise(asked, draws=0)))
    assert found[0] == found[1]


@pytest.mark.parametrize("size", [1, 3, 8, 9])
def test_repeats_are_found_in_shares_as_in_one(size, monkeypatch):
    rng = np.random.default_rng(3)
    table = {name: np.zeros(40, kind) for name, kind in COLUMNS.items()}
    table["game_id"] = rng.choice(rng.integers(0, 2**63, 15), 40).astype(np.uint64)
    games = match_counts.Games(table, None, {})
    expected = repeated.flag_repeats([games], repeated.repeat_keys)
    monkeypatch.setattr(repeated, "KEYS_AT_ONCE", size)
    parts = [slice_games(games, at, at + 7) for at in range(0, 40, 7)]
    assert repeated.flag_repeats(parts, repeated.repeat_keys).tolist() == expected.tolist()
    assert 0 < expected.sum() < 40
