"""arena.plan: what is said before a game counts, and that none does."""

import pytest

from arena.plan import main
from arena.playing import pilot
from games.terminal import DONE, FINDING, MISTAKE
from tests.arena.running import called, experiment_file, small

GREEDY = '[agents.greedy]\nkind = "greedy"\n'
CHECK = '[[checks]]\nthat = "greedy beats random"\nscore_at_least = 0.9\n'


@pytest.fixture(autouse=True)
def short_pilot(monkeypatch):
    monkeypatch.setattr(pilot, "PILOT_SECONDS", 0.05)


def said(capsys, path, *words):
    results = path.parent / "results"
    status = main([str(path), "--backend", "here", "--results", str(results), *words])
    assert not results.exists()  # nothing is kept
    return status, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("option", ["--json", "--quiet", "--fresh"])
def test_options_without_effect_are_refused(tmp_path, capsys, option):
    path = experiment_file(tmp_path, small(4) + GREEDY)
    with pytest.raises(SystemExit) as ended:
        main([str(path), option])
    assert ended.value.code == MISTAKE
    assert option in capsys.readouterr().err.splitlines()[-1]
    with pytest.raises(SystemExit):
        main(["--help"])
    assert option not in capsys.readouterr().out


def run_here(path, directory, *words):
    return called(path, "--results", directory / "played", "--backend", "here", "--no-page", *words)


def test_games_time_intervals_and_pairs_needed_are_said(tmp_path, capsys):
    path = experiment_file(tmp_path, small(40) + GREEDY)
    status, lines = said(capsys, path)
    assert status == DONE
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
    assert (status, vacuous in lines) == (FINDING, True)
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
    assert status == FINDING
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
    assert main(["experiments/tune_kalah.toml", "--workers", "1"]) == DONE
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "search: 3,000 trials of 20 games, 60,000 games"
    assert lines[2].startswith("claim and validation: from 10,588 to 12,000 games more")


def test_a_mistake_is_one_line(tmp_path, capsys):
    assert main([str(tmp_path / "none.toml")]) == MISTAKE
    assert capsys.readouterr().err.count("\n") == 1
