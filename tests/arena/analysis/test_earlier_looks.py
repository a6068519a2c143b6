"""Earlier runs of the same claim with fewer pairs are found in the results directory."""

import json

import pytest

from arena.analysis.run_evidence import EarlierLooks

VALUES = {"score_at_least": 0.6, "of": "like these", "confidence": 0.95}
PLAN = {
    "game": "kalah(6,4)",
    "seed": 1,
    "openings": {"way": "random", "random_plies": 6},
    "move_seconds": 60.0,
    "agents": {"smart": {"kind": "smart"}, "bad": {"kind": "random"}},
}


def run(results, name, pairs, finished="2026-11-01", values=VALUES, **plan):
    directory = results / name
    directory.mkdir()
    stored = {"plan": {**PLAN, "pairs": pairs, **plan}, "files": {}, "finished": finished}
    (directory / "run.json").write_text(json.dumps(stored))
    check = {"that": "smart beats bad", "test": "score_at_least", "values": values}
    checks = [{**check, "status": "holds", "detail": ""}]
    (directory / "summary.json").write_text(json.dumps({"checks": checks}))
    return directory


def looks(directory):
    return EarlierLooks(directory).count("smart beats bad", "score_at_least", VALUES)


def test_runs_with_fewer_pairs_of_the_same_games_are_earlier_looks(tmp_path):
    run(tmp_path, "a", 100)
    run(tmp_path, "b", 200)
    run(tmp_path, "b2", 200)  # the same games again: nothing new was seen
    own = run(tmp_path, "c", 300, finished=None)
    assert looks(own) == 2
    assert looks(tmp_path / "a") == 0


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 2},
        {"game": "owari"},
        {"openings": {"way": "none"}},
        {"agents": {**PLAN["agents"], "smart": {"kind": "smart", "depth": 9}}},
        {"values": {**VALUES, "score_at_least": 0.7}},
        {"values": {**VALUES, "of": "these"}},
        {"finished": None},
        {"finished": "2026-12-01"},
        {"pairs": 500},
    ],
    ids=str,
)
def test_other_games_or_other_claims_are_no_earlier_looks(tmp_path, other):
    run(tmp_path, "a", **{"pairs": 100, **other})
    assert looks(run(tmp_path, "b", 500, finished="2026-11-15")) == 0


def test_an_agent_more_or_less_makes_no_difference(tmp_path):
    run(tmp_path, "a", 100, agents={**PLAN["agents"], "third": {"kind": "greedy"}})
    assert looks(run(tmp_path, "b", 500)) == 1


def test_what_cannot_be_read_was_not_seen(tmp_path):
    (run(tmp_path, "a", 100) / "summary.json").write_text("[")
    (run(tmp_path, "b", 100) / "run.json").write_text("{}")
    (tmp_path / "note.txt").write_text("")
    assert looks(run(tmp_path, "c", 500)) == 0
