"""Specs without an agent are refused in one line with a suggestion."""

import os

import pytest

from agents.core import AgentSpec, Limit, SpecError
from agents.evaluation.weights import read_weights, validate_weights
from agents.options import limit_of, limit_options
from agents.registry import AGENTS, build, kinds_for, option_values, replace_files
from agents.spec import spec_from_file, spec_from_text
from games import game
from games.base.text import format_value
from tests.games.table import one_of_each


def refusal(of: str = "kalah(6,4)", kind: str = "alphabeta", **options) -> str:
    with pytest.raises(SpecError) as refused:
        build(AgentSpec(kind, **options), game(of))
    message = str(refused.value)
    assert len(message.splitlines()) == 1
    return message


def test_unknown_kind_suggests_nearest():
    told = refusal(kind="alfabeta")
    assert told.startswith('there is no agent kind "alfabeta" (there are random, ')
    assert told.endswith('did you mean "alphabeta"?')
    assert all(kind in told for kind in AGENTS)


@pytest.mark.parametrize("kind", ["nearest_pot", "fewest"])
def test_unsuitable_kind_lists_suitable_ones(kind):
    told = refusal("othello", kind)
    assert told.startswith(f"{kind} does not play othello(8) (play it with random, first")
    assert kind not in told.partition("(play it with ")[2]
    assert kind in kinds_for(game("owari"))


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("random", {"depth": 3}, 'unknown key "depth" (there are none)'),
        ("human", {"nodes": 3}, 'unknown key "nodes" (there are none)'),
        ("greedy", {"weights": {"pot": 1}}, 'unknown key "weights" (there are epsilon, '),
        ("minimax", {"table_bits": 3}, 'unknown key "table_bits" (there are depth, '),
        ("alphabeta", {"collapse_turns": True}, 'unknown key "collapse_turns"'),
        ("smart", {"file": "x.py"}, 'unknown key "file"'),
        ("first", {"random_ties": True}, 'unknown key "random_ties"'),
    ],
)
def test_option_of_other_kind_is_refused(kind, options, told):
    assert refusal(kind=kind, **options).startswith(told)


WHOLE = ("depth", "nodes", "endgame", "table_bits")


@pytest.mark.parametrize(
    ("option", "values", "told"),
    [
        ("depth", (0, -1, 101, 2.5, "6", True), "depth must be a whole number from 1 to 100, got "),
        (
            "nodes",
            (0, -5, 1e3),
            "nodes must be a whole number from 1 to 1,000,000,000,000,000, got ",
        ),
        ("seconds", (0, -1.0, 1e9, float("nan"), "1"), "seconds must be a number from 0.001 to "),
        ("endgame", (-1, 257, 3.5), "endgame must be a whole number from 0 to 256, got "),
        ("table_bits", (0, 27, "x"), "table_bits must be a whole number from 1 to 26, got "),
        ("epsilon", (-0.1, 1.5, float("nan"), "1", True), "epsilon must be a number from 0 to 1, "),
    ],
)
def test_number_out_of_range_is_refused(option, values, told):
    for value in values:
        message = refusal(**{option: value})
        assert message.startswith(told)
        assert message.endswith(f"got {format_value(value)}")


def test_range_limits_are_allowed():
    of = game("kalah(3,2)")
    for options in (
        {"depth": 1, "table_bits": 1, "epsilon": 1, "endgame": 0},
        {"depth": 100, "epsilon": 0.0, "endgame": 256, "nodes": 1},
        {"seconds": 0.001},
    ):
        assert build(AgentSpec("alphabeta", **options), of).choose(of.start()).move in range(3)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({"pott": 1}, '(it has pot, in_play, extra_turn, capture, mobility, far, given_away); '
                      'did you mean "pot"?'),
        ({"corner": 1}, 'this agent has no weight "corner"'),
        ({"pot": "much"}, "weight pot must be a number, got \"much\""),
        ({"pot": True}, "weight pot must be a number, got true"),
        ({"pot": None}, "weight pot must be a number, got None"),
        ({"pot": float("nan")}, "weight pot must lie within ±100000, got nan"),
        ({"pot": 1e6}, "weight pot must lie within ±100000, got 1000000.0"),
        ({"pot": ()}, "weight pot must have 1 to 8 phases, got 0"),
        ({"pot": (1,) * 9}, "weight pot must have 1 to 8 phases, got 9"),
        ({"pot": (1, "2")}, "weight pot must be a number, got \"2\""),
    ],
)  # fmt: skip
def test_invalid_weight_is_refused(weights, told):
    assert told in refusal(weights=weights)


