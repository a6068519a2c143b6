"""A class of bots with faults: the others play, and one is the champion."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from games.base.errors import OK
from tests.arena.running import only_run, run_experiment_file
from tests.commands import report

HEAD = """
game = "kalah(6,4)"
pairs = 1
standings = "points"
openings = {{ random_plies = 2 }}
[roster]
directory = "bots"
options = {{ start_seconds = {patience} }}
must_survive = "hard.txt"
"""
PATIENCE = 120  # seconds in which anything starts, however busy the machine
# One legal move only, which a bot that takes the second never survives.
HARD = "S 0 0 0 0 0 1, N 2 2 2 2 2 2, pots 20-15, South to move\n"
GOOD = (
    "def choose(view, legal, rng):\n    own = '{mark}'\n    return legal[{number} % len(legal)]\n"
)
# name -> the bot, what stands in its own table, how its games may end
BAD = {
    "no_python": ("def choose(view\n    '{mark}'\n", "", {"unloadable"}),
    "raises": (
        "def choose(view, legal, rng):\n"
        "    if view.mover:\n        raise KeyError('{mark} second')\n"
        "    raise ValueError('{mark} first')\n", "", {"raised"},
    ),
    "answers_99": ("def choose(view, legal, rng):\n    '{mark}'\n    return 99\n", "", {"illegal"}),
    "takes_the_second": (
        "def choose(view, legal, rng):\n    return legal[1]  # {mark}\n",
        "",
        {"raised", "normal"},
    ),
    "aborts": ("import os\ndef choose(view, legal, rng):\n    os.abort()  # {mark}\n", "",
               {"crashed"}),
    "exits": ("import sys\ndef choose(view, legal, rng):\n    sys.exit(3)  # {mark}\n", "",
              {"crashed"}),
    "never_loads": ("import time\nwhile True:\n    time.sleep(1)  # {mark}\n"
                    "def choose(view, legal, rng):\n    return legal[0]\n",
                    "start_seconds = 1", {"unloadable"}),
    "hangs": ("import time\ndef choose(view, legal, rng):\n    time.sleep(999)  # {mark}\n",
              "seconds = 0.2\nmax_timeouts = 2", {"timeout"}),
    "hangs_now_and_then": (
        "import time\ngames = []\nclass Bot:\n"
        "    def start(self, seed):\n        games.append(seed)\n"
        "    def choose(self, view, legal, rng):\n"
        "        while len(games) % 3 == 2:\n            time.sleep(1)  # {mark}\n"
        "        return legal[0]\nchoose = Bot\n",
        "seconds = 2\nmax_timeouts = 3", {"timeout", "normal"},
    ),
    "prints": ("import sys\nfor line in sys.stdin:\n    print('{mark}', flush=True)\n",
               "kind = \"lines\"", {"unreadable"}),
}  # fmt: skip
SURVIVES_NOT = {"takes_the_second", "raises", "hangs"}


def marked(name: str) -> str:
    """What stands in the code of one bot alone."""
    return f"the secret of {name}"


def class_of(directory: Path, good: int, bad: list[str], hard: bool) -> tuple[list[str], list[str]]:
    """Write the bots and the experiment; the names of the good and the bad."""
    (directory / "bots").mkdir()
    text = HEAD.format(patience=PATIENCE)
    if hard:
        (directory / "hard.txt").write_text(HARD)
    else:
        text = text.replace('must_survive = "hard.txt"\n', "")
    names = [f"good{number:02}" for number in range(good)]
    for number, name in enumerate(names):
        source = GOOD.format(mark=marked(name), number=number)
        (directory / "bots" / f"{name}.py").write_text(source)
    for name in bad:
        source, table, _ = BAD[name]
        (directory / "bots" / f"{name}.py").write_text(source.replace("{mark}", marked(name)))
        if "lines" in table:
            table += f'\ncommand = ["bots/{name}.py"]'
        text += f"[agents.{name}]\n{table}\n" if table else ""
    (directory / "class.toml").write_text(text)
    return names, bad


def held(directory: Path, good: list[str], bad: list[str]) -> Path:
    """Play the tournament and say what must hold of any class; the run's directory."""
    assert run_experiment_file(directory / "class.toml", directory / "results")
    run = only_run(directory / "results")
    games = pd.read_parquet(run / "games.parquet")
    players = len(good) + len(bad)
    assert len(games) == players * (players - 1)
    faulty = games[["first", "second"]].isin(bad)
    assert set(games.termination[~faulty.any(axis=1)]) == {"normal"}
    against = games[faulty.any(axis=1) & ~faulty.all(axis=1)]
    for name in bad:
        own = against[(against["first"] == name) | (against.second == name)]
        assert set(own.termination) <= BAD[name][2], name
        lost = own.result.where(own["first"] == name, 1 - own.result)
        if "normal" not in BAD[name][2]:
            assert (lost == 0).all(), name
    points = pd.read_parquet(run / "points.parquet")
    assert set(points.agent[points.champion == 1]) <= set(good)
    assert (points.champion == 1).any()
    assert report([str(run), "--bots"]) == OK
    pages = {path.name: path.read_text() for path in (run / "bot-reports").iterdir()}
    assert len(pages) == players
    for page, text in pages.items():
        for name in (*good, *bad):
            if f"-{name}.html" not in page:
                assert marked(name) not in text, (page, name)
    return run


