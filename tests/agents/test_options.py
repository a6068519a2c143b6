"""What kinds declare about their options, and that the docs say the same."""

from pathlib import Path

import pytest

from agents import AGENTS, AgentSpec, kind_of
from games.keys import Key
from games.names import listed, shown

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
OPTIONS = [(name, option) for name in AGENTS for option in kind_of(name).options]


def default_text(option: Key) -> str:
    """The default as the table of the docs has it."""
    if callable(option.default):
        return "the game's"
    return "" if option.default is None else f"`{shown(option.default)}`"


def rows() -> list[str]:
    """A row for each option and default, with the kinds that have them."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for kind, option in OPTIONS:
        cells = f"`{option.name}`", option.allowed(), default_text(option), option.words
        kinds.setdefault(cells, []).append(f"`{kind}`")
    names = list(dict.fromkeys(option.name for _, option in OPTIONS))
    kinds = dict(sorted(kinds.items(), key=lambda row: names.index(row[0][0].strip("`"))))
    return [
        f"| {name} | {listed(of)} | {value} | {default} | {words} |"
        for (name, value, default, words), of in kinds.items()
    ]


def test_the_page_of_agents_has_the_options_that_the_kinds_declare():
    page = PAGE.read_text().splitlines()
    begin = page.index("| option | kinds | value | default | what it does |") + 2
    assert page[begin : page.index("", begin)] == rows()


@pytest.mark.parametrize(
    ("kind", "option"), OPTIONS, ids=[f"{kind}-{option.name}" for kind, option in OPTIONS]
)
def test_an_option_may_have_its_own_default(kind, option):
    assert option.words == option.words.strip()
    if option.default is not None and not callable(option.default):
        assert option.fits(option.default)


def test_a_spec_is_the_same_after_json():
    spec = AgentSpec("smart", seconds=0.5, weights={"pot": [1, 2], "far": 3}, evaluate=None)
    assert AgentSpec.from_json(spec.to_json()) == spec
    assert list(spec.to_json()) == ["kind", "seconds", "weights"]
    assert spec.changed(seconds=None, depth=3).options.keys() == {"weights", "depth"}
