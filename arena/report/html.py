"""Build HTML and SVG elements; all escaping happens here."""

import re
from collections.abc import Iterable
from html import escape
from typing import TypeAlias

VOID_TAGS = {"br", "link", "meta", "wbr"}  # HTML elements without an end tag
SELF_CLOSING_TAGS = {"circle", "line", "path", "polygon", "polyline", "rect"}
# Characters that XML cannot hold, not even escaped, and surrogates, which UTF-8 cannot encode.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
NEEDS_ESCAPING = re.compile(f"[&<>\"'{UNPRINTABLE.pattern[1:]}")
ISOLATE, ISOLATED = "\u2068", "\u2069"  # keep bidirectional characters inside a name


class Html(str):
    """Markup, which is not escaped again."""

    __slots__ = ()


Inside: TypeAlias = str | int | None


def text(plain: str) -> Html:
    """Escape a text."""
    if NEEDS_ESCAPING.search(plain) is None:
        return Html(plain)
    return Html(escape(UNPRINTABLE.sub("\ufffd", plain)))


def join(parts: Iterable[Inside], between: str = "") -> Html:
    """Concatenate texts and markup; None is left out."""
    return Html(text(between).join([_markup(part) for part in parts if part is not None]))


def tag(name: str, /, *inside: Inside, **attributes: Inside | float | bool) -> Html:
    """Return an element.

    An attribute that is None or False is left out. `class_` is the attribute `class`, and other
    underscores are hyphens.
    """
    start = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}"
    if name in VOID_TAGS:
        return Html(f"{start}>")
    if name in SELF_CLOSING_TAGS and not inside:
        return Html(f"{start}/>")
    return Html(f"{start}>{join(inside)}</{name}>")


def name_of(agent: str) -> Html:
    """Return an agent's name as an element that isolates the direction of its text."""
    return tag("bdi", agent)


def isolate(agent: str) -> str:
    """Isolate the text direction of a name where elements are impossible: attributes, titles."""
    return f"{ISOLATE}{agent}{ISOLATED}" if not agent.isascii() else agent


def _markup(part: Inside) -> str:
    return part if isinstance(part, Html) else text(str(part))


def _attribute(key: str, value: Inside | float | bool) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
