"""The GitHub action that tests a pull request: its steps are run in a scratch repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.docs.pages import ROOT

ACTION = ROOT / ".github" / "actions" / "versus"
STEPS = yaml.safe_load((ACTION / "action.yml").read_text())
HOW_TO = ROOT / "docs" / "how-to" / "check-pull-requests.md"
EXPERIMENT = """
game = "kalah(4,3)"
openings = { random_plies = 4 }
[agents.mine]
kind = "python"
file = "mine.py"
deterministic = true
"""
BOT = "def choose(view, legal, rng):\n    return legal[{at}]\n"


def git(directory, *words):
    done = subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words],
        cwd=directory, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """A repository with two commits: the second one changes the agent."""
    git(tmp_path, "init", "-q", "--template=")
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    for at in (0, -1):
        (tmp_path / "mine.py").write_text(BOT.format(at=at))
        git(tmp_path, "add", "mine.toml", "mine.py")
        git(tmp_path, "commit", "-qm", f"play {at}")
    return tmp_path


def play(repository, **more):
    """Run the step that plays, as GitHub does; return its status, its log and the comment."""
    (step,) = [each for each in STEPS["runs"]["steps"] if each.get("name") == "play"]
    given = {
        "file": "mine.toml",
        "base": git(repository, "rev-parse", "HEAD~1"),
        "arguments": "--pairs 30 --elo1 100 --workers 1",
        "must-be-stronger": "false",
        **more,
    }
    values = {}
    for name, text in step["env"].items():
        key = text.removeprefix("${{ inputs.").removesuffix(" }}")
        values[name] = given[key] if key != text else text
        assert "${{" not in values[name]
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(repository)}
    done = subprocess.run(
        ["sh", "-c", step["run"]], cwd=repository, text=True, capture_output=True, check=False,
        env=os.environ | paths | values | {"GITHUB_ACTION_PATH": str(ACTION)},
    )  # fmt: skip
    return done.returncode, done.stderr, (repository / values["COMMENT"]).read_text()


def test_result_is_commented_and_games_are_reused(repository):
    status, log, comment = play(repository)
    assert status == 0, log
    base = git(repository, "rev-parse", "HEAD~1")
    assert comment.startswith(f"### pitflip versus\n\n    mine is stronger than mine@{base[:10]}")
    assert "| points of mine from a pair | pairs |" in comment
    assert "in the game cache" not in comment
    status, log, again = play(repository, arguments="--pairs 30 --elo1 100 --workers 1 --fresh")
    assert status == 0, log
    assert "games were in the game cache" in again
    # GitHub then shows the file: as a summary, and as a comment of a pull request.
    rest = [each.get("run", "") for each in STEPS["runs"]["steps"]]
    assert sum(".pitflip-comment.md" in each for each in rest) == 2


def test_agent_that_is_not_stronger_fails_only_on_request(repository):
    (repository / "mine.py").write_text(BOT.format(at=0) + "# as before, and slower\n")
    (repository / "other.py").write_text(BOT.format(at=-1))
    more = {"base": "HEAD", "arguments": "--pairs 30 --elo0 -1 --elo1 100 --workers 1"}
    status, log, comment = play(repository, **more)
    assert status == 0, log
    assert "is not stronger than" in comment
    assert play(repository, **more, **{"must-be-stronger": "true"})[0] == 1


def test_pull_request_without_a_change_of_the_agent_passes(repository):
    status, _, comment = play(repository, base="HEAD")
    assert status == 0
    assert "nothing to compare" in comment
    status, log, comment = play(repository, file="nothing.toml")
    assert status == 2
    assert "nothing.toml" in comment, log


def test_how_to_uses_the_action_with_its_inputs():
    (workflow,) = [
        yaml.safe_load(part.partition("```")[0])
        for part in HOW_TO.read_text().split("```yaml\n")[1:]
    ]
    ((job,),) = [workflow["jobs"].values()]
    (step,) = [each for each in job["steps"] if "versus" in each.get("uses", "")]
    assert (ROOT / step["uses"].partition("@")[0].partition("pitflip/")[2]) == ACTION
    assert set(step["with"]) <= set(STEPS["inputs"])
    needed = {name for name, each in STEPS["inputs"].items() if each.get("required")}
    assert needed <= set(step["with"])
    assert job["permissions"]["pull-requests"] == "write"
