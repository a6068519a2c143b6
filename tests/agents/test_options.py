"""What kinds declare about their options, and that the docs say the same."""

import pytest

from agents.core import AgentSpec
from agents.evaluation.weights import endgame_from
from agents.registry import AGENTS, kind_of, normalize, option_values
from games import game
from tests.games.table import one_of_each

OPTIONS = [(name, option) for name in AGENTS for option in kind_of(name).options]


@pytest.mark.parametrize(
    ("kind", "option"), OPTIONS, ids=[f"{kind}-{option.name}" for kind, option in OPTIONS]
)
def test_an_option_may_have_its_own_default(kind, option):
    assert option.words == option.words.strip()
    if option.default is not None and not callable(option.default):
        assert option.fits(option.default)


@pytest.mark.parametrize("kind", AGENTS)
@pytest.mark.parametrize("of", one_of_each("pack"))
def test_what_changes_no_setting_is_left_out_of_a_spec(kind, of):
    options, of = kind_of(kind).options, game(of)
    usual = option_values(options, AgentSpec(kind), of)
    short = normalize(kind_of(kind), AgentSpec(kind, usual), of)
    assert option_values(options, short, of) == usual
    assert short == AgentSpec(kind)
    for option in options:
        if usual[option.name] not in (None, False):
            spec = AgentSpec(kind, {option.name: usual[option.name]})
            assert normalize(kind_of(kind), spec, of) == AgentSpec(kind)


def test_a_default_that_does_not_hold_beside_another_option_stays_in_a_spec():
    of = game("othello")
    endgame = endgame_from(of)
    for kind, options in (
        ("alphabeta", {"depth": 6, "nodes": 100}),
        ("smart", {"nodes": 20_000, "depth": 3}),
        ("alphabeta", {"endgame": endgame}),
        ("smart", {"endgame": endgame, "depth": 3}),
    ):
        assert normalize(kind_of(kind), AgentSpec(kind, options), of).options == options
    both = AgentSpec("smart", {"endgame": endgame, "nodes": 20_000})
    assert normalize(kind_of("smart"), both, of) == AgentSpec("smart")


def test_a_spec_is_the_same_after_json():
    spec = AgentSpec("smart", seconds=0.5, weights={"pot": [1, 2], "far": 3}, evaluate=None)
    assert AgentSpec.from_json(spec.to_json()) == spec
    assert list(spec.to_json()) == ["kind", "seconds", "weights"]
    assert spec.replace(seconds=None, depth=3).options.keys() == {"weights", "depth"}
