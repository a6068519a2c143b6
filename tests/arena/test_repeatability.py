"""Whether a run can be repeated is said from what was tested, in the same words everywhere."""

import contextlib
import itertools
import json
import re
from types import SimpleNamespace

import pytest

from arena.analysis import repeatability
from arena.analysis.repeatability import KEY
from arena.pipeline import run as run_module
from arena.playing import determinism
from arena.playing.determinism import BotReplays
from arena.storage.game_cache import GameCache
from arena.storage.parquet import read_source
from games.base import progress
from tests.arena.running import experiment_file, only_run, run_experiment_file, small
from tests.commands import runs, verify

SOURCES = {
    "steady": "def choose(view, legal, rng):\n    return rng.choice(legal)\n",
    "fixed": "def choose(view, legal, rng):\n    return legal[0]\n",
    "chance": "import random\ndef choose(view, legal, rng):\n    return random.choice(legal)\n",
    "clock": "import time\ndef choose(view, legal, rng):\n"
    "    return legal[time.perf_counter_ns() // 7 % len(legal)]\n",
    "state": "N = [0]\ndef choose(view, legal, rng):\n    N[0] += 1\n"
    "    return legal[N[0] % len(legal)]\n",
}


def run_of(directory, *bots, more="", pairs=8, **options):
    """A run of such bots: its directory, and what it says about itself."""
    text = small(pairs) + ('[agents.greedy]\nkind = "greedy"\n' if not bots else "")
    for name in bots:
        (directory / f"{name}.py").write_text(SOURCES[name])
        text += f'\n[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n{more}'
    options.setdefault("page", True)
    run_experiment_file(experiment_file(directory, text), directory / "results", **options)
    run = only_run(directory / "results")
    return run, json.loads((run / "run.json").read_text())


def on_page(run):
    """The two parts of the statement on the page."""
    text = (run / "report.html").read_text()
    return re.search(r"can be repeated</dt><dd><b>([^<]*)</b><span>([^<]*)<", text).groups()


def tables_of(run):
    """The bytes of the tables of a run."""
    return {path.name: path.read_bytes() for path in run.glob("*.parquet")}


@pytest.mark.parametrize("name", ["chance", "clock", "state"])
def test_a_bot_that_plays_other_games_is_named_everywhere(tmp_path, name, capsys):
    run, said = run_of(tmp_path, name, "steady", quiet=False, tables=True)
    assert said[KEY]["answer"] == "no"
    assert said[KEY]["differing"] == [name]
    words = said[KEY]["answer"], said[KEY]["reason"]
    assert name in words[1]
    assert "steady" not in words[1]
    assert on_page(run) == words
    shown = " ".join(capsys.readouterr().out.split())
    assert f"can be repeated: {', '.join(words)}" in shown
    verify([str(run), "--all"])
    assert f"can be repeated: {', '.join(words)}" in capsys.readouterr().err


def test_what_is_said_of_bots_that_were_tested_and_of_agents_of_ours(tmp_path):
    run, said = run_of(tmp_path, "steady")
    assert said[KEY]["answer"] == "yes"
    assert said[KEY]["replayed"]["steady"] >= 4
    assert on_page(run) == (said[KEY]["answer"], said[KEY]["reason"])
    assert verify([str(run), "--all"]) == 0
    ours = tmp_path / "ours"
    ours.mkdir()
    run, said = run_of(ours)
    assert said[KEY]["answer"] == "yes"
    assert said[KEY]["reason"] == repeatability.ALWAYS.reason


