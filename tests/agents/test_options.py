"""Declared options of kinds, and normalized specs."""

import pytest

from agents.core import AgentSpec
from agents.evaluation.weights import default_endgame
from agents.registry import AGENTS, kind_of, normalize, option_values
from games import game
from tests.games.table import one_of_each

OPTIONS = [(name, option) for name in AGENTS for option in kind_of(name).options]


@pytest.mark.parametrize(
    ("kind", "option"), OPTIONS, ids=[f"{kind}-{option.name}" for kind, option in OPTIONS]
)
def test_default_fits_option(kind, option):
    assert option.description == option.description.strip()
    if option.default is not None and not callable(option.default):
        assert option.accepts(option.default)


@pytest.mark.parametrize("kind", AGENTS)
@pytest.mark.parametrize("of", one_of_each("pack"))
def test_normalized_spec_has_no_default_options(kind, of):
    options, of = kind_of(kind).options, game(of)
    usual = option_values(options, AgentSpec(kind), of)
    short = normalize(kind_of(kind), AgentSpec(kind, usual), of)
    assert option_values(options, short, of) == usual
    assert short == AgentSpec(kind)
    for option in options:
        if usual[option.name] not in (None, False):
            spec = AgentSpec(kind, {option.name: usual[option.name]})
            assert normalize(kind_of(kind), spec, of) == AgentSpec(kind)


def test_inapplicable_default_stays_in_spec():
    of = game("othello")
    endgame = default_endgame(of)
    for kind, options in (
        ("alphabeta", {"depth": 6, "nodes": 100}),
        ("smart", {"nodes": 20_000, "depth": 3}),
        ("alphabeta", {"endgame": endgame}),
        ("smart", {"endgame": endgame, "depth": 3}),
    ):
        assert normalize(kind_of(kind), AgentSpec(kind, options), of).options == options
    both = AgentSpec("smart", {"endgame": endgame, "nodes": 20_000})
    assert normalize(kind_of("smart"), both, of) == AgentSpec("smart")


def test_spec_survives_json():
    spec = AgentSpec("smart", seconds=0.5, weights={"pot": [1, 2], "far": 3}, evaluate=None)
    assert AgentSpec.from_json(spec.to_json()) == spec
    assert list(spec.to_json()) == ["kind", "seconds", "weights"]
    assert spec.replace(seconds=None, depth=3).options.keys() == {"weights", "depth"}
