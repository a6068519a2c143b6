"""A run in a notebook: its tables are those on the disk, and the shipped notebook runs."""

import ast
import json
import subprocess
import sys
from xml.etree import ElementTree

import pandas as pd
import pytest

from arena.pipeline.loaded_run import load_run
from arena.storage.run_file import NotARunError
from tests.arena.running import ROOT, directory_of, experiment_file, played, small

NOTEBOOK = ROOT / "docs" / "a_run.ipynb"
GREEDY = '[agents."<b>greedy</b>"]\nkind = "greedy"\n'


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A run of three agents."""
    here = tmp_path_factory.mktemp("loaded")
    played(experiment_file(here, small(12) + GREEDY, "good"), here / "results")
    return directory_of(here / "results")


def test_the_frames_are_the_tables(directory):
    run = load_run(str(directory))
    for frame, name in (
        (run.games, "games"), (run.ratings, "elo"), (run.win_rates, "win_rates"),
    ):  # fmt: skip
        pd.testing.assert_frame_equal(frame, pd.read_parquet(directory / f"{name}.parquet"))


def test_a_run_shows_its_answer_and_ratings_and_hostile_names_are_text(directory):
    run = load_run(directory)
    shown = run._repr_html_()
    assert "<b>greedy</b>" not in shown
    assert "&lt;b&gt;greedy&lt;/b&gt;" in shown
    for row in run.ratings.itertuples():
        assert f"<td>{row.games}</td>" in shown


def test_figures_are_svg_and_an_unknown_one_names_the_others(directory):
    run = load_run(directory)
    assert "ratings" in run.figures
    for name in run.figures:
        assert ElementTree.fromstring(run.plot(name)._repr_svg_()).tag.endswith("svg")
    assert run.plot_ratings().name == "ratings"
    with pytest.raises(ValueError, match="ratings"):
        run.plot("rating")


def test_the_page_is_made_where_there_is_none_and_stays_in_a_frame(directory):
    page = load_run(directory).report()
    assert page.path == directory / "report.html"
    frame = ElementTree.fromstring(page._repr_html_())
    assert (frame.tag, frame.get("sandbox")) == ("iframe", "allow-scripts")
    assert frame.get("srcdoc").startswith("<!DOCTYPE html>")


def test_what_is_no_run_is_said_in_one_line(tmp_path):
    with pytest.raises(NotARunError, match=r"no run\.json"):
        load_run(tmp_path)


def test_importing_arena_loads_nothing_of_it():
    code = "import arena, sys; print(sorted({'pandas', 'numpy', 'numba'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def cells():
    """The code of the shipped notebook."""
    notebook = json.loads(NOTEBOOK.read_text())
    assert notebook["nbformat"] == 4
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_the_shipped_notebook_runs_cell_by_cell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    experiment = ROOT / "experiments" / "othello_greedy_vs_random.toml"
    played(experiment, tmp_path / "results", overrides=("pairs=12",))
    scope, shown = {}, []
    for cell in cells():
        assert cell["outputs"] == []
        *before, last = ast.parse(cell["source"]).body
        exec(compile(ast.Module(before, []), NOTEBOOK.name, "exec"), scope)
        shown.append(eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), scope))
    kinds = [
        name for each in shown for name in ("_repr_html_", "_repr_svg_") if hasattr(each, name)
    ]
    assert len(kinds) == len(shown)
