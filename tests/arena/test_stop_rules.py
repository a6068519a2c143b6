"""Runs that end at a width or give up: results, messages, resume, workers and verification."""

import json
import re
from dataclasses import replace

import pytest

from arena.analysis.tables import EloRow
from arena.config.experiment import load_experiment
from arena.formats.export import table_texts
from arena.planning import tasks
from arena.planning.schedule import make_schedule
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.play import play_schedule
from arena.report.answer import answer_line
from arena.report.data import load_report
from arena.report.methods import methods_paragraph
from arena.report.numbers import score_of, share_ends
from arena.stats.sprt import Decision
from arena.stats.stopping import WidthPlan, half_width
from arena.storage.journal import RunDirectory
from arena.storage.parquet import read_rows
from games.base.errors import CHECK_FAILED, OK, USER_ERROR
from tests.arena.running import experiment_file, only_run, run_experiment_file, small, tables
from tests.commands import match, run, runs, verify

GREEDY = '[agents.greedy]\nkind = "greedy"\n'
RULES = {
    "width": (2000, "stop = { width = 50 }", Decision.WIDTH),
    "too wide": (150, "stop = { width = 20 }", Decision.GAVE_UP),
    "test": (60, "stop = { sprt = { elo0 = -180, elo1 = -150 } }", Decision.GAVE_UP),
}
HERE = ("--workers", "0", "--cache", "off")


def written(directory, name):
    pairs, rule, _ = RULES[name]
    return experiment_file(directory, small(pairs, rule, plies=8) + GREEDY)


@pytest.fixture(scope="module", params=RULES)
def played(request, tmp_path_factory):
    """The name of a rule, and the results of its run."""
    directory = tmp_path_factory.mktemp("stopped")
    run_experiment_file(written(directory, request.param), directory / "results", page=True)
    return request.param, directory / "results"


def test_the_run_says_why_it_ended_everywhere(played, capsys):
    name, results = played
    *_, decision = RULES[name]
    directory = only_run(results)
    report = load_report(directory)
    stopped = report.summary["stopped"]
    assert stopped["decision"] == decision
    assert report.games.size == 2 * int(re.search("after ([0-9]+) pairs", stopped["why"])[1])
    page = re.sub("<[^>]+>", "", (directory / "report.html").read_text())
    assert stopped["why"] in page
    if decision is Decision.GAVE_UP:
        assert "had a chance of at most 5 %" in stopped["why"]
        assert stopped["why"] in answer_line(report)
    assert runs(["show", str(directory)]) == OK
    assert f"the run {stopped['why']}\n" in capsys.readouterr().out
    assert verify([str(directory)]) == OK
    assert f"the run {stopped['why']}" in capsys.readouterr().err


def test_workers_and_batches_do_not_change_the_stop(played, tmp_path, monkeypatch):
    name, results = played
    monkeypatch.setattr(tasks, "MAX_PAIRS", 7)
    run_experiment_file(written(tmp_path, name), tmp_path / "results", 2)
    assert tables(tmp_path / "results") == tables(results)


@pytest.mark.parametrize("name", RULES)
def test_a_continued_run_ends_at_the_same_pair(name, tmp_path):
    plan = load_experiment(written(tmp_path, name)).plan
    schedule, options = make_schedule(plan), PlayOptions(1, Interrupts())

    def stop_early(progress):
        if progress.done:
            raise KeyboardInterrupt

    with RunDirectory(tmp_path / "whole", "digest") as directory:
        whole = play_schedule(schedule, directory.section("games"), options)
    with RunDirectory(tmp_path / "parts", "digest") as directory:
        section = directory.section("games")
        with pytest.raises(KeyboardInterrupt):
            play_schedule(schedule, section, options, show=stop_early)
        parts = play_schedule(schedule, section, options)
        assert section.item_count() == parts.stop.observations
    assert parts.stop == whole.stop
    assert whole.stop.decision is RULES[name][2]


def test_headline_table_and_page_have_one_interval(played):
    name, results = played
    directory = only_run(results)
    if name == "test":
        return
    report = load_report(directory)
    row = report.pairs["greedy", "random"]
    assert (row.interval, row.level) == ("anytime", 0.95)
    assert (row.score_low > 0.5) or name != "width"
    for ratings in (read_rows(directory / "elo.parquet", EloRow), report.ratings):
        halves = {each.agent: (each.elo_low, each.elo_high) for each in ratings}
        assert halves["greedy"] == pytest.approx((row.elo_low / 2, row.elo_high / 2), abs=1e-5)
    if name == "width":
        assert 45 < half_width(score_of(row)) <= 50
        assert f"{row.elo:+.0f} Elo [" in answer_line(report)


def test_a_run_that_ended_elsewhere_is_found(played, capsys):
    name, results = played
    directory = only_run(results)
    path = directory / "run.json"
    before = path.read_text()
    stored = json.loads(before)
    stop = stored["plan"]["stop"]
    rules = [
        {"width": 400.0, "give_up": 0.05},
        {key: stop[key] for key in stop if key != "give_up"},
    ]
    try:
        for rule, said in zip(rules, ("ends the run after 1", "does not end the run"), strict=True):
            if rule == stop or (name == "width" and rule is rules[1]):
                continue
            stored["plan"]["stop"] = rule
            path.write_text(json.dumps(stored))
            capsys.readouterr()
            assert verify([str(directory), "--rules-only"]) == CHECK_FAILED
            assert said in capsys.readouterr().out
    finally:
        path.write_text(before)


