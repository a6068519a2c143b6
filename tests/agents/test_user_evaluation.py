"""A user's evaluation searches like a built-in one, and its problems are explained."""

import re
from functools import cache
from pathlib import Path

import pytest

from agents.core import Agent, AgentFailure, AgentSpec, HostSettings, Limit, SpecError
from agents.create import create_agent
from agents.registry import build
from games import Game, game
from games.kernels.jit import INTERPRETED
from tests.agents.helpers import BOTS, LATER, OF_EVERY_FAMILY, few, slow_if_wide, spread, write_bot
from tests.agents.naive_scores import OTHELLO, SOWING
from tests.agents.programs import sandbox

SAME = BOTS / "same_as_built_in.py"
SOWING_GAMES = [name for name in OF_EVERY_FAMILY if game(name).pack == "sowing"]
OTHELLO_GAMES = [name for name in OF_EVERY_FAMILY if game(name).pack == "othello"]
SCREEN = 24
compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


@cache
def cached_agent(name: str, function: str, **changes) -> Agent:
    return user_agent(name, SAME, function, **changes)


def user_agent(name: str, file: Path, function: str = "evaluate", **changes) -> Agent:
    """Return an agent with a user's evaluation."""
    reference = f"{file}:{function}" if function else str(file)
    return build(AgentSpec("alphabeta", depth=3, evaluate=reference, **changes), game(name))


def built_in_agent(name: str, weights, **changes) -> Agent:
    return build(AgentSpec("alphabeta", depth=3, weights=weights, **changes), game(name))


def assert_same(name: str, one: Agent, other: Agent, depth: int = 4, number: int = 12) -> None:
    for position in spread(name, few(number, 2)):
        limit = Limit(depth=min(depth, few(depth, 2)))
        assert one.choose(position, limit) == other.choose(position, limit)


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
def test_user_evaluation_equals_built_in(name, function):
    assert_same(name, cached_agent(name, function), built_in_agent(name, SOWING))


@pytest.mark.parametrize("name", slow_if_wide(OTHELLO_GAMES))
def test_user_evaluation_of_othello_equals_built_in(name):
    unit = dict.fromkeys(OTHELLO, (1.0,))
    assert_same(name, cached_agent(name, "othello_evaluate"), built_in_agent(name, unit), depth=3)


def test_features_by_module_and_lists():
    name, weights = "kalah(6,4)", {"pot": (2.0,), "in_play": (1.0,)}
    assert_same(name, cached_agent(name, "by_module"), built_in_agent(name, weights))


def test_user_evaluation_in_minimax():
    name, weights = "kalah(6,4)", {"pot": (2.0,), "in_play": (1.0,)}
    for changes in ({"collapse_turns": True}, {"collapse_turns": False}):
        both = [
            build(AgentSpec("minimax", depth=2, **given, **changes), game(name))
            for given in ({"evaluate": f"{SAME}:by_module"}, {"weights": weights})
        ]
        assert_same(name, *both, depth=2)


def test_declared_weights_are_changed_by_name():
    name = "kalah(6,4)"
    changed = user_agent(name, SAME, "weighted_evaluate", weights={"pot": (0.5,), "far": (-2.0,)})
    assert_same(name, changed, built_in_agent(name, SOWING | {"pot": (0.5,), "far": (-2.0,)}))


@compiled
def test_other_weights_do_not_compile_again():
    first = user_agent("kalah(6,4)", SAME, "weighted_evaluate")
    second = user_agent("kalah(6,4)", SAME, "weighted_evaluate", weights={"pot": (3.0,)})
    assert first.user_evaluation.entry is second.user_evaluation.entry
    assert len(first.user_evaluation.entry.signatures) == 1


def test_many_declared_weights(tmp_path):
    declared = {f"w{number}": 0.001 * number for number in range(200)}
    text = f"WEIGHTS = {declared}\ndef evaluate(rules, position, weights):\n"
    path = write_bot(tmp_path, text + "    return weights.w0 + 2.0 * weights.w199\n")
    of = game("kalah(6,4)")
    for changes, value in ({}, 0.398), ({"w0": (1.0,), "w199": (3.0,)}, 7.0):
        agent = user_agent("kalah(6,4)", path, weights=changes)
        assert abs(agent.choose(of.start(), Limit(depth=1)).value) == value


def test_undeclared_weight_suggests_nearest():
    with pytest.raises(SpecError, match='did you mean "far"') as refused:
        user_agent("kalah(6,4)", SAME, "weighted_evaluate", weights={"fair": (1.0,)})
    assert len(str(refused.value).splitlines()) == 1


def test_weight_with_phases_is_refused(tmp_path):
    with pytest.raises(AgentFailure, match="one number per weight"):
        user_agent("kalah(6,4)", SAME, "weighted_evaluate", weights={"far": (1.0, 2.0)})


FIRST = 5  # the line of the file at which a text begins


def failure(directory: Path, text: str, of: str = "kalah(6,4)", **changes) -> str:
    path = write_bot(directory, text)
    with pytest.raises(AgentFailure) as failed:
        user_agent(of, path, **changes)
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
def test_compile_error_has_line_reason_and_advice(tmp_path, text, line, reason):
    message = failure(tmp_path, text)
    bad = text.splitlines()[line].strip()
    assert f"line {FIRST + line}: {bad}" in message
    assert reason in message
    assert "features and rules" in message


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
def test_compile_error_has_precise_reason(tmp_path, text, line, words):
    message = failure(tmp_path, text)
    bad = text.splitlines()[line].strip()
    assert re.search(rf"line {FIRST + line}: .*, in: {re.escape(bad)}", message)  # in one line
    assert all(word in message for word in words)
    assert "hole" not in message or "beans" in text  # where any word may be meant all are listed
    assert "has a word for that" not in message


