"""The answers and checks on a page."""

import json
import re
from dataclasses import replace

import pytest

from arena.report.answer import InseparableGroup, inseparable_groups, make_answer, round_openings
from arena.report.checks import checks_html
from arena.report.data import ReportData, load_report
from arena.report.figures import matrix
from arena.report.games import games_json
from arena.report.numbers import cell_ends, has_end, score_of
from tests.arena.report.pages import RUNS


@pytest.fixture(scope="module")
def reports(finished_run) -> dict[str, ReportData]:
    return {name: load_report(finished_run(name)) for name in RUNS}


def changed(report: ReportData, **values) -> ReportData:
    pairs = dict(report.pairs)
    for pair, row in pairs.items():
        own = values if pair[0] == report.agents[0] else {}
        pairs[pair] = row._replace(**own)
    return replace(report, pairs=pairs, summary={**report.summary, "checks": []})


@pytest.mark.parametrize(
    ("values", "headline", "sure"),
    [
        (
            {"score": 0.738, "score_low": 0.676, "score_high": 0.799, "elo": 180.0,
             "elo_low": 128.0, "elo_high": 239.0},
            "greedy is stronger: 73.8 % [67.6, 79.9], +180 Elo [+128, +239].",
            "The interval holds with 95\u00a0% confidence.",
        ),
        (
            {"score": 0.52, "score_low": 0.48, "score_high": 0.56, "openings": 100, "elo": 14.0,
             "elo_low": -14.0, "elo_high": 42.0},
            "greedy or random: these games do not separate them; greedy scored 52.0 % [48.0, "
            "56.0], +14 Elo [-14, +42].",
            "About 400 openings would show a difference of that size.",
        ),
        (
            {"score": 0.9995, "score_low": 0.993, "score_high": None, "elo_low": 860.4,
             "elo_high": None, "elo": None},
            "greedy is stronger: 99.95 %, > +860 Elo (95 %).",
            "More than 99.3\u00a0%, with 95\u00a0% confidence. There is no upper bound.",
        ),
    ],
)  # fmt: skip
def test_the_answer_of_a_match(reports, values, headline, sure):
    answer = make_answer(changed(reports["two"], **values))
    assert answer.headline == headline
    assert re.sub("<[^>]+>", "", answer.certainty) == sure


def test_the_answers_of_all_runs(reports):
    heads = {name: make_answer(reports[name]) for name in RUNS}
    assert re.match("(Yes|No): greedy won [0-9]+ of 40 games", heads["two"].headline)
    assert re.search("standing, not a measurement", heads["one_opening"].certainty)
    assert re.match("(Yes|No): after [0-9]+ games the test chose", heads["tested"].headline)
    assert "corrected for stopping" in heads["tested"].certainty
    assert re.search("forfeited [0-9]+ of its 48 games", heads["faults"].certainty)
    assert heads["three"].question == "Which of 3 agents is strongest at kalah(4,3)?"


def test_a_failed_claim_is_refuted_or_only_not_shown(reports):
    report = reports["three"]
    holds, fails, _ = report.checks
    assert f"{holds['status'].upper()}<" in checks_html(replace_checks(report, [holds]))
    row = report.pairs["greedy", "random"]
    found = {**fails["measured"], "wanted": 0.99, "score": 0.7, "bound": 0.55, "openings": 100}
    fails = {**fails, "status": "fails", "measured": found}
    words = checks_html(replace_checks(report, [fails]))
    assert ("Refuted: found" in words) == (row.elo_high is not None and row.elo_high < 798)
    found = {**found, "wanted": 0.6}
    words = checks_html(replace_checks(report, [{**fails, "measured": found}]))
    assert re.search("Not shown, not refuted: found .147, but 95\u00a0% sure of .35 only", words)
    assert re.search("about [0-9]+ openings would show it", words)


def replace_checks(report: ReportData, checks: list[dict]) -> ReportData:
    return replace(report, summary={**report.summary, "checks": checks})


def test_many_checks_start_with_failures_and_fold_the_rest(reports):
    holds = {**reports["three"].checks[0], "status": "holds"}
    fails = {**holds, "status": "fails"}
    words = checks_html(replace_checks(reports["three"], [holds] * 12 + [fails]))
    assert words.index("FAILS") < words.index("HOLDS")
    assert "8 more hold" in words


def test_round_openings():
    assert round_openings(2562.3) == 2600
    assert round_openings(7.2) == 8
    assert round_openings(100_001) is None


def test_a_decisive_match_splits_a_group(reports):
    report = reports["three"]
    even = {"score_low": 0.4, "score": 0.5, "score_high": 0.6, "interval": "fixed-n"}
    pairs = {pair: row._replace(**even) for pair, row in report.pairs.items()}
    assert inseparable_groups(replace(report, pairs=pairs)) == [InseparableGroup(0, 2)]
    top, _, last = report.agents
    pairs[last, top] = pairs[last, top]._replace(score_high=0.45)
    assert inseparable_groups(replace(report, pairs=pairs)) == [
        InseparableGroup(0, 1),
        InseparableGroup(1, 2),
    ]


def test_a_page_of_few_openings_has_the_intervals_of_the_tables(reports):
    few = {**reports["three"].summary, "openings": 6}
    unrated = tuple(
        row._replace(elo_low=None, elo_high=None, interval="none", why="no interval below 10")
        for row in reports["three"].ratings
    )
    report = replace(reports["three"], summary=few)
    assert not report.too_few_openings  # its ratings have intervals
    report = replace(report, ratings=unrated)
    assert report.too_few_openings
    row = report.matches()[0]
    assert has_end(score_of(row))
    words = matrix.matrix_figure(report)
    assert f'data-a="{row.agent}"' in words.body
    assert cell_ends(score_of(row)) in words.body
    assert "too few for inference" not in words.lead
    assert "not a measurement" not in make_answer(report).certainty


def test_games_that_could_not_be_won_are_no_failure(reports):
    report = reports["two"]
    check = {**report.checks[0], "status": "holds", "values": {"always": "winnable"}}
    won = replace(report, summary={**report.summary, "checks": [check]})
    answer = make_answer(won)
    assert answer.question.endswith("that can be won?")
    assert re.fullmatch(
        r"Yes: greedy won \d+ of 40 games, all that could be won\.", answer.headline
    )
    shown, failed = json.loads(games_json(won)), json.loads(games_json(report))
    assert shown["against"] == failed["against"] != []
    assert (shown["claim"], failed["claim"]) == ("Not won", "Against the claim")
