"""The answer on top of a page, where a verdict changes what is asked."""

import json
import re
from dataclasses import replace

from arena.report.answer import make_answer
from arena.report.data import load_report
from arena.report.games import games_json


def test_games_that_could_not_be_won_are_shown_and_no_failure(finished_run):
    report = load_report(finished_run("two"))
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
