"""The command `pitflip class`."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.commands.class_ import DEFAULT_PAIRS
from arena.pipeline import class_of_bots
from arena.pipeline.class_of_bots import BudgetOver, pairs_that_fit
from arena.pipeline.forecast import expected_rounds
from arena.planning.plan import Plan
from arena.planning.rounds import RoundsSpec
from arena.planning.schedule import make_schedule
from games.base.errors import OK, UNFINISHED, USER_ERROR
from tests.arena.report.pages import data_of, text_of
from tests.commands import class_

BOT = "def choose(view, legal, rng):\n    'a secret of {name}'\n    return {move}\n"
CHANCE = "rng.choice(legal)"


def put(directory: Path, **bots: str) -> Path:
    """Write bots, each with the expression of its move."""
    directory.mkdir(exist_ok=True)
    for name, move in bots.items():
        (directory / f"{name}.py").write_text(BOT.format(name=name, move=move))
    return directory


@pytest.fixture
def play(tmp_path):
    """A function that plays the class in `bots` and returns the status."""

    def run(*words: object, pairs: int = 2) -> int:
        words = "--out", tmp_path / "site", "--results", tmp_path / "results", *words
        more = "--game", "kalah(4,3)", "--pairs", pairs, "--workers", 0
        return class_([str(word) for word in (tmp_path / "bots", *words, *more)])

    return run


def the_run(tmp_path: Path) -> dict:
    """Return the run.json of the only run that the class kept."""
    (path,) = (tmp_path / "results" / "bots").glob("*/run.json")
    return json.loads(path.read_text())


def grades(tmp_path: Path) -> dict[str, dict[str, str]]:
    with (tmp_path / "site" / "grades.csv").open() as file:
        return {row["author"]: row for row in csv.DictReader(file)}


def test_only_new_games_are_played_whatever_chance_they_use(tmp_path, play, capsys):
    put(tmp_path / "bots", anna=CHANCE, ben=CHANCE, cleo="legal[0]")
    assert play() == OK
    first = the_run(tmp_path)
    assert first["games"] == 3 * 4
    capsys.readouterr()
    assert play() == OK
    assert "were played before" in capsys.readouterr().err
    assert the_run(tmp_path)["digest"] == first["digest"]
    put(tmp_path / "bots", dora="legal[-1]", ben="legal[1 % len(legal)]")
    assert play() == OK
    again = the_run(tmp_path)
    # Of the last pass: anna against cleo is known, and the first pair of each other match.
    assert (again["games"], again["known"]) == (6 * 4, 4 + 5 * 2)
    assert "for 20 new games" in capsys.readouterr().err


def test_a_changed_file_is_a_submission_and_a_removed_one_leaves(tmp_path, play):
    bots = put(tmp_path / "bots", anna=CHANCE, ben="legal[-1]", cleo="legal[0]")
    play()
    before = grades(tmp_path)
    put(bots, ben="legal[0]")
    os.utime(bots / "ben.py", (1e9, 1e9))
    os.utime(bots / "anna.py", (1e9, 1e9))  # its content is the same
    (bots / "cleo.py").unlink()
    play()
    after = grades(tmp_path)
    assert set(after) == {"anna", "ben"}
    assert (after["ben"]["submission"], before["ben"]["submission"]) == ("2", "1")
    assert after["ben"]["submitted"] == "2001-09-09 01:46 UTC"
    assert after["anna"]["submitted"] == before["anna"]["submitted"]
    assert not (tmp_path / "site" / "authors" / "cleo.html").exists()
    page = text_of((tmp_path / "site" / "authors" / "ben.html").read_text())
    assert "Submission 2, of 2001-09-09" in page


def test_other_limits_are_other_games(tmp_path, play, capsys):
    put(tmp_path / "bots", anna=CHANCE, ben=CHANCE)
    play()
    play("--set", "move_seconds=3")
    assert "for 4 new games" in capsys.readouterr().err


def test_a_submission_that_is_no_bot_does_not_stop_the_others(tmp_path, play):
    bots = put(tmp_path / "bots", anna=CHANCE, ben="legal[0]", twin="legal[0]")
    (bots / "twin.js").write_text("console.log('hello')")
    (bots / "report.txt").write_text("My bot is in the mail.")
    (bots / "empty").mkdir()
    (bots / "two").mkdir()
    for name in ("one.py", "other.py"):
        (bots / "two" / name).write_text("answer = 1\n")
    (bots / "wrong.toml").write_text('kind = "minmax"\n')
    (bots / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    (bots / f"{'x' * 41}.py").write_text("answer = 1\n")
    (bots / "folder").mkdir()
    (bots / "folder" / "main.py").write_text(
        "import helper\ndef choose(view, legal, rng):\n    return helper.choose(view, legal, rng)\n"
    )
    text = BOT.format(name="folder", move="legal[-1]")
    (bots / "folder" / "helper.py").write_text(text)
    (bots / "program").mkdir()  # a program that reads a file of its directory
    (bots / "program" / "bot.py").write_text(
        "import pathlib, sys\nat = int(pathlib.Path('place.txt').read_text())\n"
        "for line in sys.stdin:\n    print(line.split(';')[1].split()[at], flush=True)\n"
    )
    (bots / "program" / "place.txt").write_text("0")
    (bots / "noted.py").write_text(BOT.format(name="noted", move="legal[0]"))
    (bots / "noted.toml").write_text('max_timeouts = "many"\n')
    os.mkfifo(bots / "pipe.py")
    assert play() == OK
    rows = grades(tmp_path)
    assert {name for name, row in rows.items() if row["place"]} >= {"anna", "ben", "twin.py"}
    for name, reason in {
        "report": "is not executable", "empty": "needs one entry file",
        "two": "it has one.py, other.py", "wrong": 'did you mean "minimax"?',
        "dangling": "is not a file", "x" * 41: "1 to 40 printable characters",
        "noted": "max_timeouts", "pipe": "is not a file",
    }.items():  # fmt: skip
        assert reason in rows[name]["first_fault"], name
        assert not rows[name]["place"]
        assert reason in text_of((tmp_path / "site" / "authors" / f"{name}.html").read_text())
    assert rows["folder"]["faults"] == rows["program"]["faults"] == "0"


BROKEN = "def choose(view, legal, rng):\n    raise ValueError('no idea')  # a secret of {name}\n"


def test_the_site_has_neither_paths_nor_code(tmp_path, play):
    bots = put(tmp_path / "bots", anna=CHANCE, ben="legal[0]", cleo="legal[-1]")
    for name in ("eva", "finn"):
        (bots / f"{name}.py").write_text(BROKEN.format(name=name))
    (bots / "gone.py").write_text("raise OSError(__file__)\ndef choose(v, l, r): return 0\n")
    play()
    pages = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert len(pages) == 2 + 6
    for path in pages:
        text = path.read_text()
        for secret in ("a secret of", "raise ValueError", "raise OSError", str(tmp_path),
                       str(Path.home()), sys.prefix, "results/bots"):  # fmt: skip
            assert secret not in text, (path.name, secret)
    eva = text_of((tmp_path / "site" / "authors" / "eva.html").read_text())
    assert re.search(r"raised\s+raised ValueError: no idea, line 2 of eva.py\s+\d", eva)
    data = data_of((tmp_path / "site" / "authors" / "ben.html").read_text())
    assert all("ben" in (data["agents"][f], data["agents"][s])
               for f, s in zip(data["f"], data["s"], strict=True))  # fmt: skip
    rows = grades(tmp_path)
    assert rows["eva"]["place"] == rows["finn"]["place"] == "4"
    assert rows["eva"]["first_fault"] == "raised ValueError: no idea, line 2 of eva.py"
    assert float(rows["anna"]["seconds"]) >= 0


def test_a_race_of_a_large_class_has_one_place_for_each(tmp_path, play):
    moves = {f"bot{n}": f"legal[{n} % len(legal)]" for n in range(4)}
    bots = put(tmp_path / "bots", **moves)
    (bots / "bad.py").write_text("answer = \n")
    assert play("--full-up-to", 3, pairs=12) == OK
    assert the_run(tmp_path)["plan"]["rounds"]["way"] == "rank"
    places = sorted(int(row["place"]) for row in grades(tmp_path).values())
    assert places[-1] == 5 and places[0] == 1
    rated = [row for row in grades(tmp_path).values() if row["elo"] and row["author"] != "bad"]
    ordered = sorted(rated, key=lambda row: int(row["place"]))
    assert [float(row["elo"]) for row in ordered] == sorted(
        (float(row["elo"]) for row in rated), reverse=True
    )
    assert grades(tmp_path)["bad"]["place"] == "5"


def test_copies_are_in_one_group_of_play_and_one_of_sources(tmp_path, play, capsys):
    from tools.make_class import write_class  # noqa: PLC0415  # this test alone needs it

    names = write_class(tmp_path / "bots", 6, 0, 0, 2, seed=3)
    assert play(pairs=8) == OK
    rows = grades(tmp_path)
    for column in ("identical_play_group", "source_likeness_group"):
        assert {name for name, row in rows.items() if row[column]} == {*names["copies"]}, column
    assert "evidence: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "there is no bot in it"),
        ({"anna.py": "def choose(v, l, r): return 0\n"}, "needs two bots that can play, got 1"),
        ({"a.txt": "", "b.txt": ""}, "got 0 (a: "),
    ],
)
def test_too_few_bots_are_one_clear_line(tmp_path, play, files, message, capsys):
    (tmp_path / "bots").mkdir()
    for name, text in files.items():
        (tmp_path / "bots" / name).write_text(text)
    assert play() == USER_ERROR
    shown = capsys.readouterr().err
    assert message in shown and shown.count("\n") == 1
    assert not (tmp_path / "site").exists()


def test_wrong_directories_and_games_are_refused(tmp_path, play, capsys):
    assert play() == USER_ERROR
    assert "there is no such directory" in capsys.readouterr().err
    bots = put(tmp_path / "bots", anna=CHANCE, ben=CHANCE)
    (tmp_path / "file").touch()
    assert class_([str(bots), "--out", str(tmp_path / "file")]) == USER_ERROR
    assert "must be a directory" in capsys.readouterr().err
    assert class_([str(bots), "--out", str(bots / "site")]) == USER_ERROR
    assert "cannot be among the bots" in capsys.readouterr().err
    assert play("--set", "game=chess") == USER_ERROR
    assert play("--set", "pears=3") == USER_ERROR
    shown = capsys.readouterr().err
    assert "chess" in shown and "pears" in shown and "Traceback" not in shown


def test_a_stopped_class_has_pages_and_goes_on(tmp_path, play, monkeypatch, capsys):
    put(tmp_path / "bots", anna=CHANCE, ben=CHANCE, cleo=CHANCE)
    monkeypatch.setattr(class_of_bots, "PAGE_SECONDS", 0.0)
    show = class_of_bots.ClassSite.show

    def stop_after_a_match(site, progress, schedule, section):
        show(site, progress, schedule, section)
        if site.latest is not None and site.latest[0].done >= 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(class_of_bots.ClassSite, "show", stop_after_a_match)
    assert play() == UNFINISHED
    index = (tmp_path / "site" / "index.html").read_text()
    assert "Stopped: 4 games so far." in text_of(index)
    assert len(data_of(index)["n"]) == 4
    monkeypatch.setattr(class_of_bots.ClassSite, "show", show)
    assert play() == OK
    assert the_run(tmp_path)["games"] == 12
    assert "As of " in text_of((tmp_path / "site" / "index.html").read_text())


def test_a_used_budget_keeps_the_last_complete_pass(tmp_path, play, monkeypatch, capsys):
    put(tmp_path / "bots", anna=CHANCE, ben=CHANCE)
    show, passes = class_of_bots.ClassSite.show, []

    def over_in_the_third_pass(site, progress, schedule, section):
        passes.append(schedule.plan.pairs)
        if len({*passes}) > 2:
            raise BudgetOver
        show(site, progress, schedule, section)

    monkeypatch.setattr(class_of_bots.ClassSite, "show", over_in_the_third_pass)
    assert play("--budget", "10m") == OK
    assert sorted({*passes}) == [1, 2, 4]
    assert the_run(tmp_path)["plan"]["pairs"] == 2
    assert grades(tmp_path)["anna"]["games"] == "4"
    assert "the budget is used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("done", "taken", "left", "most", "pairs"),
    [(1, 10, 100, 50, 2), (4, 100, 40, 50, 5), (4, 100, 20, 50, 4), (8, 1, 9, 10, 10)],
)
def test_a_pass_is_as_long_as_the_rest_of_the_budget(done, taken, left, most, pairs):
    assert pairs_that_fit(done, taken, left, most) == pairs


def test_the_rounds_of_a_race_are_simulated_for_the_forecast():
    names = {f"bot{n}": None for n in range(12)}
    matches = tuple((a, b) for a in range(12) for b in range(a + 1, 12))
    rounds = RoundsSpec("rank", {"rank": True, "delta": 0.05, "indifference": 10.0})
    plan = Plan(game_name="kalah(4,3)", agents=names, matches=matches, pairs=10, rounds=rounds)
    pairs = expected_rounds(make_schedule(plan)).pairs
    assert 11 * 4 < pairs.total < 10 * len(matches)


@pytest.mark.slow
def test_the_forecast_is_within_a_factor_of_one_and_a_half(tmp_path, monkeypatch):
    moves = {f"bot{n}": f"[time.sleep(0.0{n + 1}), rng.choice(legal)][1]" for n in range(5)}
    for path in put(tmp_path / "bots", **moves).iterdir():
        path.write_text(f"import time\n{path.read_text()}")
    found, taken = [], []
    time_of, play_all = class_of_bots.class_time, class_of_bots.play_passes

    def forecast(*words):
        found.append(time_of(*words))
        return found[-1]

    def timed(*words):
        begun = time.monotonic()
        result = play_all(*words)
        taken.append(time.monotonic() - begun)
        return result

    monkeypatch.setattr(class_of_bots, "class_time", forecast)
    monkeypatch.setattr(class_of_bots, "play_passes", timed)
    words = "--game", "kalah(4,3)", "--pairs", "10", "--workers", "1", "--out", tmp_path / "site"
    words = tmp_path / "bots", *words, "--results", tmp_path / "results"
    assert class_([str(word) for word in words]) == OK
    ((expected, games),), (seconds,) = found, taken
    assert games == 10 * 10 * 2
    assert seconds / 1.5 < expected.seconds < 1.5 * seconds
    assert expected.low < expected.seconds < expected.high


def start(tmp_path: Path, *words: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "pitflip", "class", "bots", "--out", "site", "--game",
               "kalah(4,3)", "--pairs", "4", "--workers", "1", *words]  # fmt: skip
    return subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                            start_new_session=True)  # fmt: skip


def wait_for(condition, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.slow
def test_kill_9_loses_no_finished_game(tmp_path):
    slow = "[time.sleep(0.02), legal[0]][1]"
    put(tmp_path / "bots", anna=slow, ben=slow, cleo=slow)
    for path in (tmp_path / "bots").iterdir():
        path.write_text(f"import time\n{path.read_text()}")
    index = tmp_path / "site" / "index.html"
    with start(tmp_path) as process:
        wait_for(lambda: index.exists() and "so far" in index.read_text())
        os.killpg(process.pid, signal.SIGKILL)
    with start(tmp_path) as process:
        shown = process.communicate(timeout=120)[1]
        assert process.returncode == OK, shown
    known = the_run(tmp_path)["known"]
    assert 0 < known <= 24 and the_run(tmp_path)["games"] == 24


@pytest.mark.slow
def test_a_watched_class_plays_what_changes(tmp_path):
    put(tmp_path / "bots", anna=CHANCE, ben="legal[0]")
    with start(tmp_path, "--watch") as process:
        try:
            site = tmp_path / "site"
            wait_for(lambda: (site / "grades.csv").exists() and grades(tmp_path)["ben"]["place"])
            put(tmp_path / "bots", cleo="legal[-1]")
            wait_for(lambda: grades(tmp_path).get("cleo", {}).get("place"))
            (tmp_path / "bots" / "anna.py").unlink()
            wait_for(lambda: "anna" not in grades(tmp_path))
            os.kill(process.pid, signal.SIGINT)
            process.communicate(timeout=60)
            assert process.returncode == UNFINISHED
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_the_usual_class_has_enough_openings_for_intervals():
    from arena.stats.estimate import FEW_OPENINGS  # noqa: PLC0415

    assert DEFAULT_PAIRS >= FEW_OPENINGS
