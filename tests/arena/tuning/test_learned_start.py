"""Searches that begin at fitted weights."""

import pytest

from arena.commands.tune import main
from arena.config.toml_file import ExperimentError
from arena.tuning import learned_start
from arena.tuning.learned_start import scale_of, within
from arena.tuning.study_config import load_tuning
from tests.arena.tuning.test_tune_file import GOOD

SMALL = GOOD.replace("trials = 20", "trials = 10").replace(
    "[tune.weights]", 'start = "learned"\nvalidation = { elo1 = 100, pairs = 60 }\n[tune.weights]'
)


def loaded(tmp_path, text):
    path = tmp_path / "tune_test.toml"
    path.write_text(text)
    return load_tuning(path)


def test_a_fixed_weight_sets_the_scale_and_ranges_cut(tmp_path):
    tuning = loaded(tmp_path, SMALL)
    ((fixed, (number,)),) = [(n, v) for n, v in tuning.space.fixed.items() if v[0]][:1]
    learned = {axis.name: (1e6,) for axis in tuning.space.axes} | {fixed: (2.0 * number,)}
    assert scale_of(tuning, learned) == 0.5
    assert within(tuning, learned) == {axis.name: axis.high for axis in tuning.space.axes}


def test_a_study_begins_with_games_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(learned_start, "GAMES", 300)  # enough for weights, whatever these are
    path = tmp_path / "tune_test.toml"
    path.write_text(SMALL)
    assert main([str(path), "--results", str(tmp_path / "r"), "--quiet", "--backend", "here"]) == 0
    (directory,) = (tmp_path / "r" / "tune_test").glob("tune-??????????")
    assert (directory / "start" / "round-1" / "journal.sqlite").exists()


def test_an_agent_of_learned_tables_is_not_tuned(tmp_path):
    text = SMALL.replace('kind = "alphabeta"', 'kind = "alphabeta"', 1)
    with pytest.raises(ExperimentError, match="start must be"):
        loaded(tmp_path, text.replace('"learned"', '"learnt"'))
