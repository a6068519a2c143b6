"""Whether a run can be repeated is said from what was tested, in the same words everywhere."""

import contextlib
import json
import re

import pytest

from arena.analysis import repeatability
from arena.commands import runs
from arena.commands.report import main as report
from arena.commands.verify import main as verify
from arena.pipeline import run_notes
from arena.pipeline.run_notes import KEY
from arena.playing import bot_replays
from arena.playing.bot_replays import BotReplays
from arena.storage.game_cache import GameCache
from arena.storage.parquet import read_source
from tests.arena.running import directory_of, experiment_file, played, small

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
    played(experiment_file(directory, text), directory / "results", **options)
    run = directory_of(directory / "results")
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
    run, said = run_of(tmp_path, name, "steady", quiet=False)
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
    monkeypatch.setattr(bot_replays, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(bot_replays, "SHARE", 0.0)
    run, said = run_of(tmp_path, "steady", "chance")
    assert said[KEY]["answer"] == "not known"
    assert "2 outside bots" in said[KEY]["reason"]
    assert on_page(run)[0] == "not known"


def test_a_verification_that_sees_a_bot_differ_changes_what_the_run_says(tmp_path, monkeypatch):
    monkeypatch.setattr(bot_replays, "differing_places", lambda *_: set())  # a test may miss it
    run, said = run_of(tmp_path, "clock")
    assert said[KEY]["answer"] == "yes"
    before = tables_of(run)
    assert verify([str(run), "--all"]) == 1
    said = json.loads((run / "run.json").read_text())
    assert said[KEY]["answer"] == "no"
    assert "reproducible" not in said  # run.json alone says it, once
    assert all("reproducible" not in read_source(path) for path in run.glob("*.parquet"))
    assert tables_of(run) == before
    assert report([str(run)]) == 0
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
                tmp_path / turn, "clock", more="deterministic = true\n", known=known, **options
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
                m.setattr(run_notes, "replay_bots", lambda *_: BotReplays({"fixed": 0}))
            more = "deterministic = true\n"
            _, said = run_of(tmp_path / turn, "fixed", more=more, known=store)
            known[turn] = said["known"]
    assert known == {"1": 0, "2": 0, "3": 16}


def test_a_finished_run_is_not_tested_again(tmp_path, monkeypatch):
    _, said = run_of(tmp_path, "steady")
    monkeypatch.setattr(bot_replays, "choose_pairings", lambda *_: pytest.fail("tested again"))
    played(tmp_path / "demo.toml", tmp_path / "results")
    run = directory_of(tmp_path / "results")
    assert json.loads((run / "run.json").read_text()) == said


def test_two_runs_of_one_plan_with_other_games_differ(tmp_path, capsys):
    found = []
    for turn, name in (("one", "clock"), ("two", "clock"), ("three", "steady"), ("four", "steady")):
        (tmp_path / turn).mkdir()
        found.append(str(run_of(tmp_path / turn, name, page=False)[0]))
    capsys.readouterr()
    assert runs.main(["diff", *found[:2]]) == 1
    said = capsys.readouterr().out
    assert "games.parquet differs" in said and "elo.parquet differs" in said
    assert runs.main(["diff", *found[2:]]) == 0
    assert capsys.readouterr().out == "nothing differs\n"


def test_a_verification_skips_the_bots_that_are_known_to_differ(tmp_path, capsys):
    run, said = run_of(tmp_path, "clock", "steady")
    assert said[KEY]["differing"] == ["clock"]
    assert verify([str(run), "--all"]) == 0
    shown = capsys.readouterr()
    assert "not played again: 32 games of clock" in shown.err
    assert "\n16 games played again" in shown.out  # steady against random
