"""The command `pitflip new`."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from arena.commands.new import SCHEMA, STARTERS, example_names
from arena.config.experiment import load_experiment
from games.base.errors import OK, USER_ERROR
from tests.arena.running import run_in_process
from tests.commands import new as main

ROOT = Path(__file__).parents[2]


# The game is compiled, as those of tests/games/test_user_game.py are.
@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=[pytest.mark.slow] * (what == "game")) for what in STARTERS],
)
def test_starters_can_be_played(what, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([what, "mine"]) == OK
    shown = capsys.readouterr().out
    assert "to run: python -m arena.run mine.toml\n" in shown
    first = Path("mine.toml").read_text().partition("\n")[0]
    assert Path(first.removeprefix("#:schema ")).resolve() == ROOT / "docs" / SCHEMA
    experiment = load_experiment(Path("mine.toml"))
    assert experiment.name == "mine"
    if STARTERS[what].file:
        assert "mine.py" in Path("mine.toml").read_text()
        assert Path("mine.py").is_file()


@pytest.mark.parametrize("name", example_names())
def test_every_shipped_experiment_can_be_begun_from(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["experiment", "deep/mine.toml", "--like", name]) == OK
    assert load_experiment(Path("deep/mine.toml"), []).plan.game_name
    said = [line.rpartition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    kind = name.partition("_")[0]
    verbs = [kind] if kind in ("tune", "learn") else ["run", "tune"][: 1 + (name == "connect4")]
    modules = {"run": "arena.run", "tune": "arena.tune", "learn": "pitflip learn"}
    assert said[-len(verbs) :] == [f"python -m {modules[verb]} deep/mine.toml" for verb in verbs]


def test_a_bot_that_was_begun_plays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["bot"]) == OK
    done = run_in_process("my_bot.toml", "--pairs", 5, "--quiet", "--json")
    assert '"no_forfeits"' in done.stdout


def test_existing_file_is_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("precious")
    assert main(["bot", "mine.py"]) == USER_ERROR
    assert capsys.readouterr().err == "pitflip new: mine.py exists already; nothing was written\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


@pytest.mark.slow
def test_the_wheel_brings_the_experiments(tmp_path):
    """Built with the build backend that the environment has, or can get."""
    uv = Path(sys.executable).parent / "uv"
    words = [str(uv) if uv.exists() else "uv", "build", "--wheel", "--quiet", "-o", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "arena/shipped_experiments/smart_vs_bad.toml" in names
    assert "arena/shipped_experiments/bots/my_bot.py" in names
    assert "arena/experiment.schema.json" in names
    assert not [name for name in names if "__pycache__" in name]
