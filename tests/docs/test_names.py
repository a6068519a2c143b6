"""What the pages name is there: files, modules, and the numbers of the code."""

import re
from pathlib import Path

import pytest

from agents.evaluation.weights import endgame_from
from arena.planning.openings.registry import OPENINGS, way
from arena.planning.schedules.registry import SCHEDULES, schedule
from games import game
from tests.docs.pages import FENCED, PAGES, ROOT, blocks, name_of

ROOMS = "games|agents|arena|tests|benchmarks|experiments|docs"
CODE = re.compile(r"`([^`\n]+)`")
PATHS = re.compile(rf"(?<![\w./-])(?:{ROOMS})/[\w/.-]*(?![\w<>*/.-])")
MODULES = re.compile(r"(?<![\w./-])(?:games|arena|benchmarks)(?:\.\w+)+(?![\w/])")


def brought(page: Path) -> set[str]:
    """The files that a page has its reader write."""
    return {block.file for block in blocks(page) if block.file}


def is_there(dotted: str) -> bool:
    """Whether this is a module, or a word of one."""
    path = ROOT / dotted.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    module = module if module.is_file() else path.parent / "__init__.py"
    return module.is_file() and re.search(rf"\b{path.name}\b", module.read_text()) is not None


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_and_modules_in_the_running_text_are_there(page):
    code = "\n".join(CODE.findall(FENCED.sub("", page.read_text())))
    ours = brought(page)
    paths = [name for name in PATHS.findall(code) if name not in ours]
    # An experiment names files from its own directory.
    missing = [n for n in paths if not ((ROOT / n).exists() or (ROOT / "experiments" / n).exists())]
    assert missing == []
    modules = [name for name in MODULES.findall(code) if not name.endswith((".parquet", ".py"))]
    assert [name for name in modules if not is_there(name)] == []


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "recipes"], ids=name_of)
def test_the_files_of_a_recipe_can_be_imported(page):
    ours = [name.removesuffix(".py").replace("/", ".") for name in brought(page)]
    for block in blocks(page):
        if block.file and block.language == "python" and not any(n in block.text for n in ours):
            exec(compile(block.text, block.file, "exec"), {"__name__": "recipe"})


def test_smart_solves_endgames_from_where_the_page_says():
    page = " ".join((ROOT / "docs" / "agents.md").read_text().split())
    said = re.search(r"`smart` solves from (\d+) beans and from (\d+) empty squares on", page)
    assert said.groups() == (str(endgame_from(game("kalah"))), str(endgame_from(game("othello"))))


def test_the_page_of_the_file_names_every_schedule_and_every_way_to_make_openings():
    page = (ROOT / "docs" / "experiment-file.md").read_text()
    for title, modules in (
        ("schedule", map(schedule, SCHEDULES)),
        ("openings", map(way, OPENINGS)),
    ):
        (rows,) = re.findall(rf"^### `{title}`\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
        names = {module.KEYS[0].name for module in modules if module.KEYS}
        assert {
            name for name in names if not re.search(rf'^\| `["{{ ]*{name}\b', rows, re.M)
        } == set()


def test_the_start_page_links_every_page():
    """Else the site is not built: the sidebar has what is linked there."""
    linked = (ROOT / "README.md").read_text().rpartition("## More")[2]
    assert [page.name for page in (ROOT / "docs").glob("*.md") if page.name not in linked] == []