def test_a_match_ends_with_its_headline_page_and_next_step(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    words = ["minimax:depth=2", "random", "--game", "kalah(4,3)", "--width", "70", *HERE]
    assert match(words) == OK
    shown = capfd.readouterr()
    assert re.fullmatch(
        r"minimax-depth-2 is stronger: [0-9.]+ % \[[0-9., ]+\], \+[0-9]+ Elo \[\+[0-9, +]+\]\.",
        shown.out.splitlines()[-1],
    )
    assert [line.partition(":")[0] for line in shown.err.splitlines()[-3:-1]] == ["tables", "page"]
    assert shown.err.splitlines()[-1].startswith("next, ")
    row = load_report(only_run(tmp_path / "results")).pairs["minimax-depth-2", "random"]
    assert row.games < 2 * 10_000
    lines = shown.out.splitlines()
    (head,) = (number for number, line in enumerate(lines) if line.startswith("agent "))
    assert lines[head].split()[-2:] == ["time/move", "nodes/s"]
    assert re.match(r"minimax-depth-2 .* [0-9.]+ [nµm]?s +[0-9,]+$", lines[head + 1])
    assert "measured when the games were played" in lines[head + 3]


def test_all_games_won_have_an_honest_bound(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["minimax:depth=8", "random", "--game", "kalah(6,4)", "--pairs", "10"]
    assert match([*words, *HERE, "--quiet"]) == OK
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "minimax-depth-8 is stronger: 100 %, > +182 Elo (95 %)."


def test_every_command_has_one_stop_rule(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = experiment_file(tmp_path, small(300, "stop.sprt = { elo0 = 0, elo1 = 50 }") + GREEDY)
    assert run([str(path), "--width", "80", "--quiet", *HERE]) == OK  # in place of the test
    (directory,) = (tmp_path / "results" / "demo").iterdir()
    assert load_report(directory).plan.stop == WidthPlan(80.0)
    assert match(["greedy", "random", "--width", "20", "--sprt", "0", "9"]) == USER_ERROR
    assert "one stop rule" in capsys.readouterr().err
    assert match(["greedy", "random", "--width", "0"]) == USER_ERROR
    assert "width must be a number from 1 to 400" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("stop = {}", "exactly one of sprt and width must be given, got neither"),
        (
            "stop = { width = 9, sprt = { elo0 = 0, elo1 = 9 } }",
            "exactly one of sprt and width must be given, got both",
        ),
        ("stop = { widht = 9 }", 'unknown key "widht"; did you mean "width"?'),
        ("stop.width = 0.5", "width must be a number from 1 to 400, got 0.5"),
    ],
)
def test_wrong_rules_get_one_message(tmp_path, capsys, rule, said):
    assert run([str(experiment_file(tmp_path, small(20, rule) + GREEDY))]) == USER_ERROR
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1


def test_the_exported_match_has_its_interval_and_its_stop_rule(played):
    name, results = played
    report = load_report(only_run(results))
    text = table_texts(report, "markdown")["pairs"]
    ends = share_ends(score_of(report.matches()[0])).replace("\xa0", " ")
    assert f"| {ends} |" in text
    assert ("which intervals ignore" in text) is (name == "test")


def test_a_match_among_several_agents_is_answered_like_one_of_two(tmp_path, capsys):
    rule = 'stop.width = 100\nschedule = { match = ["random", "greedy"] }'
    path = experiment_file(tmp_path, small(200, rule) + GREEDY + '[agents.last]\nkind = "last"\n')
    words = [str(path), "--results", str(tmp_path), *HERE]
    assert run(words) == OK
    assert capsys.readouterr().out.splitlines()[-1].startswith("greedy is stronger: ")
    report = load_report(only_run(tmp_path))
    games, methods = report.games.size, methods_paragraph(report)
    assert methods.startswith(f"2 agents played {games} games")
    assert f"The match stopped after {games // 2} pairs: the interval is at most" in methods
    assert run(words) == OK  # the rule decides how many games there are, so no total is told
    assert f"continuing: {games} games were played before" in capsys.readouterr().err


def test_a_width_needs_one_match(tmp_path, capsys):
    last = '[agents.last]\nkind = "last"\n'
    path = experiment_file(tmp_path, small(20, "stop.width = 50") + GREEDY + last)
    assert run([str(path)]) == USER_ERROR
    assert "width needs a schedule of one match, got 3 matches" in capsys.readouterr().err


def test_the_stop_rule_is_part_of_the_plan(tmp_path):
    plan = load_experiment(written(tmp_path, "width")).plan
    assert plan.to_json()["stop"] == {"width": 50.0, "give_up": 0.05}
    assert type(plan).from_json(plan.to_json(), plan.base) == plan
    silent = replace(plan, gives_up=False)
    assert silent.to_json()["stop"] == {"width": 50.0}
    assert type(plan).from_json(silent.to_json(), plan.base) == silent


def test_a_run_ends_when_its_openings_are_used_up(tmp_path):
    text = small(60, "stop.width = 100", plies=1).replace("plies = 1", "plies = 1, repeat = true")
    run_experiment_file(experiment_file(tmp_path, text + GREEDY), tmp_path / "results")
    report = load_report(only_run(tmp_path / "results"))
    assert report.games.size == 2 * report.openings < 60
    assert report.summary["stopped"]["decision"] == Decision.UNDECIDED


def test_a_match_without_chance_on_all_openings_does_not_give_up(tmp_path):
    agents = '[agents.first]\nkind = "first"\n[agents.greedy]\nkind = "greedy"\n'
    head = 'game = "kalah(6,4)"\nopenings = { enumerate = 2 }\nstop.width = 5\n'
    run_experiment_file(experiment_file(tmp_path, head + agents), tmp_path / "results")
    report = load_report(only_run(tmp_path / "results"))
    assert report.games.size == 2 * report.openings > 60
    assert report.summary["stopped"]["decision"] == Decision.UNDECIDED
