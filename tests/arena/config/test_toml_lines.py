"""Line numbers of the keys of a TOML text."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from arena.config.toml_file import line_numbers

TEXT = '''\
# a comment with [brackets] and key = "value"
game = "kalah"
"odd key" = 1
agents.a.kind = "x"   # dotted
agents.b = { kind = "y", weights = { pot = 1 } }
long = """
pairs = 3
[not.a.table]
"""

list = [
  "3 1",  # a comment ]
  "5",

  [1, 2],
]

[agents."my bot"] # quoted
kind = "z"
[[checks]]
that = "one"
[checks.more]
x = 1
[[checks]]
that = "two"
[checks.more]
x = 2
'''

LINES = {
    ("game",): 2,
    ("odd key",): 3,
    ("agents", "a"): 4,
    ("agents", "a", "kind"): 4,
    ("agents", "b", "weights", "pot"): 5,
    ("long",): 6,
    ("list",): 11,
    ("list", 0): 12,
    ("list", 1): 13,
    ("list", 2): 15,
    ("agents", "my bot"): 18,
    ("agents", "my bot", "kind"): 19,
    ("checks", 0): 20,
    ("checks", 0, "that"): 21,
    ("checks", 0, "more", "x"): 23,
    ("checks", 1): 24,
    ("checks", 1, "that"): 25,
    ("checks", 1, "more"): 26,
    ("checks", 1, "more", "x"): 27,
}


def test_lines_of_all_forms_of_keys():
    found = line_numbers(TEXT)
    assert {place: found.get(place) for place in LINES} == LINES


def test_text_like_a_key_has_no_line():
    assert ("pairs",) not in line_numbers(TEXT)
    assert ("not",) not in line_numbers(TEXT)


def places(tree, above=()):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield (*above, key)
        if isinstance(value, dict | list):
            yield from places(value, (*above, key))


def test_every_place_of_the_text_has_a_line():
    assert set(places(tomllib.loads(TEXT))) == set(line_numbers(TEXT))


NAMES = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.tuples(NAMES, st.dictionaries(NAMES, st.just(1), max_size=3)), max_size=5))
def test_tables_in_any_order_keep_their_lines(tables):
    lines, wanted, counts = [], {}, {}
    for name, keys in tables:
        lines.append(f"[[{name}]]")
        counts[name] = counts.get(name, -1) + 1
        for key, value in keys.items():
            lines.append(f"{key} = {value}")
            wanted[name, counts[name], key] = len(lines)
    found = line_numbers("\n".join(lines))
    assert {place: found[place] for place in wanted} == wanted


def test_long_list_is_read_quickly():
    text = "list = [\n" + "".join(f'  "{number}",\n' for number in range(5000)) + "]\nlast = 1\n"
    found = line_numbers(text)
    assert (found["list", 4999], found["last",]) == (5001, 5003)
