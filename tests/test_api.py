"""The package `pitflip`: functions, results, errors, the notebook."""

import ast
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

import pitflip
from games.solving.solution import Solution
from pitflip.stored_run import Run
from tests.arena.running import ROOT, experiment_file, only_run, run_experiment_file, small
from tests.commands import export

NOTEBOOK = ROOT / "docs" / "notebooks" / "from_start_to_end.ipynb"
PAGE = ROOT / "docs" / "reference" / "python.md"  # run by tests/docs
GREEDY = '[agents."<b>greedy</b>"]\nkind = "greedy"\n'
TWO = {"greedy": {"kind": "greedy"}, "random": {"kind": "random"}}
SMALL = {"game": "kalah(4,3)", "pairs": 8, "agents": TWO}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A run of three agents."""
    here = tmp_path_factory.mktemp("loaded")
    run_experiment_file(experiment_file(here, small(12) + GREEDY, "good"), here / "results")
    return only_run(here / "results")


def test_the_frames_are_the_tables(directory):
    run = pitflip.load(str(directory))
    for frame, name in (
        (run.games, "games"), (run.ratings, "elo"), (run.win_rates, "win_rates"),
    ):  # fmt: skip
        pd.testing.assert_frame_equal(frame, pd.read_parquet(directory / f"{name}.parquet"))
    with pytest.raises(pitflip.UserError, match="search_info = true"):
        run.search_info  # noqa: B018


def test_a_run_shows_its_answer_and_ratings_and_hostile_names_are_text(directory, capsys):
    run = pitflip.load(directory)
    shown = run._repr_html_()
    assert "<b>greedy</b>" not in shown
    assert "&lt;b&gt;greedy&lt;/b&gt;" in shown
    assert repr(run) == f"Run({str(directory)!r}): {run.answer}"
    assert "\n" not in repr(run)
    run.show()
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1] == run.answer
    for row in run.ratings.itertuples():
        assert f"<td>{row.games}</td>" in shown
        assert row.agent in printed


def test_figures_are_svg_and_an_unknown_one_names_the_others(directory, tmp_path):
    run = pitflip.load(directory)
    assert "ratings" in run.figures
    for name in run.figures:
        assert ElementTree.fromstring(run.plot(name)._repr_svg_()).tag.endswith("svg")
    assert run.plot().name == "ratings"
    assert 'width="238.11pt"' in run.plot(width="84mm", font_size=8).svg
    for ending in ("svg", "png", "pdf"):
        path = run.plot().save(tmp_path / f"ratings.{ending}")
        assert path.stat().st_size > 2000
    with pytest.raises(pitflip.UserError, match="unit"):
        run.plot(width="wide")
    with pytest.raises(pitflip.UserError, match="ratings"):
        run.plot("rating")


def test_methods_and_tables_are_those_of_the_command(directory, tmp_path, capsys):
    run = pitflip.load(directory)
    words = ["--methods", "--tables", "latex", "--tables", "markdown", "--tables", "csv"]
    assert export([str(directory), *words, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{run.methods}\n"
    assert (tmp_path / "methods.md").read_text() == f"{run.methods}\n"
    for name in run.tables:
        assert (tmp_path / f"{name}.tex").read_text() == run.table(name)
        assert (tmp_path / f"{name}.md").read_text() == run.table(name, "markdown")
    assert run.table() == run.table("pairs")
    assert "95~\\% for all 3" in run.table()
    assert (tmp_path / "win_rates.csv").read_text() == run.table("win_rates", "csv")
    with pytest.raises(pitflip.UserError, match="ratings"):
        run.table("rating")
    with pytest.raises(pitflip.UserError, match="latex"):
        run.table("ratings", "word")


def test_page_is_written_on_demand_and_framed(directory):
    page = pitflip.load(directory).page()
    assert page.path == directory / "report.html"
    frame = ElementTree.fromstring(page._repr_html_())
    assert (frame.tag, frame.get("sandbox")) == ("iframe", "allow-scripts")
    assert frame.get("srcdoc").startswith("<!DOCTYPE html>")


def test_a_dict_is_played_and_the_run_found_again(tmp_path, capsys):
    checks = [{"that": "greedy beats random", "score_at_least": 0.99}]
    run = pitflip.run({**SMALL, "checks": checks}, results=tmp_path, workers=0, progress=False)
    assert isinstance(run, Run)
    assert not run.passed
    assert [check.status for check in run.checks] == ["vacuous"]
    assert len(run.games) == 16
    assert pitflip.latest("experiment", results=tmp_path).directory == run.directory
    assert capsys.readouterr() == ("", "")
    same = pitflip.run(SMALL, set={"seed": 3}, results=tmp_path, workers=0, progress=False)
    assert same.directory != run.directory
    with pytest.raises(pitflip.UserError, match="experiment"):
        pitflip.latest("experimant", results=tmp_path)


def test_a_match_resumes_in_a_directory_of_its_own(tmp_path):
    table = {"kind": "minimax", "depth": 1}
    first, second = (
        pitflip.match("greedy", table, game="kalah(4,3)", pairs=8, results=tmp_path, workers=0)
        for _ in range(2)
    )
    assert first.directory == second.directory
    assert first.directory.parent == tmp_path / "greedy-vs-minimax"


def test_one_game_is_played_and_the_same_seed_gives_the_same_game():
    games = [pitflip.play("kalah(4,3)", "random", "random", seed=s, opening="1") for s in (1, 1, 2)]
    assert games[0].moves == games[1].moves != games[2].moves
    assert games[0].moves[0] == "1"
    of = games[0].game
    assert of.score(of.replay(" ".join(games[0].moves))[-1]) == games[0].score
    assert "\n" not in repr(games[0])


def test_a_bot_that_fails_loses_with_a_reason(tmp_path):
    bot = tmp_path / "bot.py"
    bot.write_text("def choose(view, legal, rng):\n    return 99\n")
    game = pitflip.play("kalah(4,3)", bot, "random")
    assert game.winner == "random"
    assert "99" in game.reason


def test_positions_are_solved_and_agents_asked():
    found = pitflip.solve("kalah(3,2)", "3 1")
    assert isinstance(found, Solution)
    assert found.complete
    of = pitflip.game("kalah(3,2)")
    assert pitflip.agent("first", of).choose(of.start()).move == of.legal(of.start())[0]


def test_a_study_returns_its_recommendation_and_is_no_run(tmp_path, capsys):
    mine = {"kind": "alphabeta", "nodes": 20, "weights": {"pot": 0.2, "in_play": 0.2}}
    study = {
        "game": "kalah(4,3)",
        "agents": {"mine": mine, "other": {"kind": "greedy", "random_ties": True}},
        "tune": {
            "agent": "mine", "games": 20, "trials": 10,
            "validation": {"elo1": 200, "pairs": 40},
            "weights": {"pot": [-1.0, 1.5], "in_play": [-1.0, 1.0]},
        },
    }  # fmt: skip
    found = pitflip.tune(study, results=tmp_path, workers=0, progress=False)
    assert set(found.weights) == {"pot", "in_play"}
    assert found.verdict in ("better", "not better", "undecided", "flat")
    assert capsys.readouterr().out == ""
    with pytest.raises(pitflip.UserError, match="is a study"):
        pitflip.load(found.directory)


def test_ratings_of_files_have_a_row_for_each_agent(directory):
    rated = pitflip.rate(directory, anchor="random", bootstrap=0)
    assert set(rated.agent) == {"random", "good", "<b>greedy</b>"}
    assert rated[rated.agent == "random"].elo.item() == 0


MISTAKES = {
    "no file": (lambda: pitflip.run("nowhere.toml"), "there is no such file"),
    "a key": (lambda: pitflip.run({**SMALL, "pars": 1}), r'^\[top level\] unknown key "pars"'),
    "a change": (lambda: pitflip.run(SMALL, set={"agents.x.depth": 1}), "agents.x.depth=1"),
    "a sweep": (lambda: pitflip.run({**SMALL, "sweep": {"seed": [1, 2]}}), "is a sweep"),
    "no run": (lambda: pitflip.load("/"), r"no run\.json"),
    "a function": (lambda: pitflip.match(print, "random"), "sandbox"),
    "a bot": (lambda: pitflip.agent(ROOT / "experiments/bots/my_bot.py", "owari"), "pitflip.play"),
    "a game": (lambda: pitflip.game("kalahh"), "did you mean"),
    "no files": (pitflip.rate, "at least one file"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_an_exception(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, message = MISTAKES[name]
    with pytest.raises(pitflip.UserError, match=message):
        call()
    assert not list(tmp_path.iterdir())


def test_all_problems_of_an_experiment_are_in_the_exception():
    with pytest.raises(pitflip.ExperimentError) as raised:
        pitflip.run({**SMALL, "pars": 1, "sed": 2})
    assert len(raised.value.problems) == 2


def test_signal_handlers_are_restored_and_other_threads_may_play(tmp_path):
    before = signal.getsignal(signal.SIGINT)
    found = []

    def play():
        found.append(pitflip.run(SMALL, results=tmp_path, workers=0, progress=False))

    play()
    assert signal.getsignal(signal.SIGINT) is before
    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert found[0].directory == found[1].directory


def loaded(code: str, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    words = [sys.executable, "-c", code]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_import_loads_neither_numba_nor_pandas():
    code = "import pitflip, sys; print(sorted({'pandas', 'numpy', 'numba'} & set(sys.modules)))"
    assert loaded(code).stdout == "[]\n"


def test_hiding_file_of_the_user_is_named(tmp_path):
    (tmp_path / "games.py").write_text("")
    code = "import pitflip\ntry: pitflip.run\nexcept ImportError as error: print(error)"
    done = loaded(code, tmp_path)
    assert (
        done.stdout == f"{tmp_path / 'games.py'} hides the package 'games' of pitflip: rename it\n"
    )


def test_every_name_is_there_and_every_function_on_the_page():
    text = PAGE.read_text()
    for name in pitflip.__all__:
        value = getattr(pitflip, name)
        if name.islower() and callable(value):
            assert f"pitflip.{name}(" in text, name
    with pytest.raises(AttributeError, match="nothing"):
        pitflip.nothing  # noqa: B018


def test_the_notebook_runs_cell_by_cell_and_uses_every_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text())
    assert notebook["nbformat"] == 4
    scope, sources = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []
        sources.append(cell["source"])
        *before, last = ast.parse(cell["source"]).body
        exec(compile(ast.Module(before, []), NOTEBOOK.name, "exec"), scope)
        shown = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), scope)
        assert shown is not None
    text = "\n".join(sources)
    functions = [n for n in pitflip.__all__ if n.islower() and callable(getattr(pitflip, n))]
    assert [name for name in functions if f"pitflip.{name}(" not in text] == ["load"]
