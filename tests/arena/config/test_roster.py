"""Rosters: each bot of a directory is an agent."""

import pandas
import pytest

from agents.core import AgentSpec
from arena.config.experiment import ExperimentError, load_experiment
from arena.planning.plan import Plan
from games.base.errors import OK
from tests.commands import run

CHOOSE = "def choose(view, legal, rng): return legal[0]\n"
LAST = (
    'while read -r line; do legal="${line#*;}"; legal="${legal%%;*}"; echo "${legal##* }"; done\n'
)
FILE = 'game = "kalah(4,3)"\npairs = 1\n[roster]\ndirectory = "bots"\n'


@pytest.fixture
def directory(tmp_path):
    """A class of bots."""
    bots = tmp_path / "bots"
    (bots / "erin").mkdir(parents=True)
    (bots / "notes").mkdir()
    texts = {
        "alice.py": CHOOSE,
        "bob.sh": LAST,
        "bob.toml": 'memory = "1GB"\n',
        "carol.sh": "exit 1\n",
        "dave.py": "def choose(view\n",
        "same.py": CHOOSE,
        "same.sh": LAST,
        "README.md": "no bot",
        ".hidden.py": CHOOSE,
        "erin/bot.toml": 'kind = "lines"\ncommand = ["sh", "e.sh"]\n',
        "erin/e.sh": LAST,
    }
    for name, text in texts.items():
        (bots / name).write_text(text)
    return tmp_path


def loaded(directory, text: str):
    """The agents of an experiment."""
    (directory / "class.toml").write_text(text)
    return load_experiment(directory / "class.toml").plan.agents


def test_roster_names_agents_after_bots(directory):
    bots = directory / "bots"
    agents = loaded(
        directory, FILE + '[agents.alice]\nmemory = "2GB"\n[agents.r]\nkind = "random"\n'
    )
    assert list(agents) == ["alice", "bob", "carol", "dave", "erin", "same.py", "same.sh", "r"]
    assert agents["alice"] == AgentSpec("python", file=f"{bots}/alice.py:choose", memory="2GB")
    assert agents["bob"] == AgentSpec("lines", command=[f"{bots}/bob.sh"], memory="1GB")
    assert agents["erin"] == AgentSpec("lines", command=["sh", f"{bots}/erin/e.sh"])


def test_roster_options_apply_to_all_bots(directory):
    agents = loaded(directory, FILE + "options = { start_seconds = 3.0 }\n")
    assert {spec.options["start_seconds"] for spec in agents.values()} == {3.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FILE.replace('"bots"', '"nowhere"'), 'there is no directory "nowhere"'),
        (FILE.replace('"bots"', '"bots/notes"'), 'there is no bot in "bots/notes"'),
        (FILE.replace("directory", "directroy"), "directroy"),
        (FILE + "options = { secnds = 2 }\n", "secnds"),
    ],
)
def test_wrong_roster_is_reported(directory, text, message):
    with pytest.raises(ExperimentError, match=message):
        loaded(directory, text)


POSITIONS = "S 3 3 3 3, N 3 3 3 3, pots 0-0, South to move  # the start\n\n"


def test_must_survive_is_relative_to_the_file(directory):
    (directory / "hard.txt").write_text(POSITIONS)
    (directory / "class.toml").write_text(FILE + 'must_survive = "hard.txt"\n')
    plan = load_experiment(directory / "class.toml").plan
    assert plan.must_survive == ("S 3 3 3 3, N 3 3 3 3, pots 0-0, South to move",)
    assert Plan.from_json(plan.to_json(), directory).must_survive == plan.must_survive
    (directory / "class.toml").write_text(FILE)
    assert "must_survive" not in load_experiment(directory / "class.toml").plan.to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [("nonsense\n", "hard.txt, line 1"), ("", "must have 1 to 10,000 positions, got 0"),
     (None, "cannot be read")],
)  # fmt: skip
def test_wrong_positions_are_reported(directory, text, message):
    if text is not None:
        (directory / "hard.txt").write_text(text)
    with pytest.raises(ExperimentError, match=message):
        loaded(directory, FILE + 'must_survive = "hard.txt"\n')


@pytest.mark.slow  # bots of several languages are started
def test_unloadable_bots_forfeit_and_others_play(directory):
    (directory / "class.toml").write_text(FILE)
    assert run([str(directory / "class.toml"), "--results", str(directory), "--quiet"]) == OK
    (table,) = directory.rglob("games.parquet")
    games = pandas.read_parquet(table)
    bad = games[["first", "second"]].isin(["carol", "dave"]).any(axis=1)
    assert len(games) == 7 * 6
    assert set(games.termination[~bad]) == {"normal"}
    assert set(games.termination[bad]) == {"unloadable"}
