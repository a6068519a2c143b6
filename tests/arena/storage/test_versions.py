"""Versions of a user's file from git and from a run."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agents.core import SpecError
from agents.spec import spec_from_text
from agents.user_files import split_reference
from arena.config.experiment import load_experiment
from arena.config.toml_file import ExperimentError
from arena.storage.git import VersionError, list_commits, open_revision
from arena.storage.versions import checkout_version, parse_version, resolve_version
from tests.arena.running import run_experiment_file
from tests.commands import explain, play, verify

OLD, NEW = "# one\nimport beside\n", "# two\nimport beside\n"
HEAD = 'game = "kalah(4,3)"\npairs = 4\nopenings = { random_plies = 4 }\n'
AGENT = '[agents.{name}]\nkind = "python"\nfile = "{file}"\n'
BOT = "def choose(view, legal, rng):\n    return legal[{place}]\n"


def git(directory, *words):
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words],
        cwd=directory, check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A repository with two revisions of a bot, and a bot that was renamed."""
    top = tmp_path_factory.mktemp("repository") / "bots"
    top.mkdir()
    git(top.parent, "init", "-q")
    (top / "heur.py").write_text(OLD)
    (top / "beside.py").write_text("best = 1\n")
    (top / "gone.py").write_text(BOT.format(place=0))
    git(top, "add", "-A")
    git(top, "commit", "-qm", "one\tword")
    (top / "heur.py").write_text(NEW)
    (top / "beside.py").write_text("best = 2\n")
    (top / "link.py").symlink_to("heur.py")
    git(top, "add", "-A")
    git(top, "mv", "gone.py", "renamed.py")
    git(top, "commit", "-qm", "two")
    return top


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("heur.py@HEAD~1", ("heur.py", "HEAD~1", "")),
        ("a@b/heur.py@HEAD@{1}:evaluate", ("a@b/heur.py", "HEAD@{1}", "evaluate")),
        ("heur.py@run:a91", ("heur.py", "run:a91", "")),
        ("heur.py@run:a91:best", ("heur.py", "run:a91", "best")),
        ("../heur.py@v1.2", ("../heur.py", "v1.2", "")),
    ],
)
def test_version_is_parsed_after_the_ending_of_the_file(written, parts):
    assert parse_version(written) == parts
    assert parse_version("heur.py:evaluate") is None


def test_revision_has_its_own_content_and_imports(tree):
    old = checkout_version(tree / "heur.py", "HEAD~1", ())
    assert old.read_text() == OLD
    assert (old.parent / "beside.py").read_text() == "best = 1\n"
    assert checkout_version(tree / "heur.py", "HEAD", ()).read_text() == NEW
    old.write_text("damaged")
    assert checkout_version(tree / "heur.py", "HEAD~1", ()).read_text() == OLD


def test_revision_includes_imported_packages(tmp_path):
    bots = tmp_path / "bots"
    for name, text in {
        "mine.py": "from parts.deep import more\n",
        "parts/deep/more.py": "from ..table import best\n",
        "parts/table.py": "best = 1\n",
        "parts/weights.json": "{}",
        "other/unused.py": "",
    }.items():
        (bots / name).parent.mkdir(parents=True, exist_ok=True)
        (bots / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (bots / "parts/table.py").write_text("best = 2\n")
    old = checkout_version(bots / "mine.py", "HEAD", ()).parent
    assert (old / "parts/table.py").read_text() == "best = 1\n"
    assert (old / "parts/deep/more.py").is_file()
    assert (old / "parts/weights.json").is_file()
    assert not (old / "other").exists()


def test_edited_and_deleted_files_change_no_revision(tree):
    (tree / "heur.py").write_text("# three\n")
    assert checkout_version(tree / "heur.py", "HEAD", ()).read_text() == NEW
    (tree / "heur.py").unlink()
    assert checkout_version(tree / "heur.py", "HEAD", ()).read_text() == NEW
    git(tree, "checkout", "heur.py")
    assert checkout_version(tree / "gone.py", "HEAD~1", ()).read_text() == BOT.format(place=0)


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("heur.py", "HEAD~7", r'no revision "HEAD~7" \(the latest of heur.py: \w{10}, \w{10}\)'),
        ("heur.py", "--all", "a revision is a name such as HEAD~1"),
        ("heur.py", "HEAD:bots", "a revision is a name"),
        ("gone.py", "HEAD", r'no file "bots/gone.py" in revision \w{10}'),
        ("link.py", "HEAD", "is no file in revision"),
        ("../../out.py", "HEAD", "is in no git repository"),
        ("heur.py", "run:77", "there is no run 77"),
        ("heur.py", "run:../x", "is not a run's directory"),
        ("heur.py", "run:*", "a run is named by the letters"),
    ],
)
def test_wrong_version_is_refused_in_one_line(tree, name, version, said):
    with pytest.raises(VersionError, match=said) as error:
        checkout_version(tree / name, version, (tree / "results",))
    assert "\n" not in str(error.value)


