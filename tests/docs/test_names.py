"""Files, modules and numbers in the docs exist in the code."""

import re
from functools import cache
from pathlib import Path

import pytest

from agents.evaluation.weights import default_endgame
from games import game
from tests.docs.pages import FENCED, PAGES, ROOT, blocks, name_of

TOPS = "games|agents|arena|pitflip|tests|benchmarks|tools|experiments|docs"
CODE = re.compile(r"`([^`\n]+)`")
PATHS = re.compile(rf"(?<![\w./-])(?:{TOPS})/[\w/.-]*(?![\w<>*/.-])")
MODULES = re.compile(r"(?<![\w./-])(?:games|arena|benchmarks)(?:\.\w+)+(?![\w/])")


WORDS = re.compile(r"[A-Za-z_]\w*")
# Names of readers' files.
OTHERS = {"my_bot", "my_class"}


def brought(page: Path) -> set[str]:
    """Return the files that a page lets its reader write."""
    return {block.file for block in blocks(page) if block.file}


def is_there(dotted: str) -> bool:
    """Return whether this is a module or a name in one."""
    path = ROOT / dotted.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    module = module if module.is_file() else path.parent / "__init__.py"
    return module.is_file() and re.search(rf"\b{path.name}\b", module.read_text()) is not None


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_and_modules_in_the_text_exist(page):
    code = "\n".join(CODE.findall(FENCED.sub("", page.read_text())))
    ours = brought(page)
    paths = [name for name in PATHS.findall(code) if name not in ours]
    # Paths in an experiment are relative to its directory.
    missing = [n for n in paths if not ((ROOT / n).exists() or (ROOT / "experiments" / n).exists())]
    assert missing == []
    modules = [name for name in MODULES.findall(code) if not name.endswith((".parquet", ".py"))]
    assert [name for name in modules if not is_there(name)] == []


@cache
def words_of_sources() -> frozenset[str]:
    sources = [
        *(path for top in TOPS.split("|") for path in (ROOT / top).rglob("*.py")),
        *(ROOT / "arena" / "report").glob("*.js"),
        ROOT / "pyproject.toml",
    ]
    found = {word for path in sources for word in WORDS.findall(path.read_text())}
    return frozenset(found | {path.stem for path in sources})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_of_code_in_the_running_text_are_there(page):
    text = page.read_text()
    shown = {word for block in blocks(page) for word in WORDS.findall(block.text)}
    code = "\n".join(CODE.findall(FENCED.sub("", text)))
    names = {word for word in WORDS.findall(PATHS.sub("", code)) if "_" in word.strip("_")}
    assert names - words_of_sources() - shown - OTHERS == set()


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "contribute"], ids=name_of)
def test_the_files_of_a_recipe_can_be_imported(page):
    ours = [name.removesuffix(".py").replace("/", ".") for name in brought(page)]
    for block in blocks(page):
        if block.file and block.language == "python" and not any(n in block.text for n in ours):
            exec(compile(block.text, block.file, "exec"), {"__name__": "recipe"})


def test_the_page_has_the_endgame_sizes_of_smart():
    page = " ".join((ROOT / "docs" / "explanation" / "search.md").read_text().split())
    said = re.search(r"`smart` solves from (\d+) beans and from (\d+) empty squares on", page)
    assert said.groups() == (
        str(default_endgame(game("kalah"))),
        str(default_endgame(game("othello"))),
    )


def test_the_index_links_every_page():
    docs = ROOT / "docs"
    linked = re.findall(r"\]\(([\w./-]+\.md)\)", (docs / "index.md").read_text())
    linked += re.findall(r"\]\(docs/([\w./-]+\.md)\)", (ROOT / "CONTRIBUTING.md").read_text())
    pages = {str(page.relative_to(docs)) for page in docs.rglob("*.md")}
    assert pages - {"index.md"} - set(linked) == set()
