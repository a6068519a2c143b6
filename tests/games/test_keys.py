"""Keys of tables: what they allow, and how they say it."""

import math

import pytest

from games.base.schema import Key

SHARE = Key("share", "float", "of the games", above=0, high=1)
LEVEL = Key("level", "float", "of a bound", low=0.5, under=1)


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
    assert all(key.fits(value) for value in good)
    assert not any(key.fits(value) for value in bad)
    assert key.allowed() == (allowed or 'true or "proved"')


def test_each_wrong_item_of_a_list_is_a_fault_at_its_place():
    faults = list(Key("range", "numbers", "").faults([1, "2", 3.0, True]))
    assert faults == [
        ((1,), 'item 2 of range must be a number, got "2"'),
        ((3,), "item 4 of range must be a number, got true"),
    ]