@pytest.mark.parametrize("bad", [["no_python", "raises", "answers_99", "aborts"]])
def test_class_plays_despite_bad_bots(tmp_path, bad):
    run = held(tmp_path, *class_of(tmp_path, 2, bad, hard=False))
    log = (run / "run.log").read_text()
    # A line for every forfeit; the traceback of equal ones once.
    for error in (
        f"ValueError: {marked('raises')} first",
        f"KeyError: '{marked('raises')} second'",
    ):
        assert re.search(rf"raises forfeits game \d+: raised {error}", log)
        assert len(re.findall(rf"^ +{error}$", log, re.MULTILINE)) == 1
    said = json.loads((run / "run.json").read_text())["unloadable"]
    assert set(said) == {"no_python"} and "SyntaxError" in said["no_python"]


@pytest.mark.slow  # bots that hang are waited for
def test_class_of_thirty_with_ten_bad_bots_has_a_champion(tmp_path):
    good, bad = class_of(tmp_path, 20, [*BAD], hard=False)
    run = held(tmp_path, good, bad)
    games = pd.read_parquet(run / "games.parquet")
    log = (run / "run.log").read_text()
    assert "hangs is not started again: 2 games" in log
    assert "hangs_now_and_then is not started again: 3 games in all" in log
    assert "prints is excluded: it failed its first 3 games" in log
    for name, most in (("hangs", 2), ("hangs_now_and_then", 3)):
        own = games[(games["first"] == name) | (games.second == name)]
        asked = own[(own.plies > 0) & (own.termination == "timeout")]
        assert len(asked) <= most  # the others were not waited for
    said = json.loads((run / "run.json").read_text())["unloadable"]
    assert set(said) == {"no_python", "never_loads"}


@pytest.mark.slow  # likewise
def test_bots_that_fail_must_survive_positions_forfeit(tmp_path):
    _good, bad = class_of(tmp_path, 2, [*SURVIVES_NOT], hard=True)
    assert run_experiment_file(tmp_path / "class.toml", tmp_path / "results")
    run = only_run(tmp_path / "results")
    said = json.loads((run / "run.json").read_text())["unloadable"]
    assert set(said) == SURVIVES_NOT
    assert all(
        "does not survive a position" in why and HARD.strip() in why for why in said.values()
    )
    games = pd.read_parquet(run / "games.parquet")
    faulty = games[["first", "second"]].isin(bad).any(axis=1)
    assert set(games.termination[~faulty]) == {"normal"}