def test_weights_of_missing_features_are_refused():
    assert 'this agent has no weight "extra_turn"' in refusal("owari", weights={"extra_turn": 1})
    told = refusal("kalah(6,4,capture=none)", weights={"capture": 1})
    assert 'this agent has no weight "capture"' in told


def test_weights_replace_defaults():
    of = game("othello")
    position = of.replay("f5 d6 c3 d3 c4")[-1]
    corner = build(AgentSpec("alphabeta", depth=1, weights={"corner": (5.0,)}), of)
    assert corner.choose(position).value == 0
    assert build(AgentSpec("alphabeta", depth=1), of).choose(position).value != 0


def test_weight_file_is_read_or_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[weights]\npot = 2\nin_play = [1, 0.5]\n")
    known = ("pot", "in_play")
    assert validate_weights(read_weights(path), known) == {"pot": (2.0,), "in_play": (1.0, 0.5)}
    for text, told in (
        ("pot = ", "not valid TOML"),
        ("weights = 3", r"\[weights\] must be a table"),
    ):
        path.write_text(text)
        with pytest.raises(SpecError, match=told):
            read_weights(path)
    with pytest.raises(SpecError, match="cannot be read"):
        read_weights(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "of", ["kalah", "owari", "kalah(9,3,capture=none)", "othello", "othello-adjacent(10)"]
)
def test_shipped_weights_fit_games(of):
    assert build(AgentSpec("smart", nodes=10), game(of)).spec.kind == "smart"


def test_shipped_weights_name_features():
    for name in one_of_each("pack"):
        of = game(name)
        if of.has_part("defaults"):
            assert set(of.defaults.weights) <= set(of.all_features)
            assert set(of.defaults.classroom) <= set(of.all_features)


@pytest.mark.parametrize(
    "limit", [{}, {"depth": 0}, {"nodes": -1}, {"seconds": 0}, {"seconds": float("nan")}]
)
def test_invalid_limit_is_refused(limit):
    with pytest.raises(SpecError):
        Limit(**limit)


def test_limit_of_spec_replaces_default():
    own, of = limit_options(nodes=7), game("kalah")
    assert limit_of(option_values(own, AgentSpec("smart"), of)) == Limit(nodes=7)
    both = AgentSpec("smart", depth=3, seconds=5)
    assert limit_of(option_values(own, both, of)) == Limit(depth=3, seconds=5)


def test_replaced_paths_round_trip(tmp_path):
    words = ["python3", str(tmp_path / "bots" / "a.py"), "-l", "1", "/usr/bin/env"]
    spec = AgentSpec("lines", command=words, cwd=str(tmp_path), readable=[str(tmp_path / "x")])
    base = tmp_path / "results" / "run"
    stored = replace_files(spec, lambda file: os.path.relpath(file, base))
    assert stored.options["command"] == ("python3", "../../bots/a.py", "-l", "1", "/usr/bin/env")
    assert stored.options["readable"] == ("../../x",)
    assert replace_files(stored, lambda file: str(base / file)) == spec


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = " + b"[" * 20_000, "nested more than 64 deep"),
        (b"x = " + b"1" * 100_000, "too many digits"),
        (b"x = 1\n" * 11_000, "at most 10,000 are read"),
        (b"\xff", "not valid TOML"),
        (b"#" * (1 << 21), "it is too large"),
    ],
)
def test_oversized_agent_file_is_refused(content, words, tmp_path):
    path = tmp_path / "agents.toml"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=words):
        spec_from_file(path, "a")


@pytest.mark.parametrize(
    ("text", "kind", "options"),
    [
        ("minimax:depth=3", "minimax", {"depth": 3}),
        ("alphabeta:nodes=100,random_ties=true", "alphabeta", {"nodes": 100, "random_ties": True}),
        ("minimax: depth = 3 , epsilon = 0.5", "minimax", {"depth": 3, "epsilon": 0.5}),
        ("alphabeta:weights={ pot = 1 }", "alphabeta", {"weights": {"pot": 1}}),
    ],
)
def test_options_follow_a_kind(text, kind, options):
    assert spec_from_text(text, {}) == AgentSpec(kind, options)


@pytest.mark.parametrize("text", ["minimax:", "minimax:depth", "minimax:=3", "minimax:depth="])
def test_option_without_a_value_is_refused(text):
    with pytest.raises(SpecError, match="option=value"):
        spec_from_text(text, {})
