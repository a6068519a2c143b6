"""The repository: version, links of the pages, no machine paths."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PUBLIC_HOSTS = {"pypi.org", "files.pythonhosted.org"}
UNTRACKED = re.compile(r"(^|/)(\.git|\.venv|__pycache__|\.[a-z_]+_cache|\.hypothesis|results)(/|$)")


def test_the_version_is_the_newest_of_the_changelog():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    newest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] == project["version"]


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


# -------------------------------------------------------------------- addresses and paths


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
