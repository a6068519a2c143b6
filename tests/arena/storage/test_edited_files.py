"""Every edit of a file that a bot may import or read makes another run."""

import shutil
import textwrap

import pytest

from arena.config.experiment import load_experiment
from arena.storage import provenance
from arena.storage.run_file import explain_new_run
from games.base import file_trees
from games.user_games.load import file_digest
from tests.arena.running import only_run, run_experiment_file, small
from tests.commands import verify

PYTHON = '[agents.mine]\nkind = "python"\nfile = "bot.py"\n'
PROGRAM = (
    '[agents.mine]\nkind = "lines"\ncommand = ["python3", "engine/bot.py"]\n{more}\n'
    "start_seconds = 20\nseconds = 20\n"
)
SCRIPT = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, sys.path[0] + "/lib")
    import part
    for line in sys.stdin:
        print(part.pick(line.split(";")[1].split()), flush=True)
    """
)
C_BOT = r"""
#include <stdio.h>
#include <string.h>
#include "pick.h"
int main(void) {
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        char *legal = strchr(line, ';') + 1, *end = strchr(legal, ';');
        *end = 0;
        char *last = strrchr(legal, ' '), *first = strtok(legal, " ");
        printf("%s\n", LAST && last ? last + 1 : first);
        fflush(stdout);
    }
}
"""
FILES = {
    "bot.py": "from mylib import parts\n"
    "def choose(view, legal, rng):\n    return parts.pick(legal)\n",
    "mylib/__init__.py": "",
    "mylib/parts.py": "from .deep import LAST\nfrom . import deep\n"
    "def pick(legal):\n    return legal[LAST]\n",
    "mylib/deep.py": "LAST = -1\n",
    "engine/bot.py": SCRIPT,
    "engine/lib/part.py": "def pick(legal):\n    return legal[0]\n",
}


@pytest.fixture
def files(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def experiment(files, agent, pairs=2):
    path = files / "demo.toml"
    path.write_text(small(pairs) + agent)
    return path


def digest(path):
    return provenance.identify_run("demo", load_experiment(path).plan).digest


@pytest.mark.parametrize("edited", ["mylib/deep.py", "mylib/__init__.py", "bot.py"])
def test_edit_in_a_package_is_another_run_and_verify_plays_the_copy(files, edited, capsys):
    path = experiment(files, PYTHON)
    run_experiment_file(path, files / "results")
    run, before = only_run(files / "results"), digest(path)
    assert before == run.name
    (files / edited).write_text(FILES[edited] + "# edited\n")
    assert digest(path) != before
    changed = provenance.identify_run("demo", load_experiment(path).plan)
    assert explain_new_run(run.parent / "new", changed).endswith(f"{edited} changed")
    (files / "mylib/deep.py").write_text("LAST = 0\n")
    assert verify([str(run), "--all"]) == 0
    assert f"{edited} has changed since this run: its kept copy" in capsys.readouterr().err


@pytest.mark.parametrize("more", ['cwd = "engine"', 'readable = ["engine"]'])
@pytest.mark.parametrize("edited", ["engine/lib/part.py", "engine/book.txt"])
def test_edit_in_a_readable_directory_is_another_run(files, more, edited, capsys):
    path = experiment(files, PROGRAM.format(more=more))
    run_experiment_file(path, files / "results")
    run, before = only_run(files / "results"), digest(path)
    assert before == run.name
    (files / edited).write_text("def pick(legal):\n    return legal[-1]\n")
    assert digest(path) != before
    assert verify([str(run), "--all"]) == 0
    told = capsys.readouterr().err
    assert "engine" in told
    assert "has changed since this run: its kept copy was taken" in told


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_edited_header_is_another_run_and_verify_plays_the_copy(files, capsys):
    (files / "pick.h").write_text("#define LAST 0\n")
    (files / "bot.c").write_text(C_BOT)
    agent = '[agents.mine]\nkind = "lines"\ncommand = ["bot.c"]\n'
    path = experiment(files, agent)
    run_experiment_file(path, files / "results")
    run, before = only_run(files / "results"), digest(path)
    assert verify([str(run), "--all"]) == 0
    assert "has changed" not in capsys.readouterr().err
    (files / "pick.h").write_text("#define LAST 1\n")
    assert digest(path) != before
    assert verify([str(run), "--all"]) == 0
    assert "pick.h has changed since this run: its kept copy" in capsys.readouterr().err


def test_run_in_a_readable_directory_does_not_change_its_digest(files):
    path = experiment(files, PROGRAM.format(more='readable = ["."]'))
    before = digest(path)
    run_experiment_file(path, files / "results")
    assert digest(path) == before


def test_large_directory_is_named_in_one_line(files, monkeypatch):
    monkeypatch.setattr(file_trees, "MOST_FILES", 1)
    plan = load_experiment(experiment(files, PROGRAM.format(more='cwd = "engine"'))).plan
    (line,) = provenance.large_directory_lines(plan)
    assert f"{files}/engine is large (2 files" in line
    assert "engine/" in provenance.file_digests(plan)


def test_digest_of_a_game_file_includes_its_imports(tmp_path):
    rules, beside = tmp_path / "mine.py", tmp_path / "numbers_of.py"
    rules.write_text("import numbers_of\n")
    beside.write_text("WIDE = 3\n")
    before = file_digest(rules)
    beside.write_text("WIDE = 4\n")
    assert file_digest(rules) != before
