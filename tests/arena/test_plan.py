"""The option `--dry-run`: forecasts of runs, sweeps and studies."""

from dataclasses import replace
from itertools import combinations

import pytest

from arena.config.experiment import load_experiment
from arena.config.run_options import open_run_options
from arena.pipeline.forecast import play_pilot, show_probes
from arena.planning.schedule import make_schedule
from arena.playing import pilot
from arena.playing.options import Interrupts
from arena.stats.elo import elo_estimate
from arena.stats.intervals import score_estimate
from arena.stats.text import elo_text
from arena.terminal.plan import exclusion_line, match_lines, time_line
from games.base import progress
from games.base.errors import CHECK_FAILED, OK, USER_ERROR
from tests.arena.running import experiment_file, run_in_process, small
from tests.commands import plan, tune

GREEDY = '[agents.greedy]\nkind = "greedy"\n'
CHECK = '[[checks]]\nthat = "greedy beats random"\nscore_at_least = 0.9\n'


@pytest.fixture(autouse=True)
def short_pilot(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_SECONDS", 0.05)


def said(capsys, path, *words):
    results = path.parent / "results"
    status = plan([str(path), "--workers", "0", "--results", str(results), *words])
    assert not results.exists()  # nothing is kept
    return status, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("option", ["--json", "--quiet", "--fresh"])
def test_options_without_effect_are_refused(tmp_path, capsys, option):
    path = experiment_file(tmp_path, small(4) + GREEDY)
    assert plan([str(path), option]) == USER_ERROR
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"leave out {option}")


def run_here(path, directory, *words):
    return run_in_process(
        path, "--results", directory / "played", "--workers", "0", "--no-page", *words
    )


def test_games_time_intervals_and_pairs_needed_are_said(tmp_path, capsys):
    path = experiment_file(tmp_path, small(40) + GREEDY)
    status, lines = said(capsys, path)
    assert status == OK
    assert lines[0] == "demo on kalah(4,3): 80 games, 2 agents, a match of 40 pairs"
    assert lines[1] == "openings: 40"
    assert lines[2].startswith("pilot: ")
    assert lines[3].startswith("time: about ")
    assert lines[4].split()[:2] == ["match", "pilot"]
    assert lines[5].startswith("random v greedy")
    assert " Elo " in lines[5]


def test_impossible_check_is_reported(tmp_path, capsys):
    path = experiment_file(tmp_path, small(10) + GREEDY + CHECK)
    vacuous = "greedy beats random (score_at_least) will be VACUOUS: needs 29 openings, has 10"
    status, lines = said(capsys, path)
    assert (status, vacuous in lines) == (CHECK_FAILED, True)
    assert vacuous in run_here(path, tmp_path).stderr.splitlines()


def test_check_of_untimed_moves_is_doubtful(tmp_path, capsys):
    check = '[[checks]]\nthat = "greedy"\nmax_seconds = 1e-9\n'
    path = experiment_file(tmp_path, small(10) + GREEDY + check)
    status, lines = said(capsys, path)
    (doubt,) = (line for line in lines if "may be VACUOUS" in line)
    assert status == OK
    assert "random and greedy" not in doubt and "games of greedy are timed as a whole" in doubt
    assert doubt in run_here(path, tmp_path).stderr.splitlines()
    timed = experiment_file(tmp_path, small(10, "search_info = true") + GREEDY + check)
    assert not any("VACUOUS" in line for line in said(capsys, timed)[1])


def test_two_agents_without_chance_need_as_many_openings(tmp_path):
    pair = '[agents.first]\nkind = "first"\n' + GREEDY
    text = small(10).partition("[agents")[0] + pair + CHECK.replace("random", "first")
    answer = run_here(experiment_file(tmp_path, text), tmp_path)
    assert "will be VACUOUS: needs 29 openings, has 10" in answer.stderr
    assert "VACUOUS: greedy beats first (score_at_least): needs 29" in answer.stdout


