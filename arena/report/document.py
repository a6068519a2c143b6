"""HTML documents: one file each, with a content security policy that allows nothing else."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from arena.report.html import Html, Inside, join, tag
from arena.report.palette import figure_style, page_style

BOARDS = ("elements.js", "sowing.js", "othello.js")
SCRIPTS = (*BOARDS, "games_list.js", "replay.js", "page.js")
HERE = Path(__file__).parent
NONE, SELF = "'none'", "'self'"  # sources of a content security policy


def document(
    title: str,
    body: Html,
    data: str | None = None,
    live_script: str = "",
    scripts: Sequence[str] = SCRIPTS,
    connects: bool = False,
    main_part: str = "games",
) -> str:
    """Return a whole page.

    `data` is the JSON that the script of the page reads; without it the page has no script. The
    policy names the style and the script by their hashes. Only a live page and a page that
    `connects` may send requests to their server.
    """
    style = Html(styles())
    script = None if data is None else Html(live_script + page_script(tuple(scripts)))
    connect = SELF if live_script or connects else NONE
    policy = (
        f"default-src {NONE}; style-src {csp_hash(style)}; "
        f"script-src {csp_hash(script) if script else NONE}; img-src data:; "
        f"connect-src {connect}; base-uri {NONE}; form-action {NONE}"
    )
    head = (
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Html(policy)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", style),
    )
    inside: tuple[Html, ...] = (tag("main", body),)
    if data is not None and script is not None:
        inside = (
            tag("a", f"Skip to the {main_part}", href=f"#{main_part}", class_="skip"),
            *inside,
            tag("div", id="tip", role="tooltip", hidden=True),
            tag("script", Html(data), type="application/json", id="data"),
            tag("script", script),
        )
    whole = tag("html", tag("head", *head), "\n", tag("body", *inside), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def text_document(title: str, answer: str, parts: Sequence[Inside]) -> str:
    """Return a page without a script: its title, the answer, and sections or paragraphs."""
    header = tag("header", tag("h1", title), tag("p", answer, class_="answer"))
    return document(title, join([header, *parts]))


def paragraph(text: str) -> Html:
    """Return a paragraph."""
    return tag("p", text, class_="lead")


@cache
def styles() -> str:
    """Return the style of all pages."""
    return page_style() + figure_style() + (HERE / "page.css").read_text()


@cache
def page_script(names: tuple[str, ...] = SCRIPTS) -> str:
    """Return the script of a page, made of files of this package."""
    return '"use strict";\n(() => {\n' + read_scripts(names) + "})();\n"


def read_scripts(names: Sequence[str]) -> str:
    """Concatenate scripts of this package."""
    return "".join((HERE / name).read_text() for name in names)


def csp_hash(text: str) -> str:
    """Return a script or style as a source of a content security policy."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