def test_missing_git_or_repository_is_reported(tree, tmp_path, monkeypatch):
    with pytest.raises(VersionError, match="is in no git repository"):
        checkout_version(tmp_path / "heur.py", "HEAD", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(VersionError, match="git is not installed"):
        checkout_version(tree / "heur.py", "HEAD", ())


def test_git_executes_no_program_of_the_repository(tree, tmp_path):
    spy = tmp_path / "spy.sh"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    spy.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "filter.x.smudge"):
        git(tree, "config", key, str(spy))
    (tree / ".gitattributes").write_text("*.py filter=x\n")
    (hooks := tree.parent / ".git" / "hooks").mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).symlink_to(spy)
    checkout_version(tree / "heur.py", "HEAD", ())
    list_commits([tree / "heur.py"], 5)
    assert not (tmp_path / "ran").exists()
    (tree / ".gitattributes").unlink()


def test_commits_of_a_file_are_listed_latest_first(tree):
    commits = list_commits([tree / "heur.py"], 5)
    assert [each.subject for each in commits] == ["two", "one\tword"]
    assert open_revision(tree / "heur.py", commits[1].short).commit == commits[1].name


def test_run_has_a_version_after_the_file_was_edited_or_deleted(tmp_path):
    path, bot = tmp_path / "demo.toml", tmp_path / "mine.py"
    bot.write_text(BOT.format(place=0))
    path.write_text(
        HEAD + AGENT.format(name="mine", file="mine.py") + '[agents.first]\nkind = "first"\n'
    )
    run_experiment_file(path, tmp_path / "results", workers=0)
    (run,) = (tmp_path / "results" / "demo").iterdir()
    bot.write_text(BOT.format(place=-1))
    path.write_text(path.read_text() + AGENT.format(name="old", file=f"mine.py@run:{run.name[:6]}"))
    old = load_experiment(path).plan.agents["old"].options["file"]
    assert Path(old.rpartition(":")[0]).read_text() == BOT.format(place=0)
    assert load_experiment(path).plan.to_json()["agents"]["old"]["file"].startswith("@versions/")
    bot.unlink()
    with pytest.raises(ExperimentError, match=r'there is no file "mine\.py"') as error:
        load_experiment(path)
    assert len(error.value.problems) == 1  # the version is there all the same
    stored = json.loads((run / "run.json").read_text())
    (digest,) = stored["sources"].values()
    assert str(tmp_path) not in json.dumps(stored["plan"])
    os.truncate(run / "sources" / digest / "mine.py", 3)
    with pytest.raises(ExperimentError, match="was changed"):
        load_experiment(path)


@pytest.mark.slow  # a bot in the sandbox, twice
def test_run_with_a_version_is_verified_without_cache_and_repository(tmp_path, tree, monkeypatch):
    path = tree / "demo.toml"
    path.write_text(
        HEAD + AGENT.format(name="old", file="gone.py@HEAD~1") + '[agents.first]\nkind = "first"\n'
    )
    run_experiment_file(path, tmp_path / "results", workers=0)
    path.unlink()
    shutil.rmtree(tmp_path / "cache" / "pitflip" / "versions")
    (run,) = (tmp_path / "results" / "demo").iterdir()
    assert verify([str(run)]) == 0


@pytest.fixture
def edited(tmp_path):
    """A repository of one revision, in whose tree a bot was edited since."""
    git(tmp_path, "init", "-q")
    (tmp_path / "one.py").write_text(BOT.format(place=0))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one.py")
    (tmp_path / "one.py").write_text(BOT.format(place=-1))
    return tmp_path


def test_command_line_accepts_versions(edited, monkeypatch):
    monkeypatch.chdir(edited)
    (edited / "old.toml").write_text(AGENT.format(name="old", file="one.py@HEAD"))
    for word in ("one.py@HEAD", "one.py@HEAD:choose", "old.toml:old"):
        spec = spec_from_text(word, {}, resolve_version)
        path, name = split_reference(str(spec.options["file"]), "choose")
        assert (spec.kind, path.read_text(), name) == ("python", BOT.format(place=0), "choose")
    (program,) = spec_from_text("gtp one.py@HEAD", {}, resolve_version).options["command"]
    evaluated = spec_from_text("one.py@HEAD:evaluate", {"depth": 3}, resolve_version)
    own = str(evaluated.options["evaluate"])
    assert Path(program).read_text() == BOT.format(place=0)
    assert evaluated.kind == "alphabeta"
    assert Path(own.removesuffix(":evaluate")).read_text() == BOT.format(place=0)
    with pytest.raises(SpecError, match="nothing"):
        spec_from_text("one.py@nothing", {}, resolve_version)


def test_explain_and_play_accept_versions(edited, monkeypatch, capsys):
    monkeypatch.chdir(edited)
    for word, number in (("one.py", 3), ("one.py@HEAD", 1)):
        assert explain(["kalah(3,2)", "--agent", word, "--solve-seconds", "0"]) == 0
        assert f"plays {number}\n" in capsys.readouterr().out
    assert explain(["kalah(3,2)", "--agent", "one.py@HEAD~1", "--solve-seconds", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert play(["kalah(2,1)", "--first", "one.py@HEAD", "--second", "first"]) == 0


def test_roster_accepts_versions(edited):
    (edited / "class" / "ada").mkdir(parents=True)
    text = 'kind = "python"\nfile = "../../one.py@HEAD"\n'
    (edited / "class" / "ada" / "bot.toml").write_text(text)
    (edited / "class.toml").write_text(
        'game = "kalah(4,3)"\n[roster]\ndirectory = "class"\n[agents.r]\nkind = "random"\n'
    )
    ada = load_experiment(edited / "class.toml").plan.agents["ada"]
    assert Path(str(ada.options["file"]).removesuffix(":choose")).read_text() == BOT.format(place=0)
