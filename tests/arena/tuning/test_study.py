"""Whole studies with few games: their files, and interruptions."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import optuna
import pandas as pd
import pytest
from optuna.distributions import FloatDistribution

from agents.evaluation.weights import read_weights
from agents.sandbox.sandbox import Sandbox
from arena.commands.runs import run_lines
from arena.stats.elo import elo_from_score
from arena.storage.journal import RunDirectory
from arena.storage.results import foreign_files, is_run_directory, run_info
from arena.tuning import budget
from arena.tuning import study as search
from arena.tuning.budget import StudyBudget
from arena.tuning.study_config import load_study
from games.base.errors import UNFINISHED, USER_ERROR
from tests.arena.running import WHO_PLAYS, database
from tests.arena.tuning.test_tune_file import GOOD
from tests.commands import explain, export, judge, rate, report, verify
from tests.commands import tune as main

SMALL = GOOD.replace("trials = 20", "trials = 12").replace(
    "[tune.weights]", 'method = "tpe"\nvalidation = { elo1 = 100, pairs = 100 }\n[tune.weights]'
)
# An agent that wants to lose its beans: anything else is better.
BAD = SMALL.replace("weights = { pot = 1.0 }", "weights = { pot = -1.0 }").replace(
    "pot = [0.5, 5.0]", "pot = [-1.0, 1.0]"
)
SAME = SMALL.replace("pot = [0.5, 5.0]\n", "pot = 1.0\n").replace(
    "in_play = { range = [-1, 1] }\ncapture = 0.25", "far = [0.0, 0.0005]"
)


def study(directory: Path, text: str, *words: str) -> Path:
    """Run a whole study and return its directory; it plays in this process by default."""
    if not WHO_PLAYS & set(words):
        words += ("--workers", "0")
    directory.mkdir(exist_ok=True, parents=True)
    path = directory / "tune_test.toml"
    path.write_text(text)
    assert main([str(path), "--results", str(directory / "r"), "--quiet", *words]) == 0
    (found,) = (directory / "r" / "tune_test").glob("tune-??????????")
    return found


def copy_of(whole: Path, directory: Path) -> Path:
    """Copy a study with its file; return the directory of the copy."""
    root = whole.parents[2]
    shutil.copytree(root, directory, dirs_exist_ok=True)
    return directory / whole.relative_to(root)


def trials(directory: Path) -> pd.DataFrame:
    return pd.read_parquet(directory / "trials.parquet").drop(columns="seconds")


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study(tmp_path_factory.mktemp("bad"), BAD)


ASKED = {
    "report": report,
    "export": lambda words: export([*words, "--tables", "csv"]),
    "verify": verify,
    "verify --rules-only": lambda words: verify([*words, "--rules-only"]),
    "judge": judge,
    "rate": rate,
    "explain": lambda words: explain([f"{words[0]}#0@1"]),
}


@pytest.mark.parametrize("name", ASKED)
def test_commands_for_runs_name_the_files_of_a_study(name, bad, capsys):
    assert ASKED[name]([str(bad)]) == USER_ERROR
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for word in (f"{bad} is a study", str(bad / "report.html"), "trials.parquet", "arena.tune "):
        assert word in said
    assert "not finished" not in said


def test_the_command_that_continues_an_unfinished_study_is_named(bad, tmp_path, capsys):
    copy = copy_of(bad, tmp_path)
    stored = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**stored, "finished": None}))
    assert report([str(copy)]) == USER_ERROR
    said = capsys.readouterr().err
    assert "is not finished" in said
    assert "tune_test.toml continues it" in said


def test_a_study_is_listed_with_its_dates_and_games(bad):
    said = json.loads((bad / "recommendation.json").read_text())
    info = run_info(bad)
    assert is_run_directory(bad) and info.state == "finished" and info.begun
    assert info.games == said["games"] + max(said["claim_games"], said["validation"]["games"])
    (line, _) = run_lines([info])
    assert info.begun[:10] in line
    assert foreign_files(bad) == []


def test_better_weights_than_bad_ones_are_found_and_written(bad: Path) -> None:
    said = json.loads((bad / "recommendation.json").read_text())
    assert said["validation"]["verdict"] == "better"
    assert said["recommended"]["pot"] > 0
    path = bad / "weights.toml"
    assert read_weights(path)["pot"] == pytest.approx(said["recommended"]["pot"])
    assert tomllib.loads(path.read_text())["provenance"]["run"] == bad.name.removeprefix("tune-")


def test_the_claim_is_the_first_pairs_of_the_match(bad: Path) -> None:
    said = json.loads((bad / "recommendation.json").read_text())
    value, low, high = said["expected_score"]
    assert said["claim_games"] == 200 > said["validation"]["games"]  # it ended long before
    with database(bad / "journal.sqlite") as base:
        ((stop,),) = base.execute(
            "select max(stop) from section_batches where section = 'validation'"
        )
    assert stop == 100
    assert 0.5 < low < value < high
    assert [elo_from_score(x) for x in said["expected_score"]] == pytest.approx(said["gain_elo"])


@pytest.mark.slow
def test_claim_and_verdict_against_a_pool_are_matches_with_each_of_them(tmp_path: Path) -> None:
    text = BAD.replace("trials = 12", "trials = 30")
    text = text.replace("[tune.weights]", "opponents = { mine = 3, other = 1 }\n[tune.weights]")
    found = study(tmp_path, text + '\n[agents.other]\nkind = "first"\n')
    said = json.loads((found / "recommendation.json").read_text())
    with database(found / "journal.sqlite") as base:
        names = [name for (name,) in base.execute("select name from sections")]
    assert sum(name.startswith("pool-") for name in names) == 4  # each agent with each of them
    assert said["validation"]["games"] == 2 * said["claim_games"]
    assert "against the pool" in said["validation"]["text"]
    assert (said["claim_games"], said["gain_elo"]) == (200, None)
    assert said["opponents"] == {"mine": 0.75, "other": 0.25}
    assert said["expected_score"][1] > 0.5


def test_a_study_writes_nothing_outside_its_results(bad: Path) -> None:
    here = bad.parent.parent.parent
    assert {path.name for path in here.iterdir()} == {"tune_test.toml", "r"}


def test_a_study_leaves_its_tables(bad: Path) -> None:
    rows = pd.read_parquet(bad / "trials.parquet")
    assert list(rows["trial"]) == list(range(12))
    assert set(rows["games"]) == {40}
    assert (rows["score_low"] <= rows["score"]).all()
    assert (rows["score"] <= rows["score_high"]).all()
    assert (rows["distinct_games"] <= 40).all()
    validation = pd.read_parquet(bad / "validation.parquet")
    assert validation.attrs["validation"]["verdict"] == "better"
    assert validation.attrs["validation"]["distinct_games"] > 10
    assert len(validation) == validation.attrs["validation"]["games"] / 2


def test_the_page_needs_no_network(bad: Path) -> None:
    text = (bad / "report.html").read_text()
    assert text.count("<svg") == 4
    assert "http:" not in text and "https:" not in text
    assert "<script" not in text
    assert text.count('role="img"') == 4
    for name in ("history", "slice_pot", "slice_in_play", "validation"):
        assert (bad / f"{name}.svg").read_text().startswith("<svg")


def test_optuna_loads_the_database_of_a_study(bad: Path) -> None:
    found = optuna.load_study(study_name="tune_test", storage=f"sqlite:///{bad / 'study.db'}")
    assert found.direction == optuna.study.StudyDirection.MAXIMIZE
    rows = trials(bad)
    *played, marked = found.trials
    assert [trial.value for trial in played] == list(rows["score"])
    assert [trial.number for trial in played] == list(rows["trial"])
    for name in ("pot", "in_play"):
        assert [trial.params[name] for trial in played] == list(rows[name])
    ranges = {name: FloatDistribution(-1.0, 1.0) for name in ("pot", "in_play")}
    assert all(trial.distributions == ranges for trial in found.trials)
    for attribute, column in {"games": "games", "low": "score_low", "high": "score_high"}.items():
        assert [trial.user_attrs[attribute] for trial in played] == list(rows[column])
    assert all(trial.state.is_finished() for trial in found.trials)
    assert all(trial.datetime_start < trial.datetime_complete for trial in played)
    said = json.loads((bad / "recommendation.json").read_text())
    assert marked.user_attrs["recommended"]
    assert (marked.params, marked.value) == (said["recommended"], said["expected_score"][0])
    assert found.user_attrs["verdict"] == said["validation"]["text"]


@pytest.fixture
def plan(bad: Path) -> StudyBudget:
    return StudyBudget(12, 40, 100, 12)


def test_trials_and_validation_share_no_opening(bad: Path, plan: StudyBudget) -> None:
    tuning = load_study(bad.parents[2] / "tune_test.toml")
    tuned, held_out = budget.divide_openings(tuning, plan)
    assert (len(tuned), len(held_out)) == (12 * 20, 100)
    assert not set(map(int, tuned.keys)) & set(map(int, held_out.keys))


def test_only_the_trials_of_a_step_share_openings(bad: Path, plan: StudyBudget) -> None:
    tuning = load_study(bad.parents[2] / "tune_test.toml", ["tune.method=spsa"])
    openings = budget.divide_openings(tuning, plan)[0]
    games = search._trial_games(tuning, plan, openings, Sandbox(False))
    used = [set(games.schedule_columns(number)["opening"].tolist()) for number in range(12)]
    assert all(len(each) == 20 for each in used)
    steps = [(number + 1) // 2 for number in range(12)]  # trial 0 is a step by itself
    for one in range(12):
        for other in range(12):
            assert bool(used[one] & used[other]) == (steps[one] == steps[other])


def test_a_weight_that_does_nothing_is_flat(tmp_path: Path) -> None:
    found = study(tmp_path, SAME)
    said = json.loads((found / "recommendation.json").read_text())
    assert "no game changed between candidates" in said["flat"]
    assert said["distinct_fingerprints"] == 1
    assert said["recommended"] == said["seed"]
    assert said["validation"]["verdict"] == "flat"
    assert "a gain of" in said["validation"]["text"]
    assert said["expected_score"] is None
    assert said["validation"]["games"] == 0
    assert not (found / "weights.toml").exists()


def test_a_study_against_a_bot_is_not_called_repeatable(tmp_path, capsys):
    (tmp_path / "bot.py").write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    text = SAME.replace("trials = 12", "trials = 5")
    text = text.replace("[tune.weights]", "opponents = { mine = 3, bot = 1 }\n[tune.weights]")
    found = study(tmp_path, text + '\n[agents.bot]\nkind = "python"\nfile = "bot.py"\n')
    words = "can be repeated: not known, 1 agent with user code was not asked again"
    assert words in capsys.readouterr().out
    assert words in (found / "report.html").read_text()
    said = json.loads((found / "run.json").read_text())
    assert said["can_be_repeated"]["answer"] == "not known"


def test_a_budget_makes_a_small_study_that_depends_on_the_clock(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setattr(search, "MEASURED_SECONDS", 0.01)  # of how fast games are
    # So little time that no machine plays more than the least that there is.
    found = study(tmp_path, SMALL, "--budget", "0.001s", "--set", "tune.trials=1000")
    rows = trials(found)
    assert set(rows["games"]) == {20}
    assert 0 < len(rows) <= 10
    assert "depended on the clock" in capsys.readouterr().out
    assert "depended on the clock" in (found / "report.html").read_text()
    assert json.loads((found / "recommendation.json").read_text())["budget_seconds"] == 0.001


# Twelve trials of five sides of steps each, cut inside a step.
STEPS = BAD.replace('method = "tpe"', 'method = "auto"').replace("games = 40", "games = 100")
STEPS = STEPS.replace("kalah(6,4)", "kalah(4,3)")


# A search cut after any trial: tests/arena/tuning/test_samplers.py.
@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (STEPS, 31),
        *(
            pytest.param(BAD.replace('"tpe"', f'"{method}"'), 8, marks=pytest.mark.slow)
            for method in ("tpe", "cmaes", "random", "optuna.samplers:NSGAIISampler")
        ),
    ],
)
def test_each_method_continues_byte_by_byte(tmp_path: Path, text: str, cut: int) -> None:
    whole = study(tmp_path / "whole", text)
    other = copy_of(whole, tmp_path / "other")
    with database(other / "journal.sqlite") as base:
        base.execute("delete from section_batches where section = 'trials' and start >= ?", (cut,))
    assert study(tmp_path / "other", text, "--workers", "3") == other
    assert trials(other).equals(trials(whole))
    assert set(trials(whole)["games"]) == ({100} if text == STEPS else {40})
    for name in ("recommendation.json", "validation.parquet"):
        assert (other / name).read_bytes() == (whole / name).read_bytes()


# So little of `far` only breaks ties of `pot`, whatever it is.
PLATEAU = STEPS.replace("pot = -1.0 }", "pot = 1.0, far = 0.01 }").replace(
    "pot = [-1.0, 1.0]\nin_play = { range = [-1, 1] }\ncapture = 0.25",
    "pot = 1.0\nfar = [0.001, 0.019]",
)


def test_steps_become_wider_while_no_game_changes(tmp_path: Path, capsys) -> None:
    whole = study(tmp_path / "whole", PLATEAU)
    said = json.loads((whole / "recommendation.json").read_text())
    assert said["steps_widened"]
    assert "no game changed between candidates" in said["flat"]
    assert "the steps became wider" in capsys.readouterr().out
    for cut in (9, 17, 40):  # before, while and after they become wider
        other = copy_of(whole, tmp_path / f"cut{cut}")
        with database(other / "journal.sqlite") as base:
            base.execute(
                "delete from section_batches where section = 'trials' and start >= ?", (cut,)
            )
        assert study(tmp_path / f"cut{cut}", PLATEAU) == other
        assert trials(other).equals(trials(whole))
        for name in ("recommendation.json", "validation.parquet"):
            assert (other / name).read_bytes() == (whole / name).read_bytes()


def test_a_mistake_in_the_file_ends_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tune_test.toml"
    path.write_text(GOOD.replace('agent = "mine"', 'agent = "mien"'))
    assert main([str(path)]) == 2
    assert 'did you mean "mine"?' in capsys.readouterr().err


def test_a_study_stopped_by_ctrl_c_leaves_its_database_and_continues(
    bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tune_test.toml"
    path.write_text(BAD)
    words = [str(path), "--results", str(tmp_path / "r"), "--quiet", "--workers", "0"]
    finish = search.TrialQueue.finish

    def interrupt(queue, number, *more):
        if number == 7:
            raise KeyboardInterrupt
        return finish(queue, number, *more)

    with monkeypatch.context() as patched:
        patched.setattr(search.TrialQueue, "finish", interrupt)
        assert main(words) == UNFINISHED
    (found,) = (tmp_path / "r" / "tune_test").glob("tune-??????????")
    stopped = optuna.load_study(study_name="tune_test", storage=f"sqlite:///{found / 'study.db'}")
    assert [trial.value for trial in stopped.trials] == list(trials(bad)["score"][:7])
    assert "stopped after 7 trials" in stopped.user_attrs["verdict"]
    assert main(words) == 0
    assert trials(found).equals(trials(bad))
    test_optuna_loads_the_database_of_a_study(found)


def killed_often(directory: Path, text: str, kills: int, longest: float) -> int:
    """Kill a study at random instants, then let it finish; return how many kills hit."""
    path = directory / "tune_test.toml"
    path.write_text(text)
    command = [sys.executable, "-m", "arena.tune", str(path), "--results", str(directory / "r")]
    rng, hits = random.Random(1), 0
    for _ in range(kills):
        process = subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL)
        try:
            process.wait(rng.uniform(0.5, longest))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            hits += 1
    subprocess.run([*command, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return hits


@pytest.mark.slow
def test_kill_9_at_any_instant_loses_and_repeats_nothing(bad: Path, tmp_path: Path) -> None:
    hits = killed_often(tmp_path, BAD, 30, 4.0)
    (found,) = (tmp_path / "r" / "tune_test").glob("tune-??????????")
    assert hits >= 10
    assert trials(found).equals(trials(bad))
    assert (found / "validation.parquet").read_bytes() == (bad / "validation.parquet").read_bytes()
    test_optuna_loads_the_database_of_a_study(found)


@pytest.mark.slow
def test_workers_that_are_killed_change_nothing(bad: Path, tmp_path: Path) -> None:
    path = tmp_path / "tune_test.toml"
    path.write_text(BAD.replace("depth = 2", "depth = 2"))
    command = [sys.executable, "-m", "arena.tune", str(path), "--results", str(tmp_path / "r")]
    process = subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        for child in children.read_text().split()[:1] if children.exists() else []:
            subprocess.run(["kill", "-9", child], check=False, stderr=subprocess.DEVNULL)
        time.sleep(0.7)
    assert process.returncode == 0
    (found,) = (tmp_path / "r" / "tune_test").glob("tune-??????????")
    assert trials(found).equals(trials(bad))


OWN = """game = "kalah(4,3)"
seed = 3
[agents.mine]
kind = "alphabeta"
depth = 1
evaluate = "own.py"
[tune]
agent = "mine"
trials = 10
games = 40
method = "tpe"
[tune.weights]
far = [0.0, 1.0]
"""
EVALUATION = (
    "from agents.features.sowing import pot\nWEIGHTS = {'far': 1.0}\n"
    "def evaluate(rules, position, weights):\n    return weights.far * pot(rules, position)\n"
)


def test_an_edit_during_a_study_stops_it_without_trials(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    (tmp_path / "own.py").write_text(EVALUATION)
    (tmp_path / "own.toml").write_text(OWN)
    prepare = search.prepare_study

    def edited(*words):
        study = prepare(*words)
        (tmp_path / "own.py").write_text(EVALUATION.replace("return ", "return 0.5 * "))
        return study

    monkeypatch.setattr(search, "prepare_study", edited)
    words = [str(tmp_path / "own.toml"), "--results", str(tmp_path / "r"), "--workers", "0"]
    assert main([*words, "--quiet"]) == 3
    assert "own.py was edited while the run played" in capsys.readouterr().err
    (directory,) = (tmp_path / "r").glob("own/tune-*")
    with RunDirectory(directory, directory.name.removeprefix("tune-")) as locked:
        assert locked.item_counts() == {("trials", ""): 0}
