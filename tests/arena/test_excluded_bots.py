"""Excluded bots: the same counts, reasons and places in all results."""

import csv
import json
import re
from functools import cache

import pandas as pd
import pytest

from arena.playing.forfeits import FIRST_GAMES, UselessBots
from arena.report.data import load_report
from arena.report.figures.forfeits import MOST_FAULTS
from arena.report.figures.openings import opening_results
from arena.report.methods import methods_paragraph
from games.base.errors import CHECK_FAILED, OK, USER_ERROR, run_command
from tests.arena.report.pages import text_of
from tests.arena.running import only_run, run_experiment_file
from tests.commands import check, export, rate, report, verify

EXPERIMENT = """
game = "kalah(4,3)"
pairs = 10
seed = 7
{rank}openings = {{ random_plies = 3 }}
[roster]
directory = "bots"
options = {{ start_seconds = 120 }}
"""
BY_POINTS = 'standings = "points"\n'
BOTS = {
    "broken": "def choose(view, legal, rng)\n    return legal[0]\n",
    "first": "def choose(view, legal, rng):\n    return legal[0]\n",
    "illegal": "def choose(view, legal, rng):\n    return 99\n",
    "last": "def choose(view, legal, rng):\n    return legal[-1]\n",
    "own_chance": "import random\ndef choose(view, legal, rng):\n    return random.choice(legal)\n",
    "wrong_name": "def chose(view, legal, rng):\n    return legal[0]\n",
}
EXCLUDED = {"broken", "illegal", "wrong_name"}
UNPLAYED = re.compile(r"([\d,]+) games forfeited unplayed after its exclusion")


@pytest.fixture(scope="module")
def a_run(tmp_path_factory):
    @cache
    def run(rank):
        base = tmp_path_factory.mktemp("class")
        (base / "bots").mkdir()
        for name, source in BOTS.items():
            (base / "bots" / f"{name}.py").write_text(source)
        (base / "class.toml").write_text(EXPERIMENT.format(rank=rank))
        run_experiment_file(base / "class.toml", base / "results", page=True)
        return only_run(base / "results")

    return lambda rank=BY_POINTS: run(rank)


def unplayed_of(directory):
    summary = json.loads((directory / "summary.json").read_text())
    return {each["agent"]: each["unplayed"] for each in summary["excluded"]}


def test_duplicates_forfeits_and_unplayed_games_are_counted_apart(a_run):
    directory = a_run()
    games = pd.read_parquet(directory / "games.parquet")
    fair, summary = games.termination == "normal", json.loads(
        (directory / "summary.json").read_text()
    )  # fmt: skip
    pairs = games[["first", "second"]].apply(frozenset, axis=1)
    again = pd.DataFrame({"pair": pairs, "moves": games.moves})[fair].duplicated()
    assert summary["duplicates"] == again.sum()
    assert summary["distinct_games"] == len(games) - again.sum()
    assert summary["forfeits"] == (~fair).sum()
    assert summary["unplayed"] == (games.plies == 0).sum() == sum(unplayed_of(directory).values())
    text, report = text_of((directory / "report.html").read_text()), load_report(directory)
    for words in (text, methods_paragraph(report)):
        assert f"{summary['forfeits']} of {len(games)} games were forfeited" in words
        assert f"{summary['unplayed']} games of the forfeits were not played" in words
        assert "repeat earlier ones" not in words and "repeated earlier ones" not in words


def test_a_failed_check_names_a_game_that_was_played(tmp_path):
    (tmp_path / "bots").mkdir()
    for name in ("broken", "first", "illegal"):
        (tmp_path / "bots" / f"{name}.py").write_text(BOTS[name])
    checks = "".join(
        f'[[checks]]\nthat = "{name}"\nno_forfeits = true\n' for name in ("illegal", "broken")
    )
    (tmp_path / "class.toml").write_text(EXPERIMENT.format(rank="") + checks)
    run_experiment_file(tmp_path / "class.toml", tmp_path / "results")
    directory = only_run(tmp_path / "results")
    games, log = pd.read_parquet(directory / "games.parquet"), (directory / "run.log").read_text()
    summary = json.loads((directory / "summary.json").read_text())
    illegal, broken = (each["detail"] for each in summary["checks"])
    row = int(re.search(r"the shortest is game (\d+): answered", illegal).group(1))
    assert games.termination[row] == "illegal" and games.plies[row] > 0
    assert "broken does not load" in broken and "the shortest" not in broken
    faults = games[(games.termination == "illegal") & (games.plies > 0)].index
    assert len(faults) == FIRST_GAMES
    assert all(f"illegal forfeits game {row}:" in log for row in faults)


