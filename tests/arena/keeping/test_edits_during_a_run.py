"""Edits of a user's files while a run starts or plays: it plays what its digest names, or stops."""

import pytest

from arena.pipeline import run as run_module
from arena.pipeline import run_notes
from arena.storage import versions
from arena.storage.journal import RunDirectory
from games.base.errors import Unfinished, UserError
from tests.arena.running import directory_of, played, small, tables

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
    """Edit files of the run when it is about to try its bots."""
    load = run_module.unloadable

    def unloadable(*words):
        for name, text in edits.items():
            (directory / name).write_text(text)
        return load(*words)

    monkeypatch.setattr(run_module, "unloadable", unloadable)


@pytest.mark.parametrize("kind", AGENTS)
def test_an_edit_during_a_run_changes_nothing(kind, tmp_path, monkeypatch):
    path = experiment(tmp_path, AGENTS[kind])
    played(path, tmp_path / "before")
    edit_before_playing(monkeypatch, tmp_path, EDITS)
    played(path, tmp_path / "during")
    assert directory_of(tmp_path / "during").name == directory_of(tmp_path / "before").name
    assert tables(tmp_path / "during") == tables(tmp_path / "before")
    monkeypatch.undo()
    played(path, tmp_path / "after")
    assert directory_of(tmp_path / "after").name != directory_of(tmp_path / "before").name
    assert tables(tmp_path / "after") != tables(tmp_path / "before")


def test_an_edit_of_what_is_not_kept_stops_the_run_without_games(tmp_path, monkeypatch):
    path = experiment(tmp_path, AGENTS["program with cwd"])
    monkeypatch.setattr(versions, "LARGEST", 10)
    edit_before_playing(monkeypatch, tmp_path, EDITS)
    with pytest.raises(Unfinished, match=r"engine/pick\.py was edited while the run played"):
        played(path, tmp_path / "results")
    directory = directory_of(tmp_path / "results")
    with RunDirectory(directory, directory.name) as locked:
        assert locked.finished() == {("games", ""): 0}


def test_a_directory_that_the_bot_names_by_its_whole_path_stays_where_it_is(tmp_path, monkeypatch):
    more = f'readable = ["engine"]\nenvironment = {{ BOOK = "{tmp_path}/engine" }}\n'
    path = experiment(tmp_path, PROGRAM + more)
    edit_before_playing(monkeypatch, tmp_path, EDITS)
    with pytest.raises(Unfinished, match=r"engine/pick\.py was edited while the run played"):
        played(path, tmp_path / "results")


def test_an_edit_while_the_run_starts_stops_it(tmp_path, monkeypatch):
    path = experiment(tmp_path, AGENTS["python"])
    keep = run_notes.keep_sources

    def edited_meanwhile(*words):
        (tmp_path / "engine/pick.py").write_text(LAST)
        return keep(*words)

    monkeypatch.setattr(run_notes, "keep_sources", edited_meanwhile)
    with pytest.raises(Unfinished, match=r"engine/pick\.py was edited while the run started"):
        played(path, tmp_path / "results")


def test_faults_name_the_files_as_their_user_wrote_them(tmp_path):
    path = experiment(tmp_path, AGENTS["python"])
    (tmp_path / "engine/pick.py").write_text("def pick(legal):\n    return [][0]\n")
    with pytest.raises(UserError):
        played(path, tmp_path / "results")
    told = (directory_of(tmp_path / "results") / "run.log").read_text()
    assert f'File "{tmp_path}/engine/mine.py"' in told
    assert "sources/" not in told
