"""The repository itself: its lock, its commands, and no trace of one machine."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PUBLIC_HOSTS = {"pypi.org", "files.pythonhosted.org"}
UNTRACKED = re.compile(r"(^|/)(\.git|\.venv|__pycache__|\.[a-z_]+_cache|\.hypothesis|results)(/|$)")


def project_files() -> list[Path]:
    """What git tracks; in an unpacked archive everything but environments and caches."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
        )
        names = listed.stdout.decode().split("\0")
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
    paths = (ROOT / name for name in names if name and not UNTRACKED.search(name))
    return [path for path in paths if path.is_file()]


def toml(name: str) -> dict:
    """A TOML file of the project."""
    return tomllib.loads((ROOT / name).read_text())


# -------------------------------------------------------------------- the lock


def test_the_lock_names_the_public_index_only():
    text = (ROOT / "uv.lock").read_text()
    hosts = set(re.findall(r"[a-z+]+://([^/\"]+)", text))
    assert hosts == PUBLIC_HOSTS


def test_every_locked_package_comes_from_that_index():
    sources = {json.dumps(package["source"]) for package in toml("uv.lock")["package"]}
    assert sources == {'{"registry": "https://pypi.org/simple"}', '{"editable": "."}'}


def bare_names(requirements: list[str]) -> set[str]:
    """The names of requirements such as `numpy>=2.4`."""
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}


def test_the_lock_is_of_these_dependencies():
    project, lock = toml("pyproject.toml"), toml("uv.lock")
    (ours,) = (each for each in lock["package"] if each["name"] == project["project"]["name"])
    assert {each["name"] for each in ours["dependencies"]} == bare_names(
        project["project"]["dependencies"]
    )
    locked = {
        group: {each["name"] for each in listed}
        for group, listed in ours["dev-dependencies"].items()
    }
    assert locked == {
        group: bare_names(names) for group, names in project["dependency-groups"].items()
    }


def test_the_lock_of_the_browser_tests_names_no_registry():
    lock = json.loads((ROOT / "tests/browser/package-lock.json").read_text())
    packages = lock["packages"]
    assert packages[""]["dependencies"].keys() == {
        name.removeprefix("node_modules/") for name in packages if name
    }
    assert all(each["integrity"] for name, each in packages.items() if name)
    assert "resolved" not in json.dumps(lock)


# ------------------------------------------------------------------ the commands


@pytest.mark.parametrize(
    "target", ["run", "setup", "test", "test-slow", "check", "coverage", "bench", "clean"]
)
def test_make_has_the_target(target):
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    assert re.search(rf"^\.PHONY:.* {target}\b", makefile, re.MULTILINE)


def test_setting_up_says_so_and_shows_no_command_of_its_own():
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    rules = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    steps = {rule.partition(":")[0]: rule.splitlines()[1:] for rule in rules if "\n\t" in rule}
    ours = [".venv/bin/python", ".venv/.run", ".venv/.dev"]
    for name in ours:
        assert all(line[1] == "@" for line in steps[name] if line.startswith("\t")), name
    said = [at for at, line in enumerate(steps[ours[0]]) if "packages of the lock file are" in line]
    made = [at for at, line in enumerate(steps[ours[0]]) if "venv --quiet" in line]
    assert said[0] < made[0]  # the sentence comes before what takes long


# --------------------------------------------------------------------- the machine


def test_nothing_names_a_directory_of_one_machine():
    roots = "|".join(("work", "root", "home", "Users"))
    absolute = re.compile(rf"(?<![\w.~}}-])/(?:{roots})/\w".encode())
    found = {
        str(path.relative_to(ROOT)): line.decode(errors="replace").strip()[:120]
        for path in project_files()
        for line in path.read_bytes().splitlines()
        if absolute.search(line)
    }
    assert not found