def test_methods_name_failed_bots_and_varying_bots(a_run):
    report = load_report(a_run())
    assert report.repeatability.answer == "no"
    words, page = methods_paragraph(report), text_of((a_run() / "report.html").read_text())
    assert "own_chance played other games" in words and "own_chance played other games" in page
    assert "drawn from the seed" not in words
    assert "the same file, seed and version give the same games" not in page.lower()
    for name in EXCLUDED:
        assert name in words


def test_a_page_shows_no_path_of_this_machine(a_run):
    page = (a_run() / "report.html").read_text()
    section = page[page.index('id="forfeits"') : page.index('id="thinking_time"')]
    assert "bots/broken.py" in section and str(a_run().parents[2]) not in section


def test_excluded_bots_head_the_list_of_faults_and_the_rest_is_counted(a_run):
    directory = a_run()
    told = json.loads((directory / "run.json").read_text())
    page = (directory / "report.html").read_text()
    section = text_of(page[page.index("<h3>Faults") :])
    first_fault = min(section.index(line[:20]) for line in told["forfeits"])
    for name in EXCLUDED:
        assert section.index(f"{name} {'does' if name == 'broken' else 'is'}") < first_fault
    assert not any("excluded" in line or "not started again" in line for line in told["forfeits"])
    stored = load_report(directory)
    many = [f"a: fault {number}" for number in range(MOST_FAULTS + 5)]
    stored.run["forfeits"], stored.run["different_faults"] = many, len(many)
    from arena.report.figures.forfeits import forfeits_figure  # noqa: PLC0415

    assert "and 5 more" in str(forfeits_figure(stored).body)


def test_unplayed_games_are_not_faults_of_their_own(a_run):
    directory = a_run()
    assert report([str(directory), "--bots"]) == OK
    for path in (directory / "bot-reports").iterdir():
        name = re.sub(r"^\d+-|\.html$", "", path.name)
        text = text_of(path.read_text())
        found = UNPLAYED.findall(text)
        assert found == [str(unplayed_of(directory)[name])] if name in EXCLUDED else not found
        faults = path.read_text().partition(">Faults</h2>")[2].partition("Lost games")[0]
        asked = [int(n) for n in re.findall(r'<td class="n">(\d+)</td><td class="n">', faults)]
        assert all(number <= 20 for number in asked)
        assert len(re.findall(r"^game \d+", text, re.MULTILINE)) <= 20


@pytest.mark.parametrize("rank", [BY_POINTS, ""])
def test_excluded_bots_are_marked_and_come_after_all_others(a_run, rank, capsys):
    directory = a_run(rank)
    table = pd.read_parquet(directory / "elo.parquet")
    others = table[~table.agent.isin(EXCLUDED)]
    assert others["rank"].max() < table[table.agent.isin(EXCLUDED)]["rank"].min()
    assert export([str(directory), "--tables", "csv"]) == OK
    rows = csv.DictReader((directory / "export" / "elo.csv").read_text().splitlines())
    assert {row["agent"] for row in rows if row["excluded"]} == EXCLUDED
    page = text_of((directory / "report.html").read_text())
    assert all(re.search(rf"{name}\s*\(excluded\)", page) for name in EXCLUDED)


def test_excluded_bots_are_not_among_those_that_are_not_told_apart(a_run):
    page = text_of((a_run("") / "report.html").read_text())
    said = page.partition("Not told apart by their own matches:")[2].partition(". ")[0]
    assert not any(re.search(rf"\b{name}\b", said) for name in EXCLUDED)


def test_a_quiet_run_names_the_excluded_bots_last(a_run, capsys):
    directory = a_run()
    capsys.readouterr()
    run_experiment_file(directory.parents[2] / "class.toml", directory.parents[1], tables=True)
    said = capsys.readouterr()
    for name in EXCLUDED:
        assert any(line.startswith(f"{name} ") for line in said.err.splitlines())
        assert re.search(rf"{name} .*excluded", said.out)


def test_a_bot_without_choose_gets_one_text_everywhere(a_run, capsys):
    directory = a_run()
    why = "has no function or class named choose"
    assert check([str(directory.parents[2] / "bots" / "wrong_name.py")]) == CHECK_FAILED
    assert why in capsys.readouterr().out
    assert report([str(directory), "--bots"]) == OK
    (page,) = (directory / "bot-reports").glob("*wrong_name.html")
    assert why in page.read_text()
    summary = json.loads((directory / "summary.json").read_text())
    (reason,) = (each["reason"] for each in summary["excluded"] if each["agent"] == "wrong_name")
    assert why in reason


def test_a_match_of_forfeits_has_as_many_openings_as_were_scheduled(a_run):
    rates = pd.read_parquet(a_run() / "win_rates.parquet")
    forfeited = rates[rates.forfeits + rates.opponent_forfeits == rates.games]
    assert len(forfeited) and (forfeited.openings == 10).all()
    assert (forfeited.counted_games <= forfeited.distinct_games).all()
    table = pd.read_parquet(a_run() / "elo.parquet")
    assert (table.openings == 10).all()
    assert not forfeited.why.str.contains("one opening").any()


