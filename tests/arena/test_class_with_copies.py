"""A class of forty bots: exactly the three copies are reported as identical."""

import json
import re
from pathlib import Path

import pytest

from tests.arena.running import only_run, run_experiment_file

CLASS = """
game = "{of}"
pairs = {pairs}
openings = {{ random_plies = 3 }}
[roster]
directory = "bots"
options = {{ start_seconds = 120 }}
"""
# One thought of one ply, written down by three people.
COPIES = {
    "anna": (
        "def choose(view, legal, rng):\n"
        "    best, value = legal[0], -1\n"
        "    for move in legal:\n"
        "        worth = weigh(view, move)\n"
        "        if worth > value:\n            best, value = move, worth\n"
        "    return best\n"
        "def weigh(view, move):\n"
        "    seeds = sum(view.rows.own) + move\n    return seeds * seeds % 5\n"
    ),
    "mia": (
        "def choose(v, l, r):\n"
        "    # my own work\n"
        "    return sorted(l, key=lambda zug: -((sum(v.rows.own) + zug) ** 2 % 5))[0]\n"
    ),
    "zoe": (
        "class Player:\n"
        "    def choose(self, state, options, chance):\n"
        "        mine = sum(state.rows.own)\n"
        "        points = [(mine + o) * (mine + o) % 5 for o in options]\n"
        "        return options[points.index(max(points))]\n"
        "choose = Player\n"
    ),
}
NEVER_LOAD = {
    "no_syntax": "def choose(view\n",
    "no_module": "import not_there\ndef choose(view, legal, rng):\n    return legal[0]\n",
    "no_function": "answer = 1\n",
    "fails_at_import": "raise RuntimeError('at home it works')\n",
}
BROKEN = {
    "raises": "def choose(view, legal, rng):\n    return 1 // 0\n",
    "raises_too": "def choose(view, legal, rng):\n    raise ValueError('no idea')\n",
    "answers_99": "def choose(view, legal, rng):\n    return 99\n",
    "answers_none": "def choose(view, legal, rng):\n    return None\n",
    "exits": "import sys\ndef choose(view, legal, rng):\n    sys.exit(3)\n",
    "aborts": "import os\ndef choose(view, legal, rng):\n    os.abort()\n",
}
CHANCE = {
    "dice": "import random\ndef choose(view, legal, rng):\n    return random.choice(legal)\n",
    "given_dice": "def choose(view, legal, rng):\n    return rng.choice(legal)\n",
    "clock": (
        "import time\ndef choose(view, legal, rng):\n"
        "    return legal[time.perf_counter_ns() // 7 % len(legal)]\n"
    ),
    "sometimes": (
        "import random\ndef choose(view, legal, rng):\n"
        "    return legal[0] if random.random() < 0.9 else legal[-1]\n"
    ),
    "system": (
        "import os\ndef choose(view, legal, rng):\n"
        "    return legal[os.urandom(1)[0] % len(legal)]\n"
    ),
}
DIFFERENT = 22  # bots that are nobody's copy
PUPIL = (
    "def choose(view, legal, rng):\n"
    "    own, others = view.rows.own, view.rows.other\n"
    "    number = sum((place + {one}) * seeds for place, seeds in enumerate(own))\n"
    "    number += sum((place + {other}) ** 2 * seeds for place, seeds in enumerate(others))\n"
    "    return legal[number * {one} // 3 % len(legal)]\n"
)


def class_of(directory: Path, of: str, pairs: int) -> Path:
    """Write the bots and the experiment; the experiment file."""
    others = {
        f"pupil{number:02}": PUPIL.format(one=number + 2, other=3 * number % 11)
        for number in range(DIFFERENT)
    }
    bots = {**COPIES, **NEVER_LOAD, **BROKEN, **CHANCE, **others}
    assert len(bots) == 40
    (directory / "bots").mkdir()
    for name, source in bots.items():
        (directory / "bots" / f"{name}.py").write_text(source)
    path = directory / "class.toml"
    path.write_text(CLASS.format(of=of, pairs=pairs))
    return path


def accused(directory: Path, path: Path) -> list[str]:
    """The lines about identical play after the class has played."""
    run_experiment_file(path, directory / "results")
    summary = json.loads((only_run(directory / "results") / "summary.json").read_text())
    return list(summary.get("same_players", []))


def named(line: str) -> set[str]:
    """The agents that a line is about."""
    return set(re.split(r", | and ", line.partition(" play identically")[0]))


@pytest.mark.parametrize(
    ("of", "pairs"), [("kalah(4,2)", 1), pytest.param("kalah(6,4)", 2, marks=pytest.mark.slow)]
)
def test_exactly_the_copies_of_a_class_are_named(tmp_path, of, pairs):
    (line,) = accused(tmp_path, class_of(tmp_path, of, pairs))
    assert named(line) == set(COPIES)
    games, opponents = map(int, re.findall(r"(\d+) (?:games|opponents)", line))
    assert games == 2 * pairs * opponents
    assert opponents >= DIFFERENT + 1  # the others and the third copy
