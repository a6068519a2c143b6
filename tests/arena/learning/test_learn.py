"""Learning through the command: rounds, files, resume, refusals."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from agents.evaluation.weights import read_learned_weights
from arena.config.toml_file import ExperimentError
from arena.learning.config import load_learn_config
from arena.learning.learn_run import MatchVerdict, round_match
from arena.learning.self_play import load_round
from arena.playing.options import Interrupts, PlayOptions
from arena.storage.journal import RunDirectory
from arena.storage.results import foreign_files, is_run_directory, run_info
from arena.storage.run_file import NotARunError
from games import game
from games.base.progress import ignore_progress
from tests.arena.running import ROOT, database
from tests.commands import learn as main
from tests.commands import report as report_main
from tests.commands import run as run_main

TEXT = """
game = "kalah(4,3)"
seed = 3
openings = {{ random_plies = [3, 5] }}

[agents.teacher]
kind = "smart_classic"
nodes = 20

[agents.user]
kind = "random"

[learn]
teacher = "teacher"
games = 400
solve_from = 6
{more}

[learn.match]
nodes = 40
pairs = 30
"""


def written(tmp_path, more=""):
    path = tmp_path / "small.toml"
    path.write_text(TEXT.format(more=more))
    return path


def learned(path, results, *words):
    assert main([str(path), "--results", str(results), "--quiet", "--workers", "0", *words]) == 0
    (directory,) = results.glob("*/learn-*")
    return directory


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of two rounds of pairs of holes."""
    directory = tmp_path_factory.mktemp("learned")
    more = 'rounds = 2\ntables = "pairs"'
    path = written(directory, more)
    return path, learned(path, directory / "results", "--workers", "1")


def test_a_run_is_listed_with_its_dates_and_games(finished):
    info = run_info(finished[1])
    assert is_run_directory(finished[1]) and info.state == "finished" and info.begun and info.games
    assert foreign_files(finished[1]) == []


def test_a_run_leaves_weights_that_say_where_they_come_from(finished):
    path, directory = finished
    read = read_learned_weights(directory / "round-1.npz")
    assert (read.game, read.kind, read.phases) == ("kalah(4,3)", "pairs", 1)
    assert 300 < read.games <= 400
    assert str(path) in read.commands[0]
    assert 0 < read.more["seen"] < 1
    said = json.loads((directory / "learned.json").read_text())
    first = said["rounds"][0]
    assert first["digest"] == read.digest
    assert len(first["calibration"]) == 10
    assert first["match"]["verdict"] in tuple(MatchVerdict)
    assert first["held_out"]["error_by_game"] > first["held_out"]["error_by_position"]


def test_the_page_shows_rounds_calibration_and_tables(finished, capsys):
    _, directory = finished
    page = directory / "report.html"
    text = page.read_text()
    last = json.loads((directory / "learned.json").read_text())["rounds"][-1]
    for words in (
        f"Round {last['round']} against the one before",
        "outcome over prediction",
        "Value of beans in an own hole against an empty hole",
    ):
        assert words in text
    page.unlink()
    assert report_main([str(directory)]) == 0
    assert page.read_text() == text
    (directory / "learned.json").rename(directory / "kept.json")
    (directory / "learned.json").write_text('{"rounds": []}')
    assert report_main([str(directory)]) == 2
    assert "not as pitflip wrote it" in capsys.readouterr().err
    (directory / "kept.json").rename(directory / "learned.json")


def test_the_same_command_continues_and_workers_change_nothing(finished, tmp_path):
    path, directory = finished
    before = (directory / "round-1.npz").read_bytes()
    # As after a kill: the games are there, and no weights.
    results = shutil.copytree(directory.parents[1], tmp_path / "results")
    other = results / directory.relative_to(directory.parents[1])
    with database(other / "journal.sqlite") as base:
        base.execute("delete from section_batches where section = 'match-1'")
    (other / "round-1.npz").unlink()
    assert learned(path, results, "--workers", "2") == other
    assert (other / "round-1.npz").read_bytes() == before


def test_weights_against_themselves_are_never_better(finished, tmp_path):
    learning = load_learn_config(finished[0])
    spec = learning.spec
    options = PlayOptions(0, Interrupts())
    none = np.empty(0, np.uint64)
    with RunDirectory(tmp_path / "run", "digest") as run:
        section = run.section("same")
        match = round_match(learning, (spec, spec), none, section, options, ignore_progress)
    assert match.verdict is not MatchVerdict.BETTER


