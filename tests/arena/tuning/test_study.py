"""Whole studies with few games: what they leave behind, and what interruptions do to them."""

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

import arena.commands.explain
import arena.commands.export
import arena.commands.judge
import arena.commands.rate
import arena.commands.report
import arena.commands.verify
from agents.evaluation.weights import read_weights
from agents.sandbox.sandbox import Sandbox
from arena.commands.runs import run_lines
from arena.commands.tune import main
from arena.stats.elo import elo_from_score
from arena.storage.results import foreign_files, is_run_directory, run_info
from arena.tuning import study as search
from games.base.errors import USER_ERROR
from tests.arena.running import WHO_PLAYS, database
from tests.arena.tuning.test_tune_file import GOOD

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
    """Run a whole study, in this process unless the words say who plays; its directory."""
    if not WHO_PLAYS & set(words):
        words += ("--workers", "0")
    directory.mkdir(exist_ok=True, parents=True)
    path = directory / "tune_test.toml"
    path.write_text(text)
    assert main([str(path), "--results", str(directory / "r"), "--quiet", *words]) == 0
    (found,) = (directory / "r" / "tune_test").glob("tune-??????????")
    return found


def copy_of(whole: Path, directory: Path) -> Path:
    """The study as if it had been played here, with its file; its directory."""
    root = whole.parents[2]
    shutil.copytree(root, directory, dirs_exist_ok=True)
    return directory / whole.relative_to(root)


def trials(directory: Path) -> pd.DataFrame:
    return pd.read_parquet(directory / "trials.parquet").drop(columns="seconds")


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study(tmp_path_factory.mktemp("bad"), BAD)


ASKED = {
    "report": arena.commands.report.main,
    "export": lambda words: arena.commands.export.main([*words, "--tables", "csv"]),
    "verify": arena.commands.verify.main,
    "verify --replay": lambda words: arena.commands.verify.main([*words, "--replay"]),
    "judge": arena.commands.judge.main,
    "rate": arena.commands.rate.main,
    "explain": lambda words: arena.commands.explain.main([f"{words[0]}#0@1"]),
}


@pytest.mark.parametrize("name", ASKED)
def test_commands_for_runs_say_what_a_study_has_instead(name, bad, capsys):
    assert ASKED[name]([str(bad)]) == USER_ERROR
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for word in (f"{bad} is a study", str(bad / "report.html"), "trials.parquet", "arena.tune "):
        assert word in said
    assert "not finished" not in said


def test_an_unfinished_study_is_told_how_to_go_on(bad, tmp_path, capsys):
    copy = copy_of(bad, tmp_path)
    stored = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**stored, "finished": None}))
    assert arena.commands.report.main([str(copy)]) == USER_ERROR
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


def test_bad_weights_are_bettered_and_the_better_ones_can_be_used(bad: Path) -> None:
    said = json.loads((bad / "recommendation.json").read_text())
    assert said["validation"]["verdict"] == "better"
    assert said["recommended"]["pot"] > 0
    path = bad / "weights.toml"
    assert read_weights(path)["pot"] == pytest.approx(said["recommended"]["pot"])
    assert tomllib.loads(path.read_text())["provenance"]["run"] == bad.name.removeprefix("tune-")


def test_the_claim_is_the_first_pairings_of_the_match_whatever_the_test_says(bad: Path) -> None:
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
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in text
    assert text.count('role="img"') == 4
    for name in ("history", "slice_pot", "slice_in_play", "validation"):
        assert (bad / f"{name}.svg").read_text().startswith("<svg")


def test_optunas_own_database_shows_the_study(bad: Path) -> None:
    found = optuna.load_study(study_name="tune_test", storage=f"sqlite:///{bad / 'study.db'}")
    rows = trials(bad)
    *played, marked = found.trials
    assert [trial.value for trial in played] == list(rows["score"])
    assert [trial.params["pot"] for trial in played] == list(rows["pot"])
    assert all(trial.state.is_finished() for trial in found.trials)
    assert all(trial.datetime_start < trial.datetime_complete for trial in played)
    said = json.loads((bad / "recommendation.json").read_text())
    assert marked.user_attrs["recommended"]
    assert (marked.params, marked.value) == (said["recommended"], said["expected_score"][0])
    assert found.user_attrs["verdict"] == said["validation"]["text"]


