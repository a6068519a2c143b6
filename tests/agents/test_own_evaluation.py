"""A user's evaluation: the same search as with a built-in one, and help when it is no good."""

import re
from functools import cache
from pathlib import Path

import pytest

from agents.core import Agent, AgentFailure, AgentSpec, HostSettings, Limit, SpecError
from agents.create import create_agent
from agents.registry import build
from games import Game, game
from games.kernels.jit import INTERPRETED
from tests.agents.given import (
    BOTS,
    LATER,
    OF_EVERY_FAMILY,
    few,
    slow_if_wide,
    spread,
    written,
)
from tests.agents.hosted import wall
from tests.agents.scores import OTHELLO, SOWING

SAME = BOTS / "same_as_built_in.py"
SOWING_GAMES = [name for name in OF_EVERY_FAMILY if game(name).pack == "sowing"]
OTHELLO_GAMES = [name for name in OF_EVERY_FAMILY if game(name).pack == "othello"]
SCREEN = 24
compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@cache
def same(name: str, function: str, **changes) -> Agent:
    """An agent with one of the evaluations that repeat a built-in one, compiled once."""
    return own(name, SAME, function, **changes)


def own(name: str, file: Path, function: str = "evaluate", **changes) -> Agent:
    """An agent with an evaluation of its own."""
    reference = f"{file}:{function}" if function else str(file)
    return build(AgentSpec("alphabeta", depth=3, evaluate=reference, **changes), game(name))


def built_in(name: str, weights, **changes) -> Agent:
    return build(AgentSpec("alphabeta", depth=3, weights=weights, **changes), game(name))


def assert_same(name: str, one: Agent, other: Agent, depth: int = 4, number: int = 12) -> None:
    """The same move, value and nodes in positions from start to end."""
    for position in spread(name, few(number, 2)):
        limit = Limit(depth=min(depth, few(depth, 2)))
        assert one.choose(position, limit) == other.choose(position, limit)


# -------------------------------------------------------------------- the same


@pytest.mark.parametrize(
    ("name", "function"),
    [
        (SOWING_GAMES[0], "sowing_evaluate"),
        ("kalah(6,4)", "weighted_evaluate"),
        *(
            pytest.param(name, "sowing_evaluate", marks=pytest.mark.slow)
            for name in SOWING_GAMES[1:]
        ),
    ],
)
def test_an_own_evaluation_is_the_built_in_with_the_same_formula(name, function):
    assert_same(name, same(name, function), built_in(name, SOWING))


@pytest.mark.parametrize(
    "name",
    slow_if_wide(OTHELLO_GAMES),
)
def test_an_own_evaluation_of_othello_is_the_built_in_one(name):
    unit = dict.fromkeys(OTHELLO, (1.0,))
    assert_same(name, same(name, "othello_evaluate"), built_in(name, unit), depth=3)


def test_features_may_be_named_by_module_and_lists_be_made():
    name, weights = "kalah(6,4)", {"pot": (2.0,), "in_play": (1.0,)}
    assert_same(name, same(name, "by_module"), built_in(name, weights))


def test_an_own_evaluation_plays_every_search():
    name, weights = "kalah(6,4)", {"pot": (2.0,), "in_play": (1.0,)}
    for changes in ({"collapse_turns": True}, {"collapse_turns": False}):
        both = [
            build(AgentSpec("minimax", depth=2, **given, **changes), game(name))
            for given in ({"evaluate": f"{SAME}:by_module"}, {"weights": weights})
        ]
        assert_same(name, *both, depth=2)


# --------------------------------------------------------------------- weights


def test_weights_of_the_file_are_changed_by_name():
    name = "kalah(6,4)"
    changed = own(name, SAME, "weighted_evaluate", weights={"pot": (0.5,), "far": (-2.0,)})
    assert_same(name, changed, built_in(name, SOWING | {"pot": (0.5,), "far": (-2.0,)}))


@compiled
def test_other_weights_compile_nothing():
    first = own("kalah(6,4)", SAME, "weighted_evaluate")
    second = own("kalah(6,4)", SAME, "weighted_evaluate", weights={"pot": (3.0,)})
    assert first.own.entry is second.own.entry
    assert len(first.own.entry.signatures) == 1


