"""The page about the games names all of them, with their parameters."""

import re

from games import NAMES
from games.sowing.rules import PARAMETERS, PRESETS, VALUES
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "reference" / "rules.md"
TEXT = PAGE.read_text()


def test_every_game_and_every_parameter_is_on_the_page():
    assert {f"| `{name}` |" for name in (*NAMES, *PARAMETERS)} <= set(
        re.findall(r"\| `[\w-]+` \|", TEXT)
    )
    for name, words in VALUES.items():
        (row,) = re.findall(rf"^\| `{name}` \| (.*?) \|", TEXT, re.MULTILINE)
        default = getattr(PRESETS["kalah"], name)
        assert row.replace("`", "").split() == sorted(words, key=lambda word: word != default)
