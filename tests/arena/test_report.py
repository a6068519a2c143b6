"""pitflip report: the page of a run, and errors in one line."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.arena.report.pages import run_of
from tests.arena.running import ROOT, experiment_file, small
from tests.commands import report as main


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of three agents with its page."""
    return run_of("three", tmp_path_factory.mktemp("three"))


def test_the_page_is_made_again_byte_for_byte(run):
    page = run / "report.html"
    before = page.read_bytes()
    page.unlink()
    assert main([str(run)]) == 0
    assert page.read_bytes() == before


def test_pages_of_several_runs_do_not_replace_one_another(run, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for path in run.iterdir():
        if path.is_file():
            (other / path.name).write_bytes(path.read_bytes())
    assert main([str(run), str(other), "--out", str(tmp_path / "out")]) == 0
    assert {path.parts[-2] for path in (tmp_path / "out").glob("*/report.html")} == {
        run.name, "other",
    }  # fmt: skip


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("words", [[], ["--no-page"]])
def test_nothing_of_a_page_is_loaded_for_a_run_without_one(tmp_path, words):
    path = experiment_file(tmp_path, small(2) + '[agents.greedy]\nkind = "greedy"\n')
    line = [str(path), "--results", str(tmp_path / "results"), "--quiet", *words]
    code = (
        "import sys\nfrom arena.run import main\n"
        f"main({line!r})\n"
        "names = ('arena.report', 'arena.report.figure', 'resvg_py')\n"
        "print('loaded', [each for each in sys.modules if each.startswith(names)] != [])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == f"loaded {not words}"
    assert len(list((tmp_path / "results").glob("*/*/report.html"))) == (not words)


@pytest.mark.parametrize(
    ("missing", "message"),
    [("run.json", "is not a run's directory"), ("games.parquet", "the run is not finished"),
     ("summary.json", "run its experiment again"), ("elo.parquet", "run its experiment again")],
)  # fmt: skip
def test_missing_file_gives_one_line(run, tmp_path, capsys, missing, message):
    for path in run.iterdir():
        if path.is_file() and path.name != missing:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({"learned": "a", "command": "pitflip learn x.toml", "plan": {}}, "learn x.toml"),
        ({"sweep": {"depth": [1, 2]}}, "name one of its runs"),
    ],
)
def test_other_results_are_named_by_content(tmp_path, capsys, stored, message):
    (tmp_path / "run.json").write_text(json.dumps(stored))
    assert main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "its page is" in said


def test_broken_table_gives_one_line(run, tmp_path, capsys):
    for path in run.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    for name in ("elo.parquet", "summary.json"):
        (tmp_path / name).write_bytes(b"nonsense")
        assert main([str(tmp_path)]) == 2
        assert "cannot be read" in capsys.readouterr().err


def copied(run, to):
    for path in run.iterdir():
        if path.is_file():
            (to / path.name).write_bytes(path.read_bytes())


def changed(place, value):
    """A change of a JSON file, in the value at this place."""

    def change(path):
        stored = json.loads(path.read_text())
        inside = stored
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = value
        path.write_text(json.dumps(stored))

    return change


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("summary.json", ["first_mover"], 5),
        ("summary.json", ["first_mover", "low"], "x"),
        ("summary.json", ["first_mover", "low"], float("nan")),
        ("summary.json", ["first_mover"], {}),
        ("summary.json", ["openings"], None),
        ("summary.json", ["openings"], True),
        ("summary.json", ["groups"], [["a", 1]]),
        ("summary.json", ["checks"], [{}]),
        ("summary.json", ["stopped"], {"raw": 1}),
        ("run.json", ["versions"], 5),
        ("run.json", ["forfeits"], [5]),
    ],
)
def test_edited_files_are_named(run, tmp_path, capsys, name, place, value):
    copied(run, tmp_path)
    changed(place, value)(tmp_path / name)
    assert main([str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert f"{name} is damaged: {place[0]} is missing or has a wrong type" in message
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "column", "values", "said"),
    [
        ("elo.parquet", "rank", ["x", "y"], "its column rank is of type string"),
        ("elo.parquet", "elo", ["x", "y"], "its column elo is of type string"),
        ("elo.parquet", "points", [None, 1.0], "its column points has gaps"),
        ("elo.parquet", "agent", ["some", "body"], "elo.parquet has no agent"),
    ],
)
def test_impossible_column_is_named(run, tmp_path, capsys, name, column, values, said):
    copied(run, tmp_path)
    table = pq.read_table(tmp_path / name)
    place = table.schema.get_field_index(column)
    rows = pa.array((values * len(table))[: len(table)])
    pq.write_table(table.set_column(place, column, rows), tmp_path / name)
    assert main([str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert said in message
    assert message.count("\n") == 1
