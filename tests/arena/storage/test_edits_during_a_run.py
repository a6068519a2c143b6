"""Edits while a run starts or plays: it plays the files in its digest, or stops."""

import pytest

from arena.pipeline import run as run_module
from arena.storage import versions
from arena.storage.journal import RunDirectory
from games.base.errors import Unfinished, UserError
from tests.arena.running import only_run, run_experiment_file, small, tables

SCRIPT = (
    "import sys\n"
    "from pick import pick\n"
    "for line in sys.stdin:\n"
    "    print(pick(line.split(';')[1].split()), flush=True)\n"
)
FIRST, LAST = (f"def pick(legal):\n    return legal[{at}]\n" for at in (0, -1))
PROGRAM = (
    '[agents.mine]\nkind = "lines"\ncommand = ["python3", "engine/bot.py"]\n'
    'process = "game"\nstart_seconds = 20\nseconds = 20\n'
)
AGENTS = {
    "program": f'{PROGRAM}readable = ["engine"]\n',
    "program with cwd": f'{PROGRAM}cwd = "engine"\n',
    "python": '[agents.mine]\nkind = "python"\nfile = "engine/mine.py"\n',
    "evaluation": '[agents.mine]\nkind = "alphabeta"\ndepth = 2\nevaluate = "engine/heur.py"\n',
}
FILES = {
    "engine/bot.py": SCRIPT,
    "engine/pick.py": FIRST,
    "engine/mine.py": "from pick import pick\ndef choose(view, legal, rng):\n"
    "    return pick(legal)\n",
    "engine/heur.py": "from agents.features.sowing import pot\nfrom factor import FACTOR\n"
    "def evaluate(rules, position):\n    return FACTOR * pot(rules, position)\n",
    "engine/factor.py": "FACTOR = 1\n",
}
EDITS = {"engine/pick.py": LAST, "engine/factor.py": "FACTOR = -1\n"}


def experiment(directory, agent):
    for name, text in FILES.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    path = directory / "demo.toml"
    path.write_text(small(4) + agent)
    return path


def edit_before_playing(monkeypatch, directory, edits):
    """Edit files of the run just before it tries its bots."""
    load = run_module.find_unloadable

    def unloadable(*words):
        for name, text in edits.items():
            (directory / name).write_text(text)
        return load(*words)

    monkeypatch.setattr(run_module, "find_unloadable", unloadable)


@pytest.mark.parametrize("kind", AGENTS)
def test_edit_during_a_run_changes_no_game(kind, tmp_path, monkeypatch):
    path = experiment(tmp_path, AGENTS[kind])
    run_experiment_file(path, tmp_path / "before")
    edit_before_playing(monkeypatch, tmp_path, EDITS)
    run_experiment_file(path, tmp_path / "during")
    assert only_run(tmp_path / "during").name == only_run(tmp_path / "before").name
    assert tables(tmp_path / "during") == tables(tmp_path / "before")
    monkeypatch.undo()
    run_experiment_file(path, tmp_path / "after")
    assert only_run(tmp_path / "after").name != only_run(tmp_path / "before").name
    assert tables(tmp_path / "after") != tables(tmp_path / "before")


def test_edit_of_a_file_without_a_copy_stops_the_run(tmp_path, monkeypatch):
    path = experiment(tmp_path, AGENTS["program with cwd"])
    monkeypatch.setattr(versions, "MAX_BYTES", 10)
    edit_before_playing(monkeypatch, tmp_path, EDITS)
    with pytest.raises(Unfinished, match=r"engine/pick\.py was edited while the run played"):
        run_experiment_file(path, tmp_path / "results")
    directory = only_run(tmp_path / "results")
    with RunDirectory(directory, directory.name) as locked:
        assert locked.item_counts() == {("games", ""): 0}


def test_directory_with_its_path_in_the_environment_is_not_replaced(tmp_path, monkeypatch):
    more = f'readable = ["engine"]\nenvironment = {{ BOOK = "{tmp_path}/engine" }}\n'
    path = experiment(tmp_path, PROGRAM + more)
    edit_before_playing(monkeypatch, tmp_path, EDITS)
    with pytest.raises(Unfinished, match=r"engine/pick\.py was edited while the run played"):
        run_experiment_file(path, tmp_path / "results")


def test_edit_while_the_run_starts_stops_it(tmp_path, monkeypatch):
    path = experiment(tmp_path, AGENTS["python"])
    keep = run_module.copy_sources

    def edited_meanwhile(*words):
        (tmp_path / "engine/pick.py").write_text(LAST)
        return keep(*words)

    monkeypatch.setattr(run_module, "copy_sources", edited_meanwhile)
    with pytest.raises(Unfinished, match=r"engine/pick\.py was edited while the run started"):
        run_experiment_file(path, tmp_path / "results")


def test_faults_name_the_original_files(tmp_path):
    path = experiment(tmp_path, AGENTS["python"])
    (tmp_path / "engine/pick.py").write_text("def pick(legal):\n    return [][0]\n")
    with pytest.raises(UserError):
        run_experiment_file(path, tmp_path / "results")
    told = (only_run(tmp_path / "results") / "run.log").read_text()
    assert f'File "{tmp_path}/engine/mine.py"' in told
    assert "sources/" not in told
