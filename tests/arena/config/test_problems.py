"""Problems of experiment files: one line each, with place and suggestion."""

import re

import pytest

from agents import registry
from agents.core import AgentFailure
from agents.fault_text import failure_text, fault_text
from arena.config.experiment import ExperimentError, load_experiment
from arena.pipeline.run import locate_bots
from arena.playing.forfeits import UselessBots
from tests.arena.running import experiment_file, small

HEAD = 'game = "kalah(6,4)"\n'
AGENTS = '[agents.smart]\nkind = "smart"\n[agents.bad]\nkind = "random"\n'
KINDS = ", ".join(registry.AGENTS)


def problems(tmp_path, text, *overrides):
    """The lines about a file called x.toml, without its directory."""
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(ExperimentError) as caught:
        load_experiment(path, overrides)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return [line.replace(f"{tmp_path}/", "") for line in caught.value.problems]


def the_problem(tmp_path, text, *overrides):
    (line,) = problems(tmp_path, text, *overrides)
    return line


BROKEN = {
    # The ten of the reference.
    "a misspelt key": (
        HEAD + "pars = 10\n" + AGENTS,
        'x.toml:2: [top level] unknown key "pars"; did you mean "pairs"?',
    ),
    "a wrong type": (
        HEAD + 'pairs = "many"\n' + AGENTS,
        'x.toml:2: [top level] pairs must be a whole number from 1 to 1,000,000,000, got "many"',
    ),
    "a boolean for a number": (
        HEAD + "seed = true\n" + AGENTS,
        "x.toml:2: [top level] seed must be a whole number from 0 to 9,223,372,036,854,775,807, "
        "got true",
    ),
    "a number out of range": (
        HEAD + "pairs = 0\n" + AGENTS,
        "x.toml:2: [top level] pairs must be a whole number from 1 to 1,000,000,000, got 0",
    ),
    "an unknown kind": (
        HEAD + AGENTS + '[agents.third]\nkind = "minmax"\n',
        f'x.toml:7: [agents.third] there is no agent kind "minmax" (there are {KINDS}); '
        'did you mean "minimax"?',
    ),
    "a misspelt nested key": (
        HEAD + "openings = { random_plys = 6 }\n" + AGENTS,
        'x.toml:2: [openings] unknown key "random_plys"; did you mean "random_plies"?',
    ),
    "a syntax error": (
        HEAD + "pairs = \n" + AGENTS,
        "x.toml:2: [top level] not valid TOML at column 9: Invalid value",
    ),
    "a missing key": (
        AGENTS,
        'x.toml:1: [top level] game is missing, as in game = "kalah(6,4)"',
    ),
    "an unknown agent in a match": (
        HEAD + 'schedule = { match = ["smart", "bed"] }\n' + AGENTS,
        'x.toml:2: [schedule] there is no agent "bed" (there are smart, bad); did you mean "bad"?',
    ),
    "a duplicate name": (
        HEAD + AGENTS + '[agents.bad]\nkind = "first"\n',
        "x.toml:6: [agents.bad] this table is defined twice",
    ),
    # Keys and types.
    "a duplicate key": (
        HEAD + "pairs = 1\npairs = 2\n" + AGENTS,
        "x.toml:3: [top level] pairs is given twice",
    ),
    "a key below the tables": (
        HEAD + AGENTS + "pairs = 10\n",
        'x.toml:6: [agents.bad] unknown key "pairs"; it belongs above the first [table] of the '
        "file",
    ),
    "an unknown key like no other": (
        HEAD + "openings = { random_plies = 6, zzz = 1 }\n" + AGENTS,
        'x.toml:2: [openings] unknown key "zzz" (there are random_plies, balance, repeat)',
    ),
    "a misspelt key that must be there": (
        HEAD + AGENTS + '[agents.third]\nkinf = "first"\n',
        'x.toml:7: [agents.third] unknown key "kinf"; did you mean "kind"?',
    ),
    "the second of two like keys misspelt": (
        HEAD + "stop = { sprt = { elo0 = 0, elo2 = 10 } }\n" + AGENTS,
        'x.toml:2: [stop.sprt] unknown key "elo2"; did you mean "elo1"?',
    ),
    "an agent without a kind": (
        HEAD + AGENTS + "[agents.third]\ndepth = 3\n",
        'x.toml:6: [agents.third] kind is missing, as in kind = "smart"',
    ),
    "no agents": (HEAD, "x.toml:1: [top level] agents is missing, as in [agents.smart]"),
    "one agent": (
        HEAD + '[agents.smart]\nkind = "smart"\n',
        "x.toml:2: [top level] at least two agents must play, got 1",
    ),
    "an agent that is no table": (
        HEAD + "[agents]\na = { kind = 'smart' }\nb = 'random'\n",
        'x.toml:4: [agents] b must be a table, got "random"',
    ),
    "a seed too large": (
        HEAD + "seed = 99999999999999999999\n" + AGENTS,
        "x.toml:2: [top level] seed must be a whole number from 0 to 9,223,372,036,854,775,807, "
        "got 99999999999999999999",
    ),
    "an infinite number": (
        HEAD + "move_seconds = inf\n" + AGENTS,
        "x.toml:2: [top level] move_seconds must be a number above 0 to 86,400, got inf",
    ),
    "a name that is no directory": (
        HEAD + 'name = "../up"\n' + AGENTS,
        'x.toml:2: [top level] name must be a valid name of a directory, got "../up"',
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_gives_one_line(tmp_path, name):
    text, line = BROKEN[name]
    assert problems(tmp_path, text) == [line]


def test_all_problems_are_listed_in_file_order(tmp_path):
    text = """\
game = "kalah(6,4)"
pairs = "many"                      # 1: type
openings = { random_plys = 6 }      # 2: key
[agents.smart]
kind = "smart"
weights = { pto = 1, pot = 2 }      # 3: feature
depth = 0                           # 4: range
[agents.bad]
kind = "random"
nodes = 5                           # 5: option
[[checks]]
that = "smart beats bed"            # 6: name
always = true
[[checks]]
that = "smart beats bad"
always = false                      # 7: choice
"""
    found = problems(tmp_path, text)
    assert [line.split(" ")[0] for line in found] == [
        f"x.toml:{line}:" for line in (2, 3, 6, 7, 10, 12, 16)
    ]


def test_two_problems_on_one_line_are_two_lines(tmp_path):
    table = "agents.smart = { kind = 'smart', depth = 0, weights = { pto = 1, toto = 2 } }\n"
    found = problems(tmp_path, HEAD + table + "agents.bad.kind = 'random'\n")
    assert [line.split(" (")[0] for line in found] == [
        "x.toml:2: [agents.smart] depth must be a whole number from 1 to 100, got 0",
        'x.toml:2: [agents.smart.weights] this agent has no weight "pto"',
        'x.toml:2: [agents.smart.weights] this agent has no weight "toto"',
    ]


def test_an_unknown_game_hides_no_problem_of_an_agent(tmp_path):
    found = problems(tmp_path, 'game = "go"\n' + AGENTS + "depth = 3\n")
    assert [line.split(":")[1] for line in found] == ["1", "6"]


SETS = {
    "agents.smart.depth=0": "[agents.smart] depth must be a whole number from 1 to 100, got 0",
    "agents.smart.dept=6": '[agents.smart] unknown key "dept"; did you mean "depth"?',
    "agents.smrt.depth=6": '[agents] there is no agent "smrt" (there are smart, bad); '
    'did you mean "smart"?',
    "agent.smart.depth=6": '[top level] unknown key "agent"; did you mean "agents"?',
    "pairs": "[--set] must be written key=value, as in agents.smart.depth=6",
    "=5": "[--set] must be written key=value, as in agents.smart.depth=6",
    "pairs=six": '[top level] pairs must be a whole number from 1 to 1,000,000,000, got "six"',
    "pairs=[1, 2": '[top level] pairs must be a whole number from 1 to 1,000,000,000, got "[1, 2"',
    "pairs.x=3": "[top level] pairs is 10, not a table",
    "checks.1.always=proved": "[checks] items are numbered from 0 to 0, got 1",
    "checks.0.always=maybe": '[[checks]] always must be true, "proved" or "winnable", got "maybe"',
    "game=kalah(6,4": '[top level] a game is written like "kalah(6,4)", got "kalah(6,4"',
    "stop.sprt.elo1=10": "[stop.sprt] elo0 is missing",
}


@pytest.mark.parametrize("override", SETS)
def test_wrong_override_is_named_instead_of_a_line(tmp_path, override):
    text = HEAD + "pairs = 10\n" + AGENTS + '[[checks]]\nthat = "smart beats bad"\nalways = true\n'
    assert the_problem(tmp_path, text, override) == f"--set {override}: {SETS[override]}"


def test_wrong_overrides_come_last(tmp_path):
    text = HEAD + "pars = 10\n" + AGENTS
    assert problems(tmp_path, text, "agents.smrt.depth=6", "seed=-1") == [
        'x.toml:2: [top level] unknown key "pars"; did you mean "pairs"?',
        '--set agents.smrt.depth=6: [agents] there is no agent "smrt" (there are smart, bad); '
        'did you mean "smart"?',
        "--set seed=-1: [top level] seed must be a whole number from 0 to "
        "9,223,372,036,854,775,807, got -1",
    ]


def test_missing_file_suggests_a_similar_name(tmp_path):
    (tmp_path / "smart_vs_bad.toml").write_text("")
    with pytest.raises(ExperimentError) as caught:
        load_experiment(tmp_path / "smart_v_bad.toml")
    assert str(caught.value) == (
        f'{tmp_path}/smart_v_bad.toml: there is no such file; did you mean "smart_vs_bad.toml"?'
    )


def test_a_directory_is_no_experiment(tmp_path):
    with pytest.raises(ExperimentError, match=r"cannot be read: Is a directory$"):
        load_experiment(tmp_path)


def test_bytes_that_are_no_text_are_found_by_line(tmp_path):
    (tmp_path / "x.toml").write_bytes(b'game = "kalah"\nname = "\xff"\n')
    with pytest.raises(ExperimentError, match=r"x\.toml:2: \[top level\] this line is not UTF-8"):
        load_experiment(tmp_path / "x.toml")


KEYS = [
    "game", "name", "pairs", "seed", "schedule", "openings", "keep_moves", "move_seconds", "stop",
    "agents", "checks", "agents.smart", "agents.smart.kind", "agents.smart.depth",
    "agents.smart.weights", "agents.smart.weights.pot", "agents.smart.options",
    "agents.smart.evaluate", "agents.bad.file", "stop.sprt", "stop.sprt.elo0", "checks.0",
    "checks.0.that", "checks.0.always", "openings.list", "openings.none", "schedule.match",
]  # fmt: skip
VALUES = [
    "0", "-1", "1e400", "nan", "true", "''", "'x'", "'all'", "' beats '", "[]", "[[]]", "['x']",
    "[1]", "{}", "{ x = 1 }", "{ sprt = 3 }", "{ list = [[1]] }", "{ match = [1, 2] }",
    "2026-01-01", "12:00:00", "[{}]", "{ smart = {}, bad = 3 }", '"\\u0000"', "'.'",
    "'~nobody/x'", f"'{'x' * 300}'", "9" * 400,
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_any_value_of_any_key_gives_a_plan_or_problems(tmp_path, key):
    path = tmp_path / "x.toml"
    path.write_text(HEAD + AGENTS + '[[checks]]\nthat = "smart beats bad"\nalways = true\n')
    for value in VALUES:
        try:
            made = load_experiment(path, [f"{key}={value}"])
        except ExperimentError as error:
            assert error.problems
            assert all(re.match(r"(--set .*|.*x\.toml:\d+): \[.*\] ", p) for p in error.problems)
        else:
            assert made.plan.digest()


def test_verdict_keeps_several_lines(tmp_path):
    path = experiment_file(tmp_path, small(2) + '[agents.mine]\nkind = "greedy"\n')
    verdict = "does not load: own.py cannot be compiled:\nline 3: with does not compile"
    shown = locate_bots(load_experiment(path), (), UselessBots({"mine": verdict})).problems
    assert shown[0].endswith("own.py cannot be compiled:")
    assert shown[1] == "  line 3: with does not compile"


def test_reasons_of_an_evaluation_stay_separate():
    message = "cannot be compiled (how to go on):"
    failure = AgentFailure("unloadable", "own.py", "", message, "line 3: no with")
    assert "::" not in failure_text(failure)
    assert fault_text("unloadable", "cannot be compiled:\nline 3: a\nline 4: b") == (
        "cannot be compiled: line 3: a; line 4: b"
    )
