"""The habits of the repository: what CI, pre-commit, make and the pages promise is one promise."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def parsed(name: str) -> dict:
    """A YAML file of the project."""
    return yaml.safe_load((ROOT / name).read_text())


def supported() -> list[str]:
    """The versions of Python that `requires-python` allows, lowest first."""
    span = PROJECT["project"]["requires-python"]
    lowest, beyond = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", span).groups()
    return [f"3.{minor}" for minor in range(int(lowest), int(beyond))]


def commands(job: dict) -> list[str]:
    """What the steps of a CI job run, without the choice of a Python."""
    return [step["run"].removesuffix(" PYTHON=python") for step in job["steps"] if "run" in step]


def test_ci_tries_every_supported_python_on_both_systems():
    matrix = parsed(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == supported()
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos"}


def test_ci_runs_make_and_only_targets_that_there_are():
    jobs = parsed(".github/workflows/ci.yml")["jobs"]
    assert {name: commands(job) for name, job in jobs.items()} == {
        "test": ["make check", "make test"],
        "slow": ["make test-slow"],
        "docs": ["make docs"],
    }


def test_pre_commit_runs_make_check_without_a_network():
    (repository,) = parsed(".pre-commit-config.yaml")["repos"]
    (hook,) = repository["hooks"]
    assert repository["repo"] == "local"
    assert (hook["entry"], hook["language"]) == ("make check", "system")
    assert hook["always_run"]
    assert not hook["pass_filenames"]


def test_make_mypy_and_ruff_know_the_same_pythons():
    lowest, highest = supported()[0], supported()[-1]
    assert set(re.findall(r"python(3\.\d+)", MAKEFILE)) == set(supported())
    low, high = (version.replace(".", ", ") for version in (lowest, highest))
    assert f"not ({low}) <= sys.version_info[:2] <= ({high})" in MAKEFILE
    assert PROJECT["tool"]["mypy"]["python_version"] == lowest
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{lowest.replace('.', '')}"
    assert f"Python {lowest} to {highest}" in (ROOT / "README.md").read_text()


def test_every_package_says_that_it_is_typed():
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert all((ROOT / package / "py.typed").is_file() for package in packages)


def test_the_version_is_the_newest_of_the_changelog():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] == PROJECT["project"]["version"]


def test_the_editor_is_told_what_ruff_enforces():
    lines = (ROOT / ".editorconfig").read_text().splitlines()
    assert f"max_line_length = {PROJECT['tool']['ruff']['line-length']}" in lines


# ------------------------------------------------------------------- links of the pages


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as its readers' sites make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        name, _, anchor = link.partition("#")
        goal = (page.parent / name).resolve() if name else page
        assert goal.exists(), f"{page.name}: {link} leads nowhere"
        assert not anchor or anchor in anchors(goal), f"{page.name}: {link} has no such heading"