@pytest.mark.slow
def test_dry_run_probes_every_bot(tmp_path, capsys):
    path = experiment_file(tmp_path, small(6), "fixed")
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "lazy.py").write_text("def choose(view, legal, rng):\n    return 99\n")
    for name in ("broken", "lazy"):
        text = f'[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n'
        path.write_text(path.read_text() + text)
    status, lines = said(capsys, path)
    text = "\n".join(lines)
    assert status == CHECK_FAILED
    assert "fixed: loads, and plays " in text
    assert "broken: does not load: " in text
    assert "nothing_of_this_name" in text
    assert "lazy: loads, but fails at its first move: " in text
    assert "random v fixed" in text


def test_forecast_of_rounds_and_tests(tmp_path, capsys):
    stop = "stop = { sprt = { elo0 = 0, elo1 = 60 } }"
    _, lines = said(capsys, experiment_file(tmp_path, small(200, stop, plies=8) + GREEDY))
    assert lines[0].startswith("demo on kalah(4,3): at most 400 games")
    assert any("stops after about" in line and "200 at most" in line for line in lines)
    three = '[agents.first]\nkind = "first"\n' + GREEDY
    path = experiment_file(tmp_path, small(20, "schedule = { best = 1 }") + three)
    _, lines = said(capsys, path)
    assert "ends when its answer is certain" in lines[0]


def test_a_bot_that_fails_all_its_games_is_not_forecast(tmp_path, capsys):
    (tmp_path / "bad.py").write_text(
        "N = [0]\ndef choose(view, legal, rng):\n    N[0] += 1\n"
        "    return legal[0] if N[0] < 4 else 1 // 0\n"
    )
    bad = '[agents.bad]\nkind = "python"\nfile = "bad.py"\n'
    status, lines = said(capsys, experiment_file(tmp_path, small(20) + bad))
    assert status == CHECK_FAILED
    (line,) = (line for line in lines if line.startswith("bad: fails its games: "))
    assert "ZeroDivisionError" in line
    assert not any(line.startswith(("time: ", "random v bad")) for line in lines)
    goes_on = small(20, 'roster = { directory = "." }') + GREEDY
    status, lines = said(capsys, experiment_file(tmp_path, goes_on))
    assert status == CHECK_FAILED
    rows = [line.split() for line in lines if " v " in line]
    assert ["bad", "v", "random", "forfeits", "-", "-", "-"] in rows
    assert any(row[:3] == ["random", "v", "greedy"] and row[3] != "forfeits" for row in rows)


def test_the_column_of_the_pilot_is_its_score(tmp_path):
    drawn = make_schedule(load_experiment(experiment_file(tmp_path, small(20) + GREEDY)).plan)
    (match, *_) = drawn.plan.matches
    found = pilot.PilotResult({match: pilot.MatchSample([0, 0, 0, 0, 20])}, 1.0)
    found.moves = {place: pilot.MoveTimes(1.0, 10) for place in match}
    row = list(match_lines(drawn, found))[1]
    assert "100 % of 20" in row
    whole = score_estimate(range(20), [1.0] * 20)  # as the run says it after the same games
    assert elo_text(elo_estimate(whole)) in row


def test_every_agent_plays_in_the_first_matches_of_a_pilot():
    matches = list(combinations(range(7), 2))
    first = pilot.cover_agents_first(range(len(matches)), matches)
    assert sorted(first) == list(range(len(matches)))
    assert {agent for place in first[:4] for agent in matches[place]} == set(range(7))


def test_known_games_are_not_counted_as_time(tmp_path, capsys):
    path = experiment_file(tmp_path, small(20) + GREEDY)
    known = ("--cache", str(tmp_path / "known"))
    run_here(path, tmp_path, *known)
    _, lines = said(capsys, path, *known)
    assert "in the game cache: 40 games, which are not played again" in lines
    assert "time: about a second for 0 games" in lines


