"""What tells experiments apart: the digest that binds a journal to its experiment."""

import json

import pytest

from tests.arena.reading.test_experiment import SMALL, loaded

CHANGES = ["seed=2", "pairs=3", "agents.a.depth=3", "game=owari", "openings={random_plies=4}"]


@pytest.mark.parametrize("change", [*CHANGES, "schedule={gauntlet='b'}", "keep_moves=false"])
def test_the_digest_tells_changed_experiments_apart(tmp_path, change):
    assert loaded(tmp_path, SMALL, change).plan.digest() != loaded(tmp_path, SMALL).plan.digest()


def test_the_digest_knows_neither_names_nor_checks_nor_how_it_is_written(tmp_path):
    plain = loaded(tmp_path, SMALL).plan.digest()
    check = '[[checks]]\nthat = "a beats b"\nalways = true\n'
    same = SMALL.replace("kalah", "Kalah(6, 4)").replace('"smart"', '"smart" # comment')
    assert loaded(tmp_path, f'name = "other"\npairs = 100\n{same}{check}').plan.digest() == plain
    (tmp_path / "elsewhere").mkdir()
    assert loaded(tmp_path / "elsewhere", SMALL).plan.digest() == plain


def test_the_digest_knows_the_users_code_and_weights(tmp_path):
    text = SMALL + 'agents.a.weights = "w.toml"\n[agents.c]\nkind = "python"\nfile = "b.py"\n'
    digests = set()
    for pot, code in ((1, "a = 1\n"), (2, "a = 1\n"), (2, "a = 2\n")):
        (tmp_path / "w.toml").write_text(f"pot = {pot}\n")
        (tmp_path / "b.py").write_text(code)
        digests.add(loaded(tmp_path, text).plan.digest())
    assert len(digests) == 3


def test_a_plan_is_json(tmp_path):
    (tmp_path / "b.py").write_text("")
    text = SMALL + '[agents.c]\nkind = "python"\nfile = "b.py"\noptions = { day = 2026-01-02 }\n'
    said = loaded(tmp_path, text).plan.to_json()
    assert json.loads(json.dumps(said)) == said
    assert said["agents"]["c"]["options"] == {"day": "2026-01-02"}
    assert said["matches"] == [["a", "b"], ["a", "c"], ["b", "c"]]
