"""Problems in schedules, openings, stop rules and checks."""

import pytest

from arena.analysis.checks.registry import CHECKS
from arena.config.experiment import load_experiment
from arena.planning.openings.registry import OPENINGS, opening_method
from arena.planning.schedules.registry import SCHEDULES, schedule_method
from games.base.text import join_names
from tests.arena.config.test_problems import AGENTS, HEAD, problems

CLAIMS, WAYS, ORDERS = map(
    join_names,
    (
        CHECKS,
        [opening_method(each).keys[0].name for each in OPENINGS if opening_method(each).keys],
        [each for each in SCHEDULES if schedule_method(each).keys],
    ),
)

BROKEN = {
    # Schedule, openings, stop.
    "an unknown schedule": (
        HEAD + 'schedule = "round_robbin"\n' + AGENTS,
        'x.toml:2: [top level] schedule must be "round_robin", { gauntlet = "a" }, "match", '
        '{ match = ["a", "b"] }, { match = [["a", "b"], ["c", "d"]] }, { best = 1 }, '
        '{ rank = true }, { place = "a" }, "swiss" or { scale = "a" }, got "round_robbin"; '
        'did you mean "round_robin"?',
    ),
    "two schedules": (
        HEAD + 'schedule = { gauntlet = "bad", match = ["smart", "bad"] }\n' + AGENTS,
        f"x.toml:2: [schedule] exactly one of {ORDERS} must be given, got gauntlet, match",
    ),
    "a match of three": (
        HEAD + 'schedule = { match = ["smart", "bad", "smart"] }\n' + AGENTS,
        'x.toml:2: [schedule] match must name two agents, got ["smart", "bad", "smart"]',
    ),
    "a match against oneself": (
        HEAD + 'schedule = { match = ["bad", "bad"] }\n' + AGENTS,
        'x.toml:2: [schedule] match must name two different agents, got "bad" twice',
    ),
    "a match in a crowd": (
        HEAD + 'schedule = "match"\n' + AGENTS + '[agents.c]\nkind = "first"\n',
        'x.toml:2: [top level] schedule "match" is for a file of two agents, got 3 agents: name '
        'two, as in schedule = { match = ["a", "b"] }',
    ),
    "a list of pairs with one agent": (
        HEAD + 'schedule = { match = [["smart", "bad"], ["smart"]] }\n' + AGENTS,
        'x.toml:2: [schedule] match must name two agents, got ["smart"]',
    ),
    "a list of pairs and agents": (
        HEAD + 'schedule = { match = [["smart", "bad"], "smart"] }\n' + AGENTS,
        'x.toml:2: [schedule] match must name two agents, got "smart"',
    ),
    "a pair that is listed twice": (
        HEAD + 'schedule = { match = [["smart", "bad"], ["bad", "smart"]] }\n' + AGENTS,
        'x.toml:2: [schedule] match must name each pair once, got ["bad", "smart"] twice',
    ),
    "a pair of numbers": (
        HEAD + 'schedule = { match = ["smart", 1] }\n' + AGENTS,
        "x.toml:2: [schedule] match must name agents by text in quotes, got 1",
    ),
    "a schedule that was removed": (
        HEAD + "schedule = { couples = true }\n" + AGENTS,
        'x.toml:2: [schedule] unknown key "couples"; it was removed; write schedule = '
        '{ match = [["a", "b"], ["c", "d"]] }',
    ),
    "an unknown agent in a gauntlet": (
        HEAD + 'schedule.gauntlet = "smrt"\n' + AGENTS,
        'x.toml:2: [schedule] there is no agent "smrt" (there are smart, bad); '
        'did you mean "smart"?',
    ),
    "unknown openings": (
        HEAD + 'openings = "nonne"\n' + AGENTS,
        'x.toml:2: [top level] openings must be "none", { random_plies = 6 }, '
        "{ random_plies = [4, 10] }, { enumerate = 2 }, "
        '{ list = ["3 1", "2"] }, { exact = "draw" } or { exact = 2 }, '
        'got "nonne"; did you mean "none"?',
    ),
    "openings of no result": (
        HEAD + 'openings = { exact = "drawn" }\n' + AGENTS,
        'x.toml:2: [openings] exact must be "draw", "win", "loss" or a whole number from 0 to '
        '100, got "drawn"; did you mean "draw"?',
    ),
    "openings of no kind": (
        HEAD + "openings = { balance = 4 }\n" + AGENTS,
        f"x.toml:2: [openings] exactly one of {WAYS} must be given, got none of them",
    ),
    "pairs without openings": (
        HEAD + 'pairs = 5\nopenings = "none"\n' + AGENTS,
        "x.toml:2: [top level] 5 pairs need as many openings, got 1 (agents without chance would "
        "repeat the same games); lower pairs, use "
        "{ random_plies = 6 }, or repeat = true if an agent uses chance",
    ),
    "more pairs than openings in a list": (
        HEAD + 'pairs = 5\nopenings = { list = ["3 1", "3"] }\n' + AGENTS,
        "x.toml:2: [top level] 5 pairs need as many openings, got 2 (agents without chance would "
        "repeat the same games); lower pairs, use "
        "{ random_plies = 6 }, or repeat = true if an agent uses chance",
    ),
    "an unreadable opening": (
        HEAD + '[openings]\nlist = [\n  "3 1",\n  "3 d3",\n]\n' + AGENTS,
        'x.toml:5: [openings] opening 2: "d3" is not a move of kalah(6,4)',
    ),
    "an opening that is no text": (
        HEAD + "openings = { list = [3] }\n" + AGENTS,
        "x.toml:2: [openings] item 1 of list must be text in quotes, got 3",
    ),
    "an opening twice": (
        HEAD + 'openings = { list = ["3 1", "3,1"] }\n' + AGENTS,
        'x.toml:2: [openings] opening 2 is the same as opening 1, got "3,1" twice',
    ),
    "an impossible test": (
        HEAD + "stop = { sprt = { elo0 = 10, elo1 = 5 } }\n" + AGENTS,
        "x.toml:2: [stop.sprt] elo0 < elo1 must hold, both within ±800 logistic Elo, got 10 and 5",
    ),
    "a test of an unknown model": (
        HEAD + "stop.sprt = { elo0 = 0, elo1 = 5, model = 'normalised' }\n" + AGENTS,
        'x.toml:2: [stop.sprt] model must be "logistic" or "normalized", got "normalised"; '
        'did you mean "normalized"?',
    ),
    "a test of many": (
        HEAD + AGENTS + '[agents.c]\nkind = "first"\n[stop]\nsprt = { elo0 = 0, elo1 = 5 }\n',
        "x.toml:9: [stop] sprt needs a schedule of one match, got 3 matches; "
        'write schedule = { match = ["a", "b"] }',
    ),
    # Checks.
    "checks in single brackets": (
        HEAD + AGENTS + '[checks]\nthat = "smart beats bad"\nalways = true\n',
        "x.toml:6: [top level] checks must be a list in [ ], got a table of that, always; "
        "write [[checks]] with two brackets",
    ),
    "a check of nobody": (
        HEAD + AGENTS + '[[checks]]\nthat = "smrt beats bad"\nalways = true\n',
        'x.toml:7: [[checks]] there is no agent "smrt" (there are smart, bad); '
        'did you mean "smart"?',
    ),
    "a check without a claim": (
        HEAD + AGENTS + '[[checks]]\nthat = "smart beats bad"\n',
        f"x.toml:6: [[checks]] exactly one of {CLAIMS} must be given, got none of them",
    ),
    "a check of two claims": (
        HEAD + AGENTS + '[[checks]]\nthat = "smart beats bad"\nalways = true\nelo_at_least = 5\n',
        f"x.toml:6: [[checks]] exactly one of {CLAIMS} must be given, got always, elo_at_least",
    ),
    "a claim that is not made": (
        HEAD + AGENTS + '[[checks]]\nthat = "smart beats bad"\nalways = false\n',
        'x.toml:8: [[checks]] always must be true, "proved" or "winnable", got false',
    ),
    "a victory over nobody": (
        HEAD + AGENTS + '[[checks]]\nthat = "smart"\nalways = true\n',
        'x.toml:6: [[checks]] always needs that = "A beats B", got "smart"',
    ),
    "conduct of two": (
        HEAD + AGENTS + '[[checks]]\nthat = "smart beats bad"\nno_forfeits = true\n',
        'x.toml:6: [[checks]] no_forfeits needs that = "A" or "all", got "smart beats bad"',
    ),
    "confidence in a certainty": (
        HEAD + AGENTS + '[[checks]]\nthat = "all"\nno_forfeits = true\nconfidence = 0.9\n',
        "x.toml:9: [[checks]] no_forfeits has no confidence "
        "(it belongs to score_at_least, elo_at_least, max_mean_loss)",
    ),
    "a score of more than everything": (
        HEAD + AGENTS + '[[checks]]\nthat = "smart beats bad"\nscore_at_least = 90\n',
        "x.toml:8: [[checks]] score_at_least must be a number above 0 to 1, got 90",
    ),
    "a victory over oneself": (
        HEAD + AGENTS + '[[checks]]\nthat = "bad beats bad"\nalways = true\n',
        'x.toml:7: [[checks]] an agent does not play itself, got "bad beats bad"',
    ),
    "a check on a match that is not played": (
        HEAD
        + 'schedule = { gauntlet = "smart" }\n'
        + AGENTS
        + '[agents.c]\nkind = "first"\n[[checks]]\nthat = "bad beats c"\nelo_at_least = 1\n',
        'x.toml:10: [[checks]] bad and c never meet in this schedule, got "bad beats c"',
    ),
    "a proof about chance": (
        HEAD + AGENTS + '[[checks]]\nthat = "bad beats smart"\nalways = "proved"\n',
        'x.toml:8: [[checks]] always = "proved" needs a winner that never varies, got "bad"',
    ),
    "the second of several checks": (
        HEAD
        + 'checks = [\n  { that = "smart beats bad", always = true },\n'
        + '  { that = "bad beats smart", allways = true },\n]\n'
        + AGENTS,
        'x.toml:4: [[checks]] unknown key "allways"; did you mean "always"?',
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_gives_one_line(tmp_path, name):
    text, line = BROKEN[name]
    assert problems(tmp_path, text) == [line]


def test_repeated_openings_allow_any_number_of_pairs(tmp_path):
    text = HEAD + 'pairs = 5\nopenings = { list = ["3 1", "3"], repeat = true }\n' + AGENTS
    path = tmp_path / "x.toml"
    path.write_text(text)
    assert load_experiment(path).plan.pairs == 5


def test_wrong_schedule_gives_no_further_problems(tmp_path):
    stop = "stop = { sprt = { elo0 = 0, elo1 = 5 } }\n"
    third = '[agents.c]\nkind = "first"\n'
    (line,) = problems(tmp_path, f'{HEAD}schedule = "mach"\n{stop}{AGENTS}{third}')
    assert line.endswith('got "mach"; did you mean "match"?')
