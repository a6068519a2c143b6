"""pitflip plan: what is said before a game counts, and that none does."""

from dataclasses import replace

import pytest

from arena.commands.plan import arguments, main, pilot_with, probe_lines
from arena.config.command_line import open_run_options
from arena.config.experiment import load
from arena.planning.schedule import make_schedule
from arena.playing import pilot
from arena.playing.options import Interrupts
from arena.terminal.plan import failing_line, time_line
from games.base.errors import CHECK_FAILED, OK, USER_ERROR
from tests.arena.running import called, experiment_file, small

GREEDY = '[agents.greedy]\nkind = "greedy"\n'
CHECK = '[[checks]]\nthat = "greedy beats random"\nscore_at_least = 0.9\n'


@pytest.fixture(autouse=True)
def short_pilot(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_SECONDS", 0.05)


def said(capsys, path, *words):
    results = path.parent / "results"
    status = main([str(path), "--workers", "0", "--results", str(results), *words])
    assert not results.exists()  # nothing is kept
    return status, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("option", ["--json", "--quiet", "--fresh"])
def test_options_without_effect_are_refused(tmp_path, capsys, option):
    path = experiment_file(tmp_path, small(4) + GREEDY)
    with pytest.raises(SystemExit) as ended:
        main([str(path), option])
    assert ended.value.code == USER_ERROR
    assert option in capsys.readouterr().err.splitlines()[-1]
    with pytest.raises(SystemExit):
        main(["--help"])
    assert option not in capsys.readouterr().out


def run_here(path, directory, *words):
    return called(path, "--results", directory / "played", "--workers", "0", "--no-page", *words)


def test_games_time_intervals_and_pairs_needed_are_said(tmp_path, capsys):
    path = experiment_file(tmp_path, small(40) + GREEDY)
    status, lines = said(capsys, path)
    assert status == OK
    assert lines[0] == "demo on kalah(4,3): 80 games, 2 agents, a match of 40 pairings"
    assert lines[1] == "openings: 40"
    assert lines[2].startswith("pilot: ")
    assert lines[3].startswith("time: about ")
    assert lines[4].split()[:2] == ["match", "pilot"]
    assert lines[5].startswith("random v greedy")
    assert " Elo " in lines[5]


def test_a_check_that_no_result_could_satisfy_is_said_by_plan_and_by_run(tmp_path, capsys):
    path = experiment_file(tmp_path, small(10) + GREEDY + CHECK)
    vacuous = "greedy beats random (score_at_least) will be VACUOUS: needs 29 openings, has 10"
    status, lines = said(capsys, path)
    assert (status, vacuous in lines) == (CHECK_FAILED, True)
    assert vacuous in run_here(path, tmp_path).stderr.splitlines()


def test_two_agents_without_chance_need_as_many_openings(tmp_path):
    pair = '[agents.first]\nkind = "first"\n' + GREEDY
    text = small(10).partition("[agents")[0] + pair + CHECK.replace("random", "first")
    answer = run_here(experiment_file(tmp_path, text), tmp_path)
    assert "will be VACUOUS: needs 29 openings, has 10" in answer.stderr
    assert "VACUOUS: greedy beats first (score_at_least): needs 29" in answer.stdout


@pytest.mark.slow
def test_every_bot_is_asked_once_and_one_that_does_not_load_stops_nobody(tmp_path, capsys):
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


def test_rounds_and_tests_are_said_to_end_early(tmp_path, capsys):
    stop = "stop = { sprt = { elo0 = 0, elo1 = 60 } }"
    _, lines = said(capsys, experiment_file(tmp_path, small(200, stop, plies=8) + GREEDY))
    assert lines[0].startswith("demo on kalah(4,3): at most 400 games")
    assert any("stops after about" in line and "200 at most" in line for line in lines)
    three = '[agents.first]\nkind = "first"\n' + GREEDY
    path = experiment_file(tmp_path, small(20, "schedule = { best = 1 }") + three)
    _, lines = said(capsys, path)
    assert "ends when its answer is sure" in lines[0]


def test_known_games_are_not_counted_as_time(tmp_path, capsys):
    path = experiment_file(tmp_path, small(20) + GREEDY)
    known = ("--known", str(tmp_path / "known"))
    run_here(path, tmp_path, *known)
    _, lines = said(capsys, path, *known)
    assert "known from earlier runs: 40 games, which are not played" in lines
    assert "time: about a second for 0 games" in lines


def test_a_sweep_says_how_many_games_all_its_cells_have(tmp_path, capsys):
    text = small(4) + GREEDY + "[sweep]\nseed = [1, 2, 3, 4, 5]\n"
    _, lines = said(capsys, experiment_file(tmp_path, text))
    assert lines[0] == "demo: a sweep of 5 cells, 40 games in all"
    assert [line for line in lines if line.startswith("cell ")] == [
        f"cell {n}: seed = {n}" for n in (1, 2, 3, 4)
    ]
    assert lines[-1] == "... and 1 more cells"


@pytest.mark.slow
def test_a_study_says_what_it_plays(capsys):
    assert main(["experiments/tune_kalah.toml", "--workers", "1"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "search: 150 trials of 400 games, 60,000 games"
    assert lines[2].startswith("claim and validation: from 10,588 to 12,000 games more")


def test_a_mistake_is_one_line(tmp_path, capsys):
    assert main([str(tmp_path / "none.toml")]) == USER_ERROR
    assert capsys.readouterr().err.count("\n") == 1


OWN = """from agents.features.sowing import pot, turned

def evaluate(rules, position):
    return pot(rules, position) - pot(rules, turned(position))
"""
BOT = """import time

def choose(view, legal, rng):
    time.sleep({})
    return legal[0]
"""


def looked_at(path, workers=0):
    """The pilot of an experiment, the first answers of its bots, and all of its pairings."""
    with Interrupts().installed():
        chosen = arguments().parse_args([str(path), "--workers", str(workers), "--known", "off"])
        with open_run_options(chosen, Interrupts()) as options:
            drawn = make_schedule(load(path).plan)
            answers = list(probe_lines(drawn, options))
            found = pilot_with(drawn, options, answers)
    return found, answers, dict.fromkeys(drawn.pairings.matches, drawn.pairings.pairs)


def test_the_time_to_compile_an_evaluation_is_not_that_of_games(tmp_path):
    text = small(40) + '[agents.own]\nkind = "alphabeta"\ndepth = 1\nevaluate = "own.py:evaluate"\n'
    (tmp_path / "own.py").write_text(OWN)
    found, (answer,), left = looked_at(experiment_file(tmp_path, text))
    assert answer.start_seconds > 0.1  # else there would be nothing to leave out
    assert found.time_of(left, 1).high < answer.start_seconds


def test_a_bot_that_finished_no_pairing_is_known_by_its_first_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(pilot, "LONGEST_SECONDS", 0.3)
    text = small(1).partition("[agents")[0]
    for name, seconds in (("slow", 0.2), ("quick", 0)):
        (tmp_path / f"{name}.py").write_text(BOT.format(seconds))
        text += f'[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n'
    found, answers, left = looked_at(experiment_file(tmp_path, text), 1)
    assert found.pairings == 0
    assert [answer.seconds >= 0.2 for answer in answers] == [True, False]
    time = found.time_of(left, 1)
    assert time.low < 2 * 8 * 0.2 < time.high  # in both games some eight moves
    assert time_line(found, left, 1).startswith("time: not known: no game ended; at least ")


def test_moves_of_one_match_tell_the_time_of_another():
    found = pilot.PilotResult(
        {(0, 1): pilot.MatchSample(), (0, 2): pilot.MatchSample()}, 1.0, {2: 0.5}
    )
    found.samples[0, 1] = pilot.MatchSample([0, 0, 4, 0, 0], [(2, 1.0), (2, 1.0)])
    found.moves = {place: pilot.MoveTimes(0.8, 80) for place in (0, 1)}
    own, other = found.pairing_time((0, 1)), found.pairing_time((0, 2))
    assert (own.seconds, own.low < 0.5 < own.high) == (0.5, True)
    # 20 moves of each, 0.01 and 0.5 seconds long, and 0.1 seconds beside them.
    assert other.seconds == pytest.approx(20 * 0.51 + 0.1)
    assert other.high / other.low > own.high / own.low


def test_bots_that_fail_their_games_take_time_until_they_are_excluded():
    samples = {match: pilot.MatchSample() for match in ((0, 1), (0, 2), (0, 3), (1, 2), (2, 3))}
    found = pilot.PilotResult(samples, 1.0, without={1: 6.0})
    found.samples[0, 2] = pilot.MatchSample([0, 0, 4, 0, 0], [(2, 1.0), (2, 1.0)])
    found.samples[0, 3] = pilot.MatchSample([0, 0, 0, 0, 1], [(1, 8.0)])
    found.moves = {0: pilot.MoveTimes(0.8, 80, 10), 2: pilot.MoveTimes(0.8, 80, 8)}
    found.moves[3] = pilot.MoveTimes(0.0, 0, 0, 2)
    left = dict.fromkeys(samples, 100)
    assert found.failing == {1: 6.0, 3: 3 * 4.0}
    assert found.unplayed(left) == 800
    assert found.time_of(left, 2).seconds == pytest.approx(50 * 0.5 + 6 + 12)
    assert "800 of them of bots that fail" in time_line(found, left, 2)


def test_a_pilot_finds_the_bots_that_fail_their_first_games(tmp_path):
    (tmp_path / "late.py").write_text(
        "def choose(view, legal, rng):\n    return legal[0] if 'N 3 3 3 3' in view.text else 99\n"
    )
    text = small(20) + '[agents.late]\nkind = "python"\nfile = "late.py"\n'
    text += '[agents.greedy]\nkind = "greedy"\n'
    found, _, left = looked_at(experiment_file(tmp_path, text), 1)
    names = load(tmp_path / "demo.toml").plan.names
    assert list(found.failing) == [names.index("late")]
    assert found.unplayed(left) == 80
    plan = load(tmp_path / "demo.toml").plan
    assert failing_line(plan, found).startswith("the run will stop, as late failed")
    goes_on = replace(plan, unloadable_stops=False)
    assert failing_line(goes_on, found) == "excluded after three failed games: late"


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


def test_trials_are_those_of_the_file_and_times_name_their_parts(tmp_path, capsys):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    main([str(path), "--workers", "0"])
    lines = capsys.readouterr().out.splitlines()
    assert "search: 10 trials of 100 games, 1,000 games" in lines
    times = [line for line in lines if line.startswith("time: ")]
    assert len(times) == 2
    assert "shortest claim and validation" in times[0]
    assert "longest claim and validation" in times[1]