def test_tuning_and_validation_share_no_opening(bad: Path) -> None:
    from arena.tuning.budget import StudyBudget, split_openings  # noqa: PLC0415  # only this test
    from arena.tuning.study_config import load_study  # noqa: PLC0415  # likewise

    tuning = load_study(bad.parent.parent.parent / "tune_test.toml")
    tuned, held_out = split_openings(tuning, StudyBudget(12, 40, 100))
    assert len(tuned) == 12 * 20
    assert len(held_out) == 100
    assert not set(map(int, tuned.keys)) & set(map(int, held_out.keys))


def test_every_trial_has_openings_of_its_own(bad: Path) -> None:
    from arena.tuning import budget  # noqa: PLC0415  # only this test
    from arena.tuning.study_config import load_study  # noqa: PLC0415  # likewise

    tuning = load_study(bad.parent.parent.parent / "tune_test.toml", ["tune.method=spsa"])
    plan = budget.StudyBudget(12, 40, 100, 12)
    openings = budget.split_openings(tuning, plan)[0]
    games = search._trial_games(tuning, plan, openings, Sandbox(False))
    played = [set(games.placed(slot)["opening"].tolist()) for slot in range(12)]
    assert all(len(each) == 20 for each in played)
    for slot, each in enumerate(played):
        # The two sides of a step of SPSA share theirs; slot 0 plays the seed weights.
        shared = {slot, slot + 1 if slot % 2 else slot - 1} if slot else {0}
        assert {at for at, other in enumerate(played) if each & other} == shared & set(range(12))


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


def test_a_study_against_a_bot_does_not_say_that_it_can_be_repeated(tmp_path, capsys):
    (tmp_path / "bot.py").write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    text = SAME.replace("trials = 12", "trials = 5")
    text = text.replace("[tune.weights]", "opponents = { mine = 3, bot = 1 }\n[tune.weights]")
    found = study(tmp_path, text + '\n[agents.bot]\nkind = "python"\nfile = "bot.py"\n')
    words = "can be repeated: not known, 1 outside bot was not asked again"
    assert words in capsys.readouterr().out
    assert words in (found / "report.html").read_text()
    said = json.loads((found / "run.json").read_text())
    assert said["can_be_repeated"]["answer"] == "not known"


def test_a_budget_makes_a_small_study(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(search, "MEASURED_SECONDS", 0.01)  # of how fast games are
    # So little time that no machine plays more than the least that there is.
    found = study(tmp_path, SMALL, "--budget", "0.001s", "--set", "tune.trials=1000")
    rows = trials(found)
    assert set(rows["games"]) == {20}
    assert 0 < len(rows) <= 10


@pytest.mark.slow  # the tests of each method cut studies too
def test_a_study_cut_short_goes_on_with_other_workers_as_if_nothing_had_happened(
    bad: Path, tmp_path: Path
) -> None:
    other = copy_of(bad, tmp_path)
    for path in other.glob("*"):
        if path.is_file() and path.name != "journal.sqlite":
            path.unlink()
    with database(other / "journal.sqlite") as base:
        base.execute("delete from section_batches where section = 'trials' and start >= 7")
        base.execute("delete from section_batches where section = 'validation'")
    again = study(tmp_path, BAD, "--workers", "3")
    assert again == other
    assert trials(again).equals(trials(bad))
    for name in ("recommendation.json", "validation.parquet"):
        assert (again / name).read_bytes() == (bad / name).read_bytes()


# Twelve trials of five sides of steps each, cut inside a step.
STEPS = BAD.replace('method = "tpe"', 'method = "auto"').replace("games = 40", "games = 100")
STEPS = STEPS.replace("kalah(6,4)", "kalah(4,3)")


# What each method proposes after a cut: tests/arena/tuning/test_samplers.py.
@pytest.mark.parametrize(
    ("text", "cut"),
    [(STEPS, 31), pytest.param(BAD, 8, marks=pytest.mark.slow)],
)
def test_each_method_goes_on_byte_by_byte(tmp_path: Path, text: str, cut: int) -> None:
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


def killed_often(directory: Path, text: str, kills: int, longest: float) -> int:
    """Kill a study again and again at random instants, then let it finish; kills that hit."""
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
    test_optunas_own_database_shows_the_study(found)


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
