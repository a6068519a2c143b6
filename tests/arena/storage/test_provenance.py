"""Provenance: digests that identify a run, and differences between runs."""

import json
import os

import pytest

from arena.config.experiment import load_experiment
from arena.storage import provenance
from arena.storage.provenance import (
    code_digest,
    deciding_sources,
    identify_run,
    load_run_file,
    plan_changes,
    write_run_file,
)
from arena.storage.run_file import explain_new_run
from tests.arena.running import experiment_file, small


def experiment(directory, text="", bots=("good",), overrides=()):
    return load_experiment(experiment_file(directory, small(10) + text, *bots), overrides).plan


def origin(directory, text="", overrides=()):
    return identify_run("demo", experiment(directory, text, overrides=overrides))


def test_digest_of_a_run_depends_on_what_decides_its_games(tmp_path):
    name = origin(tmp_path).digest
    assert origin(tmp_path).digest == name
    check = '[[checks]]\nthat = "good"\nno_forfeits = true\n'
    assert origin(tmp_path, check).digest == name
    assert origin(tmp_path, overrides=["seed=6"]).digest != name
    (tmp_path / "moved").mkdir()
    assert origin(tmp_path / "moved").digest == name
    changed = experiment(tmp_path)
    (tmp_path / "good.py").write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    assert identify_run("demo", changed).digest != name


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of all sources."""
    root = provenance.Path(provenance.__file__).parents[2]
    there = tmp_path_factory.mktemp("sources")
    for package in ("games", "agents", "arena"):
        for source in (root / package).rglob("*.*"):
            if source.suffix in (".py", ".toml") and source.is_file():
                copy = there / source.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(source.read_bytes())
    return there


@pytest.mark.parametrize(
    ("path", "decides"),
    [
        ("games/core.py", True),
        ("games/sowing/defaults.toml", True),
        ("arena/planning/schedule.py", True),
        ("arena/stats/sprt.py", True),
        ("arena/stats/racing.py", True),
        ("arena/stats/anytime.py", True),
        ("arena/stats/elo.py", True),
        ("arena/stats/counts.py", True),
        ("arena/terminal/tables.py", False),
        ("arena/analysis/summary.py", False),
    ],
)
def test_only_sources_that_decide_games_make_another_run(sources, monkeypatch, path, decides):
    moved = sources / "arena" / "storage" / "provenance.py"
    monkeypatch.setattr(provenance, "__file__", str(moved))
    before = code_digest.__wrapped__()  # what another process would answer
    with (sources / path).open("a") as file:  # further changes are to other files
        file.write("# a change\n")
    assert (code_digest.__wrapped__() != before) == decides


def test_an_edit_of_any_source_that_decides_games_changes_the_digest(sources, monkeypatch):
    names = {path.relative_to(sources).as_posix() for path in deciding_sources(sources)}
    stats = {f"arena/stats/{name}.py" for name in ("racing", "anytime", "elo", "counts", "sprt")}
    assert stats <= names
    assert "arena/playing/play.py" in names
    moved = sources / "arena" / "storage" / "provenance.py"
    monkeypatch.setattr(provenance, "__file__", str(moved))
    before = code_digest.__wrapped__()
    for name in sorted(names):
        content = (sources / name).read_bytes()
        (sources / name).write_bytes(content + b"# a change\n")
        assert code_digest.__wrapped__() != before, name
        (sources / name).write_bytes(content)
    assert code_digest.__wrapped__() == before


def test_plan_changes_are_named():
    old = {"pairs": 10, "agents": {"a": {"depth": 3}, "b": {"depth": 4}}, "list": ["x"] * 50}
    new = {"pairs": 20, "agents": {"a": {"depth": 5}, "c": {"depth": 4}}, "list": ["y"] * 50}
    assert plan_changes(old, new) == [
        "pairs was 10, is 20",
        "agents.a.depth was 3, is 5",
        "agents.c is new",
        "agents.b is gone",
        "list changed",
    ]
    assert plan_changes(old, old) == []


def test_new_run_explains_its_difference_to_the_most_similar_run(tmp_path):
    def told(now):
        return explain_new_run(tmp_path / "results" / "new", now)

    old = tmp_path / "results" / "old"
    assert told(origin(tmp_path)) is None
    old.mkdir(parents=True)
    write_run_file(old, origin(tmp_path), {})
    assert told(origin(tmp_path, overrides=["seed=6"])) == (
        "a new run, old is kept: seed was 5, is 6"
    )
    assert "pitflip itself changed" in told(origin(tmp_path))
    now = experiment(tmp_path)
    (tmp_path / "good.py").write_text("choose = None\n")
    changed = identify_run("demo", now)
    assert told(changed).endswith("old is kept: good.py changed")
    later = tmp_path / "results" / "later"
    later.mkdir()
    write_run_file(later, origin(tmp_path, overrides=["seed=6"]), {})
    now = experiment(tmp_path)
    (tmp_path / "good.py").write_text("choose = None\n")
    changed = identify_run("demo", now)
    # The file is what was changed, though the latest run has another seed, too.
    assert told(changed).endswith("old is kept: good.py changed")
    (tmp_path / "results" / "new").mkdir()
    assert told(changed) is None


def test_run_json_is_written_atomically(tmp_path, monkeypatch):
    write_run_file(tmp_path, origin(tmp_path)._replace(digest="one"), {"begun": "now"})
    assert load_run_file(tmp_path)["digest"] == "one"
    assert load_run_file(tmp_path)["files"] == {
        "good.py": provenance.file_digests(experiment(tmp_path))["good.py"]
    }

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_run_file(tmp_path, origin(tmp_path)._replace(digest="two"), {})
    assert load_run_file(tmp_path)["digest"] == "one"


@pytest.mark.parametrize("text", ["", "[]", "{", json.dumps("x")])
def test_wrong_run_json_is_ignored(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    assert load_run_file(tmp_path) == {}