def test_a_file_may_have_more_weights_than_there_are_features(tmp_path):
    declared = {f"w{number}": 0.001 * number for number in range(200)}
    text = f"WEIGHTS = {declared}\ndef evaluate(rules, position, weights):\n"
    path = written(tmp_path, text + "    return weights.w0 + 2.0 * weights.w199\n")
    of = game("kalah(6,4)")
    for changes, value in ({}, 0.398), ({"w0": (1.0,), "w199": (3.0,)}, 7.0):
        agent = own("kalah(6,4)", path, weights=changes)
        assert abs(agent.choose(of.start(), Limit(depth=1)).value) == value


def test_a_weight_that_the_file_has_not_is_refused_with_the_nearest():
    with pytest.raises(SpecError, match='did you mean "far"') as refused:
        own("kalah(6,4)", SAME, "weighted_evaluate", weights={"fair": (1.0,)})
    assert len(str(refused.value).splitlines()) == 1


def test_an_evaluation_has_no_phases(tmp_path):
    with pytest.raises(AgentFailure, match="one number a weight"):
        own("kalah(6,4)", SAME, "weighted_evaluate", weights={"far": (1.0, 2.0)})


# --------------------------------------------------------- what cannot be used


FIRST = 5  # the line of the file at which a text begins


def failure(directory: Path, text: str, of: str = "kalah(6,4)", **changes) -> str:
    """The message with which the text is refused, about `mine.py` alone, on one screen."""
    path = written(directory, text)
    with pytest.raises(AgentFailure) as failed:
        own(of, path, **changes)
    message = str(failed.value)
    assert failed.value.kind == "unloadable"
    assert "mine.py" in message
    assert len(message.splitlines()) <= SCREEN
    assert not {"agents/", "numba/", "site-packages"} & set(message.split("/"))
    return message


@compiled
@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("def evaluate(rules, position):\n    return float((pot(rules, position), 1))", 1, "float"),
        ("def evaluate(rules, position):\n    return f(position)\n"
         "def f(p):\n    return {}.get(p, 1)", 3, ""),
        ("def evaluate(rules, position):\n    print(open('x').read())\n    return 1", 1, "open"),
    ],
)  # fmt: skip
def test_what_does_not_compile_is_told_with_line_reason_and_advice(tmp_path, text, line, reason):
    message = failure(tmp_path, text)
    bad = text.splitlines()[line].strip()
    assert f"line {FIRST + line}: {bad}" in message
    assert reason in message
    assert "What compiles" in message


@compiled
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("NOTES = [1, 2]\ndef evaluate(rules, position):\n    return NOTES[0]", 2,
         ("NOTES is a list", "tuple")),
        ("W = {'a': 1.0}\ndef evaluate(rules, position):\n    x = 1\n    return W['a'] * x", 3,
         ("W is a dict", "WEIGHTS")),
        ("def evaluate(rules, position):\n    return position.beans", 1, ("'beans'", "in_play")),
        ("def evaluate(rules, position):\n    return pot(position)", 1,
         ("rules is missing", "pot(rules, position)")),
        ("def evaluate(rules, position):\n    return pot(position, rules)", 1,
         ("another order", "pot(rules, position)")),
        ("def evaluate(rules, position):\n    return times(rules, position)\n"
         "def times(rules, position, k):\n    return k * pot(rules, position)", 1,
         ("k is missing", "times(rules, position, k)")),
        ("def evaluate(rules, position):\n    return times(2, pot(rules, position))\n"
         "def times(k, x):\n    return k * pot(x)", 3, ("pot(x)", "pot(rules, position)")),
        ("import math\ndef evaluate(rules, position):\n    return math.sqroot(2.0)", 2,
         ("math has no sqroot", '"sqrt"')),
        ("WEIGHTS = {'far': 1.0}\ndef evaluate(rules, position, w):\n    return w.farr", 2,
         ("no 'farr'", '"far"')),
        ("def evaluate(rules, position):\n    with open('x') as file:\n        return 1", 1,
         ("with",)),
    ],
)  # fmt: skip
def test_the_real_reason_is_told_and_no_other_function_is_suggested(tmp_path, text, line, words):
    message = failure(tmp_path, text)
    bad = text.splitlines()[line].strip()
    assert re.search(rf"line {FIRST + line}: .*, in: {re.escape(bad)}", message)  # in one line
    assert all(word in message for word in words)
    assert "hole" not in message or "beans" in text  # where any word may be meant all are listed
    assert "has a word for that" not in message


