"""A study of every kind of agent searches, decides and writes its options."""

import json
import tomllib
from pathlib import Path

import pytest

from agents.protocols import PROTOCOLS
from agents.registry import kind_of
from games.base.files import format_toml
from tests.arena.tuning.test_tunable_kinds import BOT, TUNABLE, options_of
from tests.commands import tune as main

# All that is played by programs is tuned alike, by the variables of their environment.
KINDS = tuple(kind for kind in TUNABLE if kind not in PROTOCOLS or kind == "lines")
PROGRAM = """\
import os, re, sys
for line in sys.stdin:
    south, north = re.findall("[SN]((?: [0-9]+)+)", line)
    own = (south if "South to move" in line else north).split()
    legal = [hole for hole, beans in enumerate(own, 1) if beans != "0"]
    print(legal[0 if os.environ["LEVEL"] == "1" else -1], flush=True)
"""
STUDY = """\
game = "kalah(4,2)"
openings = {{ random_plies = 4 }}
[agents.a]
kind = "{kind}"
{lines}
[tune]
agent = "a"
games = 20
trials = 15
validation = {{ elo1 = 200, pairs = 40 }}
weights = {weights}
"""
NEEDED = ("nodes", "depth", "endgame")  # of those that are tuned at equal nodes
MOST_TUNED = 2


def study_file(kind: str, directory: Path) -> Path:
    """A study of two options of a kind, with a weight if it has weights."""
    whole, ranges = options_of(kind)
    few = dict(list(ranges.items())[-MOST_TUNED:])
    own = {name: value for name, value in whole.items() if name in few or name in NEEDED}
    if kind == "lines":
        (directory / "program.py").write_text(PROGRAM)
        own, few = {"environment": {"LEVEL": 1}}, {"environment": {"LEVEL": [1, 2]}}
        own["command"] = ["python3", "program.py"]
    elif kind_of(kind).option("file"):
        (directory / "bot.py").write_text(BOT)
        own["file"] = "bot.py"
    for name, value in few.items():
        if name not in own:
            own[name] = value["choices"][0] if isinstance(value, dict) else value[0]
    weights = {"pot": [0.5, 2.0]} if kind_of(kind).option("weights") else {}
    if weights:
        own["weights"] = {"pot": 1.0}
    lines = "\n".join(f"{name} = {format_toml(value)}" for name, value in own.items())
    text = STUDY.format(kind=kind, lines=lines, weights=format_toml(weights))
    (directory / "tune.toml").write_text(f"{text}options = {format_toml(few)}\n")
    return directory / "tune.toml"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_study_of_every_kind_reaches_a_verdict(kind: str, tmp_path: Path) -> None:
    path = study_file(kind, tmp_path)
    words = [str(path), "--results", str(tmp_path / "r"), "--quiet", "--workers", "2"]
    assert main(words) == 0
    (found,) = (tmp_path / "r" / "tune").glob("tune-??????????")
    said = json.loads((found / "recommendation.json").read_text())
    assert said["recommended"].keys() == said["seed"].keys() == said["weights"].keys()
    assert said["games"] == 300
    assert said["distinct_fingerprints"] > 1
    # Nothing but the agents' own moves decided the games.
    log = found / "run.log"
    assert not log.exists() or not log.read_text(), log.read_text()
    if said["validation"]["verdict"] == "better":
        files = [found / name for name in ("weights.toml", "options.toml")]
        assert all(tomllib.loads(each.read_text()) for each in files if each.exists())
        assert any(each.exists() for each in files)
