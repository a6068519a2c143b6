"""What the pages name is there: files, modules, and the numbers of the code."""

import re
from pathlib import Path

import pytest

from agents.evaluation.weights import endgame_from
from agents.registry import AGENTS, kind_of
from arena.analysis.checks.registry import CHECKS, claim
from arena.config.keys import EXPERIMENT_KEYS, SPRT_KEYS
from arena.planning.games import Termination
from arena.planning.openings.registry import COMMON_KEYS, OPENINGS, way
from arena.planning.schedules.registry import SCHEDULES, schedule
from games import game
from games.base.schema import Key
from games.base.text import format_value
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


def section(page: str, title: str) -> str:
    """What stands under a heading of a page in docs/."""
    text = (ROOT / "docs" / page).read_text()
    (found,) = re.findall(
        rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return found


def words_in_first_column(text: str) -> set[str]:
    """The words set as code in the first column of the section's tables."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`(\w+)", cell)}


def test_the_page_of_the_file_names_every_kind_and_every_option():
    options = {option.name for kind in AGENTS for option in kind_of(kind).options}
    kinds = set(AGENTS) - {"human"}  # a person plays with arena.play
    assert (
        words_in_first_column(section("experiment-file.md", "`[agents.NAME]`")) == kinds | options
    )


def test_the_page_of_the_file_names_every_check_and_its_keys():
    keys = {key.name for name in CHECKS for key in claim(name).KEYS}
    assert words_in_first_column(section("experiment-file.md", "`[[checks]]`")) == keys
    assert set(CHECKS) <= words_in_first_column((ROOT / "docs" / "checks.md").read_text())


def test_the_page_of_the_file_names_every_schedule_and_every_way_to_make_openings():
    page = (ROOT / "docs" / "experiment-file.md").read_text()
    for title, modules in (
        ("schedule", map(schedule, SCHEDULES)),
        ("openings", map(way, OPENINGS)),
    ):
        (rows,) = re.findall(rf"^### `{title}`\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
        names = {module.KEYS[0].name for module in modules}
        assert {
            name for name in names if not re.search(rf'^\| `["{{ ]*{name}\b', rows, re.M)
        } == set()


def rows(section: str, header: str) -> dict[str, str]:
    """The default of every key of one table of the page of experiment files."""
    page = (ROOT / "docs" / "experiment-file.md").read_text()
    table = page.partition(f"\n{section}\n")[2].partition(f"\n| {header} ")[2].partition("\n\n")[0]
    cells = [line.split(" | ") for line in table.splitlines()[2:]]
    return {name: each[1] for each in cells for name in CODE.findall(each[0])}


def default_text(key: Key) -> str:
    """A default as the page writes it; nothing where words must explain it."""
    if key.default is None or callable(key.default) or isinstance(key.default, tuple):
        return ""
    return format_value(key.default).removesuffix(".0")


ELSEWHERE = ("agents", "checks", "tune", "learn")  # tables with a section of their own
TABLES = {
    "key": ("## Above the tables", [key for key in EXPERIMENT_KEYS if key.name not in ELSEWHERE]),
    "option": ("## `[agents.NAME]`", [key for kind in AGENTS for key in kind_of(kind).options]),
}
SMALL_TABLES = {"### `stop`": SPRT_KEYS, "### `openings`": COMMON_KEYS}


@pytest.mark.parametrize(
    ("section", "header", "keys"),
    [
        *((section, header, keys) for header, (section, keys) in TABLES.items()),
        *((section, "key", keys) for section, keys in SMALL_TABLES.items()),
    ],
)
def test_the_page_of_experiment_files_has_the_keys_that_are_read(section, header, keys):
    defaults = rows(section, header)
    assert set(defaults) == {key.name for key in keys}
    for key in keys:
        assert default_text(key) in defaults[key.name] or key.name in ("depth", "nodes")


def test_the_start_page_links_every_page():
    """Else the site is not built: the sidebar has what is linked there."""
    linked = (ROOT / "README.md").read_text().rpartition("## More")[2]
    assert [page.name for page in (ROOT / "docs").glob("*.md") if page.name not in linked] == []


def test_the_docs_name_every_termination():
    (row,) = [line for line in (ROOT / "docs" / "results.md").read_text().splitlines()
              if line.startswith("| `termination` |")]  # fmt: skip
    fair, forfeits = row.split("forfeits")
    for end in Termination:
        assert f"`{end.name.lower()}`" in (fair if end.fair else forfeits)