def test_features_are_fitted_and_written_as_text_too(tmp_path):
    path = written(tmp_path, 'tables = "features"\nphases = 2')
    directory = learned(path, tmp_path / "results")
    read = read_learned_weights(directory / "round-1.npz")
    assert read.kind == "features"
    assert read.weights.shape == (2, len(read.groups))
    assert read.feature_weights()["pot"][0] == pytest.approx(1.0, abs=0.5)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('tables = "patterns"', 'has no tables "patterns"'),
        ("rounds = 0", "rounds must be"),
        ("games = 5", None),
        ("ridge = 3", 'unknown key "ridge"; it was removed'),
        ("opening_plies = [9, 3]", "opening_plies must be"),
        ('[learn.patterns]\nedge = "a1"', "has no tables"),
        ("tabels = 3", 'did you mean "tables"'),
        ("curve = true", 'unknown key "curve"; it was removed'),
        ("matters = true", 'unknown key "matters"; it was removed'),
    ],
)
def test_a_wrong_value_gets_one_line(tmp_path, more, words):
    if words is None:
        text = TEXT.format(more="").replace("games = 400", more)
        words = "games must be 100 to"
    else:
        text = TEXT.format(more=more)
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ExperimentError, match=words):
        load_learn_config(path)


def test_only_our_own_searches_teach(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(TEXT.format(more="").replace('teacher = "teacher"', 'teacher = "user"'))
    with pytest.raises(ExperimentError, match="user cannot teach"):
        load_learn_config(path)


@pytest.mark.slow
def test_killed_fifty_times_the_bytes_are_the_same(finished, tmp_path):
    path, directory = finished
    command = [sys.executable, "-m", "pitflip", "learn", str(path), "--results", str(tmp_path),
               "--workers", "2", "--quiet"]  # fmt: skip
    chance = random.Random(9)
    for _ in range(50):
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:  # fmt: skip
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=chance.uniform(1.0, 6.0))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0
    (other,) = tmp_path.glob("*/learn-*")
    assert (other / "round-1.npz").read_bytes() == (directory / "round-1.npz").read_bytes()


@pytest.mark.slow
def test_the_weights_of_a_users_own_evaluation_are_learned_behind_the_wall(tmp_path):
    path = written(tmp_path, 'agent = "user"')
    own = f'kind = "alphabeta"\ndepth = 2\nevaluate = "{ROOT}/experiments/bots/my_heuristic.py"'
    path.write_text(path.read_text().replace('kind = "random"', own))
    directory = learned(path, tmp_path / "results")
    read = read_learned_weights(directory / "round-1.npz")
    assert tuple(read.groups) == ("pot", "in_play", "extra_turn")
    assert 0.5 < read.feature_weights()["pot"][0] < 1.5  # what is banked stays
    page, said = (directory / "report.html").read_text(), (directory / "run.json").read_text()
    assert "can be repeated: not known, 1 agent with user code was not asked again" in page
    assert json.loads(said)["can_be_repeated"]["answer"] == "not known"


def test_an_own_evaluation_without_weights_has_none_to_learn(tmp_path):
    (tmp_path / "mine.py").write_text("def evaluate(rules, position):\n    return 0\n")
    path = written(tmp_path, 'agent = "user"')
    own = 'kind = "alphabeta"\ndepth = 2\nevaluate = "mine.py:evaluate"'
    path.write_text(path.read_text().replace('kind = "random"', own))
    with pytest.raises(ExperimentError, match="declares no WEIGHTS"):
        load_learn_config(path)


def test_the_games_of_a_finished_run_are_learned_from(tmp_path):
    text = TEXT.format(more="").replace("[agents.user]", "[agents.greedy]", 1)
    experiment, _, _ = text.partition("[learn]")
    (tmp_path / "r.toml").write_text(experiment.replace('kind = "random"', 'kind = "greedy"'))
    words = ["--results", str(tmp_path / "r"), "--quiet", "--no-page", "--pairs", "60"]
    assert run_main([str(tmp_path / "r.toml"), *words, "--workers", "0"]) == 0
    (played,) = (tmp_path / "r").glob("*/*/games.parquet")
    path = written(tmp_path, f'from = ["{played.parent}"]')
    read = read_learned_weights(learned(path, tmp_path / "results") / "round-1.npz")
    assert 20 < read.games <= 120
    with pytest.raises(NotARunError, match="not of owari"):
        load_round(game("owari"), [played.parent], 5)