def test_a_heuristic_function_of_another_game_is_named_as_such(tmp_path):
    message = failure(
        tmp_path, "def evaluate(rules, position):\n    return pot(rules, position)", "othello(4)"
    )
    assert "pot is for sowing games, not for othello(4); functions that read a position" in message


def test_a_name_like_none_of_ours_brings_no_suggestion_and_a_local_one_is_nearest(tmp_path):
    for name, told in (("scroe", 'did you mean "score"?'), ("xyzzy", "is not defined")):
        text = f"def evaluate(rules, position):\n    score = 1\n    return score + {name}"
        assert failure(tmp_path, text).rstrip().endswith(told)


def test_a_mistyped_import_is_told_with_the_nearest(tmp_path):
    path = written(
        tmp_path, "from games.sowing.features import pott\ndef evaluate(r, p):\n    return 1"
    )
    with pytest.raises(AgentFailure, match='did you mean "pot"'):
        own("kalah(6,4)", path)


@compiled
def test_a_division_by_zero_in_compiled_code_is_told_with_its_line(tmp_path):
    text = (
        "def evaluate(rules, position):\n    return ratio(1, pot(rules, position) - 1)\n"
        "def ratio(a, b):\n    return a / b"
    )
    of = game("kalah(6,4)")
    with pytest.raises(AgentFailure) as failed:
        own("kalah(6,4)", written(tmp_path, text)).choose(of.start(), Limit(depth=3))
    assert "by zero" in failed.value.trace
    assert f"line {FIRST + 3}, in ratio" in failed.value.trace


def test_a_name_that_is_not_there_is_told_with_the_nearest(tmp_path):
    text = "def evaluate(rules, position):\n    return pott(rules, position)"
    message = failure(tmp_path, text)
    assert f"line {FIRST + 1}: name pott is not defined" in message
    assert 'did you mean "pot"' in message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "def evaluate(position):\n    return 1.0",
            r"\(rules, position, weights\), got \(position\)",
        ),
        ("def evaluate(a, b, c, d):\n    return 1.0", r"got \(a, b, c, d\)"),
        ("def evaluate(rules, position, weights):\n    return 1.0", "its file must say WEIGHTS"),
        ("evaluate = 3", "3 is not a function"),
        ("class evaluate:\n    pass", "is not a function"),
        ("def evaluates(rules, position):\n    return 1.0", 'did you mean "evaluates"'),
        (
            "WEIGHTS = 3\ndef evaluate(rules, position):\n    return 1.0",
            "must declare WEIGHTS as a dict",
        ),
        ("WEIGHTS = {'a b': 1}\ndef evaluate(r, p, w):\n    return 1.0", "got 'a b'"),
        ("WEIGHTS = {'class': 1}\ndef evaluate(r, p, w):\n    return 1.0", "got 'class'"),
        ("def evaluate(rules, position)\n    return 1.0", "SyntaxError"),
        ("import nothing_like_this", "ModuleNotFoundError"),
        ("raise ValueError('not today')", "not today"),
        ("exit()", "SystemExit"),
    ],
)
def test_what_is_wrong_with_the_file_is_told(tmp_path, text, told):
    path = written(tmp_path, text)
    with pytest.raises(AgentFailure, match=told) as failed:
        own("kalah(6,4)", path)
    assert failed.value.kind == "unloadable"


