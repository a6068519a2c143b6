"""Tags; all escaping happens here."""

import re
from collections.abc import Iterable
from html import escape
from typing import TypeAlias

# Tags without an end: of HTML, then of SVG, where they close themselves.
VOID = {"br", "link", "meta", "wbr"}
CLOSED = {"circle", "line", "path", "rect"}
# What XML cannot hold, not even escaped; a lone surrogate cannot be written to a file either.
UNPRINTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
CHANGED = re.compile(f"[&<>\"'{UNPRINTED.pattern[1:]}")  # nearly all texts of a page have none
ISOLATE, ISOLATED = "\u2068", "\u2069"


class Html(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


Inside: TypeAlias = str | int | None


def text(words: str) -> Html:
    """Text from anywhere, as markup that shows it."""
    if CHANGED.search(words) is None:
        return Html(words)
    return Html(escape(UNPRINTED.sub("\ufffd", words)))


def join(parts: Iterable[Inside], between: str = "") -> Html:
    """Texts and markup, one after another; None is nothing."""
    return Html(text(between).join([_one(part) for part in parts if part is not None]))


def tag(name: str, /, *inside: Inside, **attributes: Inside | float | bool) -> Html:
    """An element; an attribute that is None or False is left out, and `class_` is `class`."""
    start = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}"
    if name in VOID:
        return Html(f"{start}>")
    if name in CLOSED and not inside:
        return Html(f"{start}/>")
    return Html(f"{start}>{join(inside)}</{name}>")


def name_of(agent: str) -> Html:
    """An agent's name; marks that turn the direction of text end with it."""
    return tag("bdi", agent)


def isolate(agent: str) -> str:
    """The same where there are no tags: in attributes and titles."""
    return f"{ISOLATE}{agent}{ISOLATED}" if not agent.isascii() else agent


def _one(part: Inside) -> str:
    return part if isinstance(part, Html) else text(str(part))


def _attribute(key: str, value: Inside | float | bool) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