def test_a_sweep_says_how_many_games_all_its_cells_have(tmp_path, capsys):
    text = small(4) + GREEDY + "[sweep]\nseed = [1, 2, 3, 4, 5]\n"
    _, lines = said(capsys, experiment_file(tmp_path, text))
    assert lines[0] == "demo: a sweep of 5 cells, 40 games in all"
    assert [line for line in lines if line.startswith("cell ")] == [
        f"cell {n}: seed = {n}" for n in (1, 2, 3, 4)
    ]
    assert lines[-1] == "... and 1 more cells"


OWN = """from agents.features.sowing import pot, turned

def evaluate(rules, position):
    return pot(rules, position) - pot(rules, turned(position))
"""
BOT = """import time

def choose(view, legal, rng):
    time.sleep({})
    return legal[0]
"""


def ignore(line):
    pass


def looked_at(path, workers=0):
    """The pilot of an experiment, the first answers of its bots, and all of its pairings."""
    with open_run_options(Interrupts(), workers=workers, cache="off") as options:
        drawn = make_schedule(load_experiment(path).plan)
        answers = show_probes(drawn, options, ignore)
        found = play_pilot(drawn, options, answers, ignore)
    return found, answers, dict.fromkeys(drawn.pairs.matches, drawn.pairs.pairs_per_match)


def test_the_time_to_compile_an_evaluation_is_not_that_of_games(tmp_path):
    text = small(40) + '[agents.own]\nkind = "alphabeta"\ndepth = 1\nevaluate = "own.py:evaluate"\n'
    (tmp_path / "own.py").write_text(OWN)
    found, (answer,), left = looked_at(experiment_file(tmp_path, text))
    assert answer.start_seconds > 0.1  # else there would be nothing to leave out
    assert found.estimate_time(left, 1).high < answer.start_seconds


def test_slow_bot_is_timed_by_its_first_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(pilot, "LONGEST_SECONDS", 0.3)
    text = small(1).partition("[agents")[0]
    for name, seconds in (("slow", 0.2), ("quick", 0)):
        (tmp_path / f"{name}.py").write_text(BOT.format(seconds))
        text += f'[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n'
    found, answers, left = looked_at(experiment_file(tmp_path, text), 1)
    assert found.pairs == 0
    assert [answer.seconds >= 0.2 for answer in answers] == [True, False]
    time = found.estimate_time(left, 1)
    assert time.low < 2 * 8 * 0.2 < time.high  # in both games some eight moves
    assert time_line(found, left, 1).startswith("time: unknown: no game ended; at least ")


def test_slow_start_of_a_bot_is_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.05)
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.4)\n" + BOT.format(0))
    text = small(2) + '[agents.slow]\nkind = "python"\nfile = "slow.py"\n'
    plan([str(experiment_file(tmp_path, text)), "--workers", "0"])
    assert "starting slow" in capsys.readouterr().err


def test_moves_of_one_match_tell_the_time_of_another():
    found = pilot.PilotResult(
        {(0, 1): pilot.MatchSample(), (0, 2): pilot.MatchSample()}, 1.0, {2: 0.5}
    )
    found.samples[0, 1] = pilot.MatchSample([0, 0, 4, 0, 0], [(2, 1.0), (2, 1.0)])
    found.moves = {place: pilot.MoveTimes(0.8, 80) for place in (0, 1)}
    own, other = found.pair_time((0, 1)), found.pair_time((0, 2))
    assert (own.seconds, own.low < 0.5 < own.high) == (0.5, True)
    # 20 moves of each, 0.01 and 0.5 seconds long, and 0.1 seconds beside them.
    assert other.seconds == pytest.approx(20 * 0.51 + 0.1)
    assert other.high / other.low > own.high / own.low