def test_bots_that_take_too_long_to_test_are_counted_as_not_known(tmp_path, monkeypatch):
    monkeypatch.setattr(determinism, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(determinism, "SHARE", 0.0)
    run, said = run_of(tmp_path, "steady", "chance")
    assert said[KEY]["answer"] == "not known"
    assert "2 agents with user code" in said[KEY]["reason"]
    assert on_page(run)[0] == "not known"


def test_a_bot_that_only_forfeits_is_not_said_to_repeat_its_moves(tmp_path):
    path = experiment_file(tmp_path, small(4, 'roster = { directory = "." }'))
    (tmp_path / "b.py").write_text("raise ValueError('no')\n")
    run_experiment_file(path, tmp_path / "results", page=True)
    run = only_run(tmp_path / "results")
    said = json.loads((run / "run.json").read_text())
    assert said[KEY]["answer"] == "not known"
    assert on_page(run) == (said[KEY]["answer"], said[KEY]["reason"])


def test_a_verification_that_sees_a_bot_differ_changes_what_the_run_says(tmp_path, monkeypatch):
    monkeypatch.setattr(determinism, "differing_places", lambda *_: set())  # a test may miss it
    run, said = run_of(tmp_path, "clock")
    assert said[KEY]["answer"] == "yes"
    before = tables_of(run)
    assert verify([str(run), "--all"]) == 1
    said = json.loads((run / "run.json").read_text())
    assert said[KEY]["answer"] == "no"
    assert "reproducible" not in said  # run.json alone says it, once
    assert all("reproducible" not in read_source(path) for path in run.glob("*.parquet"))
    assert tables_of(run) == before
    assert on_page(run) == (said[KEY]["answer"], said[KEY]["reason"])


def test_an_edited_bot_does_not_change_what_a_run_says(tmp_path):
    run, said = run_of(tmp_path, "steady")
    for kept in (run / "sources").glob("*/*"):
        kept.unlink()
    (tmp_path / "steady.py").write_text(SOURCES["state"])
    assert verify([str(run), "--all"]) == 1
    assert json.loads((run / "run.json").read_text()) == said


def test_games_of_a_bot_that_is_wrongly_said_to_be_deterministic_are_forgotten(tmp_path):
    options = {"workers": 0}
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        with contextlib.closing(GameCache(tmp_path / "known")) as known:
            _, said = run_of(
                tmp_path / turn, "clock", more="deterministic = true\n", cache=known, **options
            )
        assert said[KEY]["differing"] == ["clock"]
        assert said["known"] == 0


def test_a_declaration_is_believed_only_after_a_test(tmp_path, monkeypatch):
    known = {}
    for turn in ("1", "2", "3"):
        (tmp_path / turn).mkdir()
        with (
            contextlib.closing(GameCache(tmp_path / "known")) as store,
            monkeypatch.context() as m,
        ):
            if turn == "1":  # the bot takes too long to be tested
                m.setattr(run_module, "replay_bots", lambda *_: BotReplays({"fixed": 0}))
            more = "deterministic = true\n"
            _, said = run_of(tmp_path / turn, "fixed", more=more, cache=store)
            known[turn] = said["known"]
    assert known == {"1": 0, "2": 0, "3": 16}


def test_a_finished_run_is_not_tested_again(tmp_path, monkeypatch):
    _, said = run_of(tmp_path, "steady")
    monkeypatch.setattr(determinism, "choose_pairs", lambda *_: pytest.fail("tested again"))
    run_experiment_file(tmp_path / "demo.toml", tmp_path / "results")
    run = only_run(tmp_path / "results")
    assert json.loads((run / "run.json").read_text()) == said


def test_two_runs_of_one_plan_with_other_games_differ(tmp_path, capsys):
    found = []
    for turn, name in (("one", "clock"), ("two", "clock"), ("three", "steady"), ("four", "steady")):
        (tmp_path / turn).mkdir()
        found.append(str(run_of(tmp_path / turn, name, page=False)[0]))
    capsys.readouterr()
    assert runs(["diff", *found[:2]]) == 1
    said = capsys.readouterr().out
    assert "games.parquet differs" in said and "elo.parquet differs" in said
    assert runs(["diff", *found[2:]]) == 0
    assert capsys.readouterr().out == "nothing differs\n"


def test_a_verification_skips_the_bots_that_are_known_to_differ(tmp_path, capsys):
    run, said = run_of(tmp_path, "clock", "steady")
    assert said[KEY]["differing"] == ["clock"]
    assert verify([str(run), "--all"]) == 0
    shown = capsys.readouterr()
    assert "not played again: 32 games of clock" in shown.err
    assert shown.out.startswith("16 games played again")  # steady against random


def test_the_test_of_bots_keeps_to_its_time_and_says_how_far_it_is(tmp_path, monkeypatch, capsys):
    seconds = itertools.count(step=2)  # two pass at every look at the clock
    clock = SimpleNamespace(monotonic=lambda: next(seconds))
    monkeypatch.setattr(determinism, "time", clock)
    for name in ("FIRST_SECONDS", "PLAIN_SECONDS"):
        monkeypatch.setattr(progress, name, 0.0)
    monkeypatch.setattr(determinism, "choose_pairs", lambda *_: ([1], list(range(8))))
    _, said = run_of(tmp_path, "fixed", quiet=False, page=False)
    assert 0 < said[KEY]["replayed"]["fixed"] < 16
    assert re.search(r"[1-9][0-9]* of 16 games played again", capsys.readouterr().err)
