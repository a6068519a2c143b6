"""Hostile texts stay texts everywhere in the markup."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.report.html import Html, isolate, join, name_of, tag, text
from arena.report.svg import Scale, text_width, tick_labels

HOSTILE = [
    "<script>alert(1)</script>", "' onload='alert(1)", '" onload="alert(1)', '"><img src=x>',
    "&lt;b&gt;", "\x00\x1b[31m", "\u202egnp.exe", "\U0001f600" * 40, "]]>", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_content_and_in_attributes(name):
    made = tag("p", name, name_of(name), title=name)
    root = ElementTree.fromstring(made)
    assert [each.tag for each in root.iter()] == ["p", "bdi"]
    assert set(root.attrib) == {"title"}
    plain = "".join(letter for letter in name if letter.isprintable() or letter == "\u202e")
    for letter in plain.replace("\ud800", ""):
        assert letter in root.text
    made.encode()


@given(st.text(), st.text())
def test_texts_never_change_the_tree(one, other):
    root = ElementTree.fromstring(tag("a", one, tag("b", other), href=other))
    assert [each.tag for each in root.iter()] == ["a", "b"]


def test_markup_is_not_escaped_again_and_none_is_left_out():
    inside = join(["a < b", None, tag("br"), 3], ", ")
    assert inside == "a &lt; b, <br>, 3"
    assert tag("i", inside, hidden=True, title=None) == f"<i hidden>{inside}</i>"
    assert isinstance(text(inside), Html)


def test_a_name_isolates_its_text_direction():
    assert isolate("plain") == "plain"
    assert isolate("\u202eturned") == "\u2068\u202eturned\u2069"


@pytest.mark.parametrize("width", [300.0, 420.0, 640.0])
def test_labels_at_an_edge_do_not_overlap(width):
    ticks = [(float(tick), f"{tick}") for tick in range(-800, 1001, 200)]
    root = ElementTree.fromstring(f"<g>{tick_labels(Scale(-830.0, 1000.0), ticks, 10, width)}</g>")
    spans = []
    for label in root:
        wide = 100 * text_width(label.text) / width
        share = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.get("text-anchor")]
        left = float(label.get("x").rstrip("%")) - share * wide
        spans.append((left, left + wide))
    assert len(spans) > 2
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