def test_bots_that_fail_their_games_take_time_until_they_are_excluded():
    samples = {match: pilot.MatchSample() for match in ((0, 1), (0, 2), (0, 3), (1, 2), (2, 3))}
    found = pilot.PilotResult(samples, 1.0, failed_before={1: 6.0})
    found.samples[0, 2] = pilot.MatchSample([0, 0, 4, 0, 0], [(2, 1.0), (2, 1.0)])
    found.samples[0, 3] = pilot.MatchSample([0, 0, 0, 0, 1], [(1, 8.0)])
    found.moves = {0: pilot.MoveTimes(0.8, 80, 10), 2: pilot.MoveTimes(0.8, 80, 8)}
    found.moves[3] = pilot.MoveTimes(0.0, 0, 0, 2)
    left = dict.fromkeys(samples, 100)
    assert found.failing == {1: 6.0, 3: 3 * 4.0}
    assert found.forfeit_count(left) == 800
    assert found.estimate_time(left, 2).seconds == pytest.approx(50 * 0.5 + 6 + 12)
    assert "800 of them of bots that fail" in time_line(found, left, 2)


def test_a_pilot_finds_the_bots_that_fail_their_first_games(tmp_path):
    (tmp_path / "late.py").write_text(
        "def choose(view, legal, rng):\n    return legal[0] if 'N 3 3 3 3' in view.text else 99\n"
    )
    text = small(20) + '[agents.late]\nkind = "python"\nfile = "late.py"\n'
    text += '[agents.greedy]\nkind = "greedy"\n'
    found, _, left = looked_at(experiment_file(tmp_path, text), 1)
    names = load_experiment(tmp_path / "demo.toml").plan.names
    assert list(found.failing) == [names.index("late")]
    assert found.forfeit_count(left) == 80
    plan = load_experiment(tmp_path / "demo.toml").plan
    assert exclusion_line(plan, found).startswith("the run will stop, because late failed")
    goes_on = replace(plan, required_agents=frozenset())
    assert exclusion_line(goes_on, found) == "excluded after three failed games: late"


COLD = """import time

asked = []

def choose(view, legal, rng):
    if not asked:
        time.sleep(0.3)
    asked.append(1)
    return legal[0]
"""


def test_a_slow_first_answer_is_not_taken_for_the_time_of_every_move(tmp_path):
    (tmp_path / "cold.py").write_text(COLD)
    text = small(4) + '[agents.cold]\nkind = "python"\nfile = "cold.py"\n'
    _, (answer,), _ = looked_at(experiment_file(tmp_path, text))
    assert answer.seconds > 0.3 > 2 * answer.move_seconds


STUDY = """game = "kalah(6,4)"
openings = { random_plies = 6 }
[agents.mine]
kind = "alphabeta"
depth = 1
[tune]
agent = "mine"
method = "spsa"
trials = 10
games = 100
[tune.weights]
pot = [0, 2]
[tune.validation]
pairs = 1000
elo0 = 0
elo1 = 40
"""


def test_a_study_with_few_openings_says_how_many_pairs_its_validation_has(tmp_path, capsys):
    path = tmp_path / "study.toml"
    few = STUDY.replace('kalah(6,4)"', 'kalah(4,3)"').replace(
        "random_plies = 6", "random_plies = 3"
    )
    path.write_text(few)
    assert tune([str(path), "--dry-run", "--workers", "0"]) == OK
    lines = capsys.readouterr().out.splitlines()
    (note,) = (line for line in lines if line.startswith("validation: "))
    most = int(note.split()[1])
    assert f"{most} pairs at most, not 1,000" in note
    assert any(f"to {2 * most:,} games more" in line for line in lines)


def test_trials_are_those_of_the_file_and_times_name_their_parts(tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    tune([str(path), "--workers", "0", "--dry-run"])
    lines = capsys.readouterr().out.splitlines()
    assert "search: 10 trials of 100 games, 1,000 games" in lines
    times = [line for line in lines if line.startswith("time: ")]
    assert len(times) == 2
    assert "shortest claim and validation" in times[0]
    assert "longest claim and validation" in times[1]
