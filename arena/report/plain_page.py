"""One self-contained HTML page: text, tables and figures, nothing from the network."""

from collections.abc import Sequence
from html import escape

STYLE = """
body { font: 15px/1.5 sans-serif; color: #222; max-width: 720px; margin: 2em auto; padding: 0 1em }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
table { border-collapse: collapse } td, th { padding: .2em .8em; text-align: right }
th { border-bottom: 1px solid #888 } td:first-child, th:first-child { text-align: left }
.verdict { font-size: 1.2em; padding: .6em 1em; background: #eef4fa;
  border-left: 4px solid #1f6fb2 }
svg { max-width: 100%; height: auto; display: block; margin: 1em 0 } code { white-space: pre-wrap }
"""


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    attribute = f' class="{escape(kind)}"' if kind else ""
    return f"<p{attribute}>{escape(text)}</p>\n"


def heading(text: str) -> str:
    """A heading inside the page."""
    return f"<h2>{escape(text)}</h2>\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of plain texts."""
    top = "".join(f"<th>{escape(word)}</th>" for word in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(word)}</td>" for word in row) + "</tr>\n" for row in rows
    )
    return f"<table>\n<tr>{top}</tr>\n{body}</table>\n"


def page(title: str, parts: Sequence[str]) -> str:
    """The whole page; `parts` are HTML from here and SVG figures."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style></head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{''.join(parts)}</body>\n</html>\n"
    )
