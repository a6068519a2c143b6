"""The site that `make docs` builds from README.md, docs/ and benchmarks/."""

import re
import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[1]

project = "Pitflip"
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
project_copyright = "the Pitflip authors"
extensions = ["myst_parser"]
root_doc = "docs/index"
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


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Open the site at its start page and refuse pages that load anything from a network."""
    if failure:
        return
    site = Path(app.outdir)
    (site / "index.html").write_text(
        '<meta http-equiv="refresh" content="0; url=docs/index.html">\n'
    )
    for page in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        if outside := LOADED.search(page.read_text()):
            raise ExtensionError(f"{page.relative_to(site)} loads {outside[0]}")


def setup(app: Sphinx) -> None:
    """Register what happens after a build."""
    app.connect("build-finished", finish)