def test_function_of_other_game_is_explained(tmp_path):
    message = failure(
        tmp_path, "def evaluate(rules, position):\n    return pot(rules, position)", "othello(4)"
    )
    assert "pot is for sowing games, not for othello(4); functions that read a position" in message


def test_undefined_name_suggests_local_name_or_nothing(tmp_path):
    for name, told in (("scroe", 'did you mean "score"?'), ("xyzzy", "is not defined")):
        text = f"def evaluate(rules, position):\n    score = 1\n    return score + {name}"
        assert failure(tmp_path, text).rstrip().endswith(told)


@compiled
def test_division_by_zero_has_line(tmp_path):
    text = (
        "def evaluate(rules, position):\n    return ratio(1, pot(rules, position) - 1)\n"
        "def ratio(a, b):\n    return a / b"
    )
    of = game("kalah(6,4)")
    with pytest.raises(AgentFailure) as failed:
        user_agent("kalah(6,4)", write_bot(tmp_path, text)).choose(of.start(), Limit(depth=3))
    assert "by zero" in failed.value.trace
    assert f"line {FIRST + 3}, in ratio" in failed.value.trace


def test_undefined_name_suggests_nearest(tmp_path):
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
        ("def evaluate(rules, position, weights):\n    return 1.0", "its file must define WEIGHTS"),
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
        ("from games.sowing.features import pott", 'did you mean "pot"'),
        ("raise ValueError('not today')", "not today"),
        ("exit()", "SystemExit"),
    ],
)
def test_invalid_file_is_explained(tmp_path, text, told):
    path = write_bot(tmp_path, text)
    with pytest.raises(AgentFailure, match=told) as failed:
        user_agent("kalah(6,4)", path)
    assert failed.value.kind == "unloadable"


def test_missing_file_suggests_nearest(tmp_path):
    write_bot(tmp_path, "def evaluate(rules, position):\n    return 1.0")
    with pytest.raises(AgentFailure, match=r'did you mean "mine\.py"') as failed:
        user_agent("kalah(6,4)", tmp_path / "mime.py")
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
def test_non_numeric_result_is_refused(tmp_path, body, told):
    message = failure(tmp_path, f"def evaluate(rules, position):\n    {body}")
    assert told[INTERPRETED] in message  # the compiler's words or Python's


@pytest.mark.parametrize("name", slow_if_wide(["kalah(6,4)", "kalah(9,3)"]))
def test_exception_in_search_is_a_failure(tmp_path, name):
    of = game(name)
    agent = user_agent(name, write_bot(tmp_path, LATER))
    position = next(p for p in spread(name, 30) if of.plain(p).own_pot == 3)
    for ask in (agent.choose, agent.choose_fast):
        with pytest.raises(AgentFailure) as failed:
            ask(position)
        error = failed.value
        assert (error.kind, of.parse(error.position)) == ("raised", position)
        assert str(tmp_path / "mine.py") in error.bot
        assert "more than I can bear" in error.trace
        assert frames(error.trace) <= {"mine.py"}
        assert "in helper" in error.trace


def frames(trace: str) -> set[str]:
    return {Path(name).name for name in re.findall(r'^  File "(.*?)"', trace, re.MULTILINE)}


def test_agent_works_after_failure(tmp_path):
    of = game("kalah(6,4)")
    agent = user_agent(of.name, write_bot(tmp_path, LATER))
    start = of.start()
    before = agent.choose(start, Limit(depth=1))
    with pytest.raises(AgentFailure):
        agent.choose(spread(of.name, 30)[15], Limit(depth=5))
    assert agent.choose(start, Limit(depth=1)) == before


def test_infinite_value_is_clamped(tmp_path):
    text = "def evaluate(rules, position):\n    return 1e300 * (pot(rules, position) + 1) * 1e300"
    choice = user_agent("kalah(6,4)", write_bot(tmp_path, text)).choose(game("kalah").start())
    assert abs(choice.value) < 1_000_000
    assert not choice.exact


def test_counts_are_signed(tmp_path):
    text = (
        "from games.sowing.features import first_slot\n"
        "def evaluate(rules, position):\n"
        "    hole = first_slot(rules)\n"
        "    return held(position, hole) - held(position, hole + 1)"
    )
    of = game("kalah(6,4)")
    position = of.parse("S 5 1 1 1 1 1, N 1 1 1 1 3 1, pots 0-0, South to move")
    choice = user_agent(of.name, write_bot(tmp_path, text)).choose(position, Limit(depth=1))
    assert abs(choice.value) < 100


def test_changed_file_is_loaded_again(tmp_path):
    of: Game = game("kalah(6,4)")
    values = []
    for number in (1, 2):
        path = write_bot(tmp_path, f"def evaluate(rules, position):\n    return {number}.0")
        values.append(user_agent(of.name, path).choose(of.start(), Limit(depth=2)).value)
    assert [abs(value) for value in values] == [1.0, 2.0]


def test_failure_shows_no_internal_lines(tmp_path):
    (tmp_path / "loop.py").write_text(
        "def evaluate(rules, position):\n    i = 1\n    while i > 0:\n"
        "        i = (i * 5 + 1) % 1000 + 1\n    return i\n"
    )
    spec = AgentSpec("alphabeta", {"depth": 1, "evaluate": f"{tmp_path}/loop.py:evaluate"})
    of = game("kalah(4,3)")
    agent = create_agent(spec.replace(start_seconds=2.0), of, HostSettings(sandbox()))
    with pytest.raises(AgentFailure, match="was not ready within 2 s") as failure:
        agent.start(0)
    assert "compiling" not in str(failure.value)