def test_worker_fault_counts_change_no_game(tmp_path, capsys):
    sources = {
        "a_raises": "def choose(view, legal, rng):\n    return 1 // 0\n",
        "b_exits": "import sys\ndef choose(view, legal, rng):\n    sys.exit(3)\n",
        "c_illegal": BOTS["illegal"],
        "d_first": BOTS["first"],
    }
    (tmp_path / "bots").mkdir()
    for name, source in sources.items():
        (tmp_path / "bots" / f"{name}.py").write_text(source)
    text = EXPERIMENT.format(rank="").replace("pairs = 10", "pairs = 14")
    (tmp_path / "class.toml").write_text(text)
    run_experiment_file(tmp_path / "class.toml", tmp_path / "results")
    directory = only_run(tmp_path / "results")
    (reason,) = (
        each.reason for each in load_report(directory).exclusions if each.agent == "b_exits"
    )
    assert "exit status 3" in reason and "not started again" not in reason
    games = pd.read_parquet(directory / "games.parquet")
    asked = games[(games.plies > 0) & (games.termination == "crashed")]
    assert len(asked) == FIRST_GAMES
    assert verify([str(directory), "--all"]) == OK


def test_first_mover_score_ignores_pairs_with_forfeits(a_run):
    directory = a_run()
    games = pd.read_parquet(directory / "games.parquet")
    fair = games[(games.termination == "normal").groupby(games.pair).transform("all")]
    scores = fair.result.where(fair["first"] == fair.first_mover, 1 - fair.result)
    summary = json.loads((directory / "summary.json").read_text())
    kept = ~fair.repeat  # these bots leave nothing to chance: a game played again is no evidence
    assert 0 < len(fair) < len(games)
    assert summary["first_mover"]["value"] == pytest.approx(scores[kept].mean())
    rates = pd.read_parquet(directory / "win_rates.parquet")
    forfeited = rates.agent.isin(EXCLUDED) | rates.opponent.isin(EXCLUDED)
    assert rates[forfeited].first_mover_score.isna().all()
    assert rates[~forfeited].first_mover_score.notna().any()
    table = pd.read_parquet(directory / "elo.parquet")
    for _, members in table.groupby("group"):
        if set(members.agent) <= EXCLUDED:
            assert members.first_move_elo.isna().all()
    cells = opening_results(load_report(directory))
    assert cells.times.sum() == len(fair) / 2


def test_rate_gives_the_ratings_and_points_of_the_run(a_run, capsys):
    directory = a_run("")
    assert rate([str(directory), "--json"]) == OK
    said = json.loads(capsys.readouterr().out)
    assert not any("duplicates" in note for note in said["notes"])
    stored = pd.read_parquet(directory / "elo.parquet").set_index("agent")
    for row in said["ratings"]:
        for name in ("elo", "elo_low", "elo_high", "first_move_elo", "games", "points", "forfeits"):
            known = stored.loc[row["agent"], name]
            assert row[name] == (pytest.approx(known) if pd.notna(known) else None), name


def test_test_ended_by_forfeits_gives_no_strength(tmp_path, capsys):
    (tmp_path / "illegal.py").write_text(BOTS["illegal"])
    text = EXPERIMENT.format(rank="").partition("[roster]")[0].replace("pairs = 10", "pairs = 40")
    text = text.replace("openings", "stop.sprt = { elo0 = 0, elo1 = 100 }\nopenings", 1)
    text += '[roster]\ndirectory = "."\n[agents.greedy]\nkind = "greedy"\n'
    (tmp_path / "test.toml").write_text(text)
    run_experiment_file(tmp_path / "test.toml", tmp_path / "results", page=True, tables=True)
    directory = only_run(tmp_path / "results")
    page, shown = text_of((directory / "report.html").read_text()), capsys.readouterr().out
    assert "only forfeits" in shown and "corrected" not in shown
    assert "the test chose" not in page and "Corrected for that" not in page
    told = json.loads((directory / "run.json").read_text())["can_be_repeated"]
    assert (told["answer"], told["reason"]) == (
        "not known",
        "1 agent with user code was not asked again",
    )


def test_a_bot_that_does_not_load_is_reported_in_lines(capsys):
    def work():
        raise UselessBots({"broken": "does not load:\n  line 1\nSyntaxError: a\x1b[31m"})

    assert run_command("pitflip match", work) == USER_ERROR
    first, *more = capsys.readouterr().err.splitlines()
    assert first == "pitflip match: broken does not load:"
    assert [line.strip() for line in more] == ["line 1", r"SyntaxError: a\x1b[31m"]
