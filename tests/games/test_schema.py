"""Keys of tables: what they allow, and how they say it."""

import math

import pytest

from games.base.schema import Key, parse_game_time, read_table, table_problems
from games.base.text import SYNONYMS

SHARE = Key("share", "float", "of the games", above=0, high=1)
LEVEL = Key("level", "float", "of a bound", low=0.5, below=1)


@pytest.mark.parametrize(
    ("key", "good", "bad", "allowed"),
    [
        (SHARE, (1e-9, 0.5, 1), (0, 1.1, -1, True, "1", 10**400), "a number above 0 to 1"),
        (LEVEL, (0.5, 0.99), (0.49, 1, math.nan), "a number from 0.5 to under 1"),
        (
            Key("any", "float", ""),
            (-1e308, 7),
            (math.inf, -math.inf, math.nan, 10**400),
            "a number",
        ),
        (Key("count", "int", "", low=1), (1, 10**400), (0, 1.0, True), "a whole number from 1"),
        (Key("on", "bool", ""), (True, False), (1, "true"), "true or false"),
        (Key("way", "any", "", choices=(True, "proved")), (True, "proved"), (1, "x"), None),
    ],
)
def test_a_key_allows_what_it_says(key, good, bad, allowed):
    assert all(key.accepts(value) for value in good)
    assert not any(key.accepts(value) for value in bad)
    assert key.describe_allowed() == (allowed or 'true or "proved"')


def test_each_wrong_item_of_a_list_is_a_fault_at_its_place():
    faults = list(Key("range", "numbers", "").problems([1, "2", 3.0, True]))
    assert faults == [
        ((1,), 'item 2 of range must be a number, got "2"'),
        ((3,), "item 4 of range must be a number, got true"),
    ]


TABLE = (
    Key("agent", "text", "who", required=True, example=', as in agent = "a"'),
    Key("match", "table", "the match", keys=(Key("pairs", "int", "pairs", 100, low=1),)),
)


def test_a_table_is_read_with_every_problem_at_its_place():
    found = []
    values = read_table({"agnt": "a", "match": {"pairs": 0, "looks": 1}}, ("tune",), TABLE,
                        lambda place, message: found.append((place, message)))  # fmt: skip
    assert values == {"match": {}}
    assert [place for place, _ in found] == [
        ("tune", "agnt"),
        ("tune", "match", "looks"),
        ("tune", "match", "pairs"),
    ]
    assert 'did you mean "agent"' in found[0][1]


def test_a_key_that_was_removed_names_its_substitute():
    ((_, message),) = table_problems({"trusted": True}, [Key("compile", "any", "")])
    assert "compile" in message


def test_there_are_few_synonyms():
    assert len(SYNONYMS) <= 40


@pytest.mark.parametrize(
    ("value", "fits"),
    [(6, True), ([4, 10], True), ((4, 4), True), (61, False), ([4], False), ([0, 4], False),
     ([9, 4], False), ([4.0, 10], False), (True, False)],
)  # fmt: skip
def test_plies_are_a_number_or_two(value, fits):
    assert Key("random_plies", "plies", "", low=0, high=60).accepts(value) is fits


@pytest.mark.parametrize(
    ("text", "time"),
    [("60", (60.0, 0.0)), ("60+0.5", (60.0, 0.5)), ("0", None), ("90000", None), ("x", None),
     ("60+", None), ("60 + 1", None)],
)  # fmt: skip
def test_a_game_time_has_seconds_and_an_increment(text, time):
    assert parse_game_time(text) == time
    assert Key("game_time", "time", "").accepts(text) is (time is not None)
