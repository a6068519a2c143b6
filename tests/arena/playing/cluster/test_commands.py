"""Every command that plays, on a cluster of this machine: the same bytes as in one process."""

import csv

import pytest

from games.base.errors import OK
from tests.arena.learning.test_learn import written as learn_file
from tests.arena.pipeline.test_class import put
from tests.arena.playing.test_races import RACES, all_tables, race_file
from tests.arena.running import run_experiment_file, tables
from tests.arena.test_versus import TEXT, committed, git, mine  # noqa: F401  # two fixtures
from tests.commands import class_, learn, run, versus

pytestmark = pytest.mark.slow  # each begins a cluster of its own: seconds
ON = ["--cluster", "local:2"]


@pytest.mark.parametrize("name", [name for name in RACES if name != "best"])
def test_schedule_by_rounds_has_the_same_tables(tmp_path, name):
    path = race_file(tmp_path, RACES[name])
    run_experiment_file(path, tmp_path / "here", workers=0)
    assert run([str(path), "--results", str(tmp_path / "there"), "--quiet", *ON]) == OK
    assert all_tables(tmp_path / "there") == all_tables(tmp_path / "here")


def test_versus_stops_at_the_same_game(mine, capsys):  # noqa: F811  # the fixture
    mine.write_text(TEXT.format(depth=5))
    words = [str(mine), "--base", "HEAD~2", "--elo1", "100", "--pairs", "200", "--cache", "off"]
    said = []
    for results, more in (("here", ["--workers", "0"]), ("there", ON)):
        assert versus([*words, "--results", str(mine.parent / results), *more]) == OK
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert tables(mine.parent / "there") == tables(mine.parent / "here")


def test_class_has_the_same_grades(tmp_path):
    put(tmp_path / "bots", anna="legal[0]", ben="legal[-1]", cleo="legal[1 % len(legal)]")
    kept = []
    for name, more in (("here", ["--workers", "1"]), ("there", ON)):
        words = [str(tmp_path / "bots"), "--out", str(tmp_path / name), "--pairs", "3"]
        home = ["--results", str(tmp_path / f"{name}-results")]
        assert class_([*words, *home, "--game", "kalah(4,3)", "--quiet", *more]) == OK
        rows = list(csv.DictReader((tmp_path / name / "grades.csv").read_text().splitlines()))
        kept.append([{**row, "seconds": ""} for row in rows])
    assert kept[0] == kept[1]


def test_learning_has_the_same_weights(tmp_path):
    path, found = learn_file(tmp_path, 'rounds = 1\ntables = "pairs"'), []
    for name, more in (("here", ["--workers", "0"]), ("there", ON)):
        assert learn([str(path), "--results", str(tmp_path / name), "--quiet", *more]) == OK
        (directory,) = (tmp_path / name).glob("*/learn-*")
        found.append({each.name: each.read_bytes() for each in directory.glob("round-*.npz")})
    assert list(found[0]) == ["round-1.npz"]
    assert found[0] == found[1]