def test_a_missing_file_is_told_with_the_nearest(tmp_path):
    written(tmp_path, "def evaluate(rules, position):\n    return 1.0")
    with pytest.raises(AgentFailure, match=r'did you mean "mine\.py"') as failed:
        own("kalah(6,4)", tmp_path / "mime.py")
    assert len(str(failed.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("pass", ("returns nothing", "got None")),
        ("return 'much'", ("returns a string", "got 'much'")),
        ("return '12'", ("returns a string", "got '12'")),
        ("return 1.0 if pot(rules, position) > 0 else None", ("nothing on some paths", "got None")),
        ("return (1.0, 2.0)", ("returns ", r"got (1.0, 2.0)")),
        ("x = float('inf')\n    return x - x", ("nan, which is not a number",) * 2),
        ("return 1 / pot(rules, position)", ("by zero",) * 2),
        ("raise ValueError('never')", ("returns nothing", "never")),
    ],
)
def test_what_is_no_number_is_told_at_once(tmp_path, body, told):
    message = failure(tmp_path, f"def evaluate(rules, position):\n    {body}")
    assert told[INTERPRETED] in message  # the compiler's words or Python's


# ---------------------------------------------------------- what happens later


@pytest.mark.parametrize("name", slow_if_wide(["kalah(6,4)", "kalah(9,3)"]))
def test_what_it_raises_in_a_search_is_its_own_failure(tmp_path, name):
    of = game(name)
    agent = own(name, written(tmp_path, LATER))
    position = next(p for p in spread(name, 30) if of.plain(p).own_pot == 3)
    for ask in (agent.choose, agent.decide):
        with pytest.raises(AgentFailure) as failed:
            ask(position)
        error = failed.value
        assert (error.kind, of.parse(error.position)) == ("raised", position)
        assert str(tmp_path / "mine.py") in error.bot
        assert "more than I can bear" in error.trace
        assert frames(error.trace) <= {"mine.py"}
        assert "in helper" in error.trace


def frames(trace: str) -> set[str]:
    """The files that a traceback shows."""
    return {Path(name).name for name in re.findall(r'^  File "(.*?)"', trace, re.MULTILINE)}


def test_after_a_failure_the_agent_plays_on(tmp_path):
    of = game("kalah(6,4)")
    agent = own(of.name, written(tmp_path, LATER))
    start = of.start()
    before = agent.choose(start, Limit(depth=1))
    with pytest.raises(AgentFailure):
        agent.choose(spread(of.name, 30)[15], Limit(depth=5))
    assert agent.choose(start, Limit(depth=1)) == before


def test_an_infinite_evaluation_is_only_a_very_good_one(tmp_path):
    text = "def evaluate(rules, position):\n    return 1e300 * (pot(rules, position) + 1) * 1e300"
    choice = own("kalah(6,4)", written(tmp_path, text)).choose(game("kalah").start())
    assert abs(choice.value) < 1_000_000
    assert not choice.exact


def test_counts_may_be_subtracted_below_zero(tmp_path):
    text = (
        "from games.sowing.features import first_slot\n"
        "def evaluate(rules, position):\n"
        "    hole = first_slot(rules)\n"
        "    return held(position, hole) - held(position, hole + 1)"
    )
    of = game("kalah(6,4)")
    position = of.parse("S 5 1 1 1 1 1, N 1 1 1 1 3 1, pots 0-0, South to move")
    choice = own(of.name, written(tmp_path, text)).choose(position, Limit(depth=1))
    assert abs(choice.value) < 100


def test_a_changed_file_is_read_again(tmp_path):
    of: Game = game("kalah(6,4)")
    values = []
    for number in (1, 2):
        path = written(tmp_path, f"def evaluate(rules, position):\n    return {number}.0")
        values.append(own(of.name, path).choose(of.start(), Limit(depth=2)).value)
    assert [abs(value) for value in values] == [1.0, 2.0]


def test_what_a_bot_wrote_has_no_line_of_ours(tmp_path):
    (tmp_path / "loop.py").write_text(
        "def evaluate(rules, position):\n    i = 1\n    while i > 0:\n"
        "        i = (i * 5 + 1) % 1000 + 1\n    return i\n"
    )
    spec = AgentSpec("alphabeta", {"depth": 1, "evaluate": f"{tmp_path}/loop.py:evaluate"})
    of = game("kalah(4,3)")
    agent = create_agent(spec.replace(start_seconds=2.0), of, HostSettings(wall()))
    with pytest.raises(AgentFailure, match="was not ready within 2 s") as failure:
        agent.start(0)
    assert "compiling" not in str(failure.value)
