"""Markup: every text from outside is text, wherever it stands."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.report.html import Html, isolate, join, name_of, tag, text

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
def test_whatever_the_text_the_tree_is_the_same(one, other):
    root = ElementTree.fromstring(tag("a", one, tag("b", other), href=other))
    assert [each.tag for each in root.iter()] == ["a", "b"]


def test_markup_is_not_escaped_again_and_nothing_is_left_out():
    inside = join(["a < b", None, tag("br"), 3], ", ")
    assert inside == "a &lt; b, <br>, 3"
    assert tag("i", inside, hidden=True, title=None) == f"<i hidden>{inside}</i>"
    assert isinstance(text(inside), Html)


def test_marks_that_turn_text_end_with_the_name():
    assert isolate("plain") == "plain"
    assert isolate("\u202eturned") == "\u2068\u202eturned\u2069"
