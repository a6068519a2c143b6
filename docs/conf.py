"""The site that `make docs` builds from README.md, docs/ and benchmarks/."""

import re
import shutil
import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[1]

project = "Pitflip"
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
project_copyright = "the Pitflip authors"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "benchmarks/*.md"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Pitflip {release}"
html_show_sphinx = False
html_copy_source = False

# What a browser would fetch by itself; a link that a reader may follow is another matter.
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//[^>]*"
    r"|(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']*"
)


def with_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """The start page has the sidebar's contents, in the order in which pages are linked.

    A page that neither it nor the table of recipes links is a warning, so it ends the build.
    """
    if name == root_doc:
        recipes = (ROOT / "CONTRIBUTING.md").read_text()
        pages = re.findall(r"\]\(([\w/.-]+)\.md\)", source[0].rpartition("## More")[2])
        pages += re.findall(r"\]\((docs/recipes/[\w-]+)\.md\)", recipes)
        listed = "\n".join([*pages, "benchmarks/*", "CHANGELOG"])
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{listed}\n```\n"


def finished(app: Sphinx, failure: Exception | None) -> None:
    """The site opens at its start page, and it needs no network."""
    if failure:
        return
    site = Path(app.outdir)
    shutil.copy(site / f"{root_doc}.html", site / "index.html")
    for page in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        if outside := LOADED.search(page.read_text()):
            raise ExtensionError(f"{page.relative_to(site)} loads {outside[0]}")


def setup(app: Sphinx) -> None:
    """What is done beside Sphinx's own work."""
    app.connect("source-read", with_contents)
    app.connect("build-finished", finished)
