"""The command `pitflip ladder`."""

import json
from pathlib import Path

import pandas as pd
import pytest

from arena.commands.ladder import PLAYING
from arena.pipeline import ladder as placement
from arena.pipeline.ladder import LADDER, PLACEMENTS, insertion_index, read_ladder
from arena.planning.rounds import StandingRow, TournamentStanding
from games.base.errors import Unfinished
from tests.commands import ladder as main

HEAD = 'game = "kalah(4,3)"\nseed = 3\nopenings = { random_plies = 4 }\n[agents]\n'
OLD = 'random = { kind = "random" }\ngreedy = { kind = "greedy" }\n'
BOT = "def choose(view, legal, rng):\n    return legal[{place}]\n"


@pytest.fixture
def ladder(tmp_path):
    """A function that runs a command of the ladder in a directory of its own."""

    def run(*words):
        workers = ["--workers", "1"] if words[0] in PLAYING else []
        return main([*map(str, words), "--dir", str(tmp_path / "ladder"), *workers])

    return run


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_ladder_reuses_known_games(tmp_path, ladder, capsys):
    assert ladder("new", written(tmp_path, "old.toml", HEAD + OLD)) == 0
    deep = written(tmp_path, "deep.toml", 'kind = "minimax"\ndepth = 3\nweights = { pot = 1 }\n')
    assert ladder("add", deep) == 0
    assert read_ladder(tmp_path / "ladder").names == ("deep", "greedy", "random")
    first = capsys.readouterr()
    assert "deep: place 1 of 3, above greedy" in first.err
    assert ladder("remove", "deep") == 0
    assert ladder("add", deep) == 0
    again = capsys.readouterr()
    games = first.err.rpartition(": ")[2].split()[0]
    assert f"{games} games, {games} of them played before" in again.err
    frame = pd.read_parquet(tmp_path / "ladder" / "ladder.parquet")
    assert frame.agent.tolist() == ["deep", "greedy", "random"]
    assert frame.elo.is_monotonic_decreasing
    assert first.out.splitlines()[-4:] == again.out.splitlines()[-4:]
    assert not list((tmp_path / "ladder" / PLACEMENTS).glob("*"))  # nothing is left half done


@pytest.mark.slow
def test_a_bot_is_kept_as_it_was_when_it_was_added(tmp_path, ladder):
    ladder("new", written(tmp_path, "old.toml", HEAD + OLD))
    bot = written(tmp_path, "bot.py", BOT.format(place=0))
    file = written(tmp_path, "mine.toml", '[agents.mine]\nkind = "python"\nfile = "bot.py"\n')
    assert ladder("add", file) == 0
    kept = read_ladder(tmp_path / "ladder").plan.agents["mine"].options["file"]
    bot.write_text(BOT.format(place=-1))
    copy = Path(kept.partition(":")[0])
    assert tmp_path / "ladder" in copy.parents
    assert copy.read_text() == BOT.format(place=0)
    assert ladder("rename", "mine", "older") == 0
    assert ladder("add", file) == 0
    ladder_now = read_ladder(tmp_path / "ladder")
    assert {"mine", "older", "greedy", "random"} == set(ladder_now.names)
    assert ladder_now.plan.agents["mine"] != ladder_now.plan.agents["older"]


def test_games_of_equal_agents_count_once(tmp_path, ladder):
    more = "pairs = 4\n"
    for name, agents in (("one", OLD), ("twins", OLD + 'twin = { kind = "greedy" }\n')):
        path = written(tmp_path, f"{name}.toml", more + HEAD + agents)
        main(["new", str(path), "--dir", str(tmp_path / name), "--workers", "1", "--quiet"])
    one, twins = (
        pd.read_parquet(tmp_path / name / "ladder.parquet").set_index("agent")
        for name in ("one", "twins")
    )
    columns = ["elo", "games", "points"]
    assert (twins.loc["greedy", columns] == twins.loc["twin", columns]).all()
    assert (twins.loc["random", columns] == one.loc["random", columns]).all()


def test_an_anchor_holds_its_rating(tmp_path, ladder):
    ladder("new", written(tmp_path, "old.toml", HEAD + OLD))
    assert ladder("anchor", "random", 1000) == 0
    frame = pd.read_parquet(tmp_path / "ladder" / "ladder.parquet").set_index("agent")
    assert frame.elo["random"] == 1000.0


def test_a_mistake_is_answered_in_one_line(tmp_path, ladder, capsys):
    old = written(tmp_path, "old.toml", HEAD + OLD)
    assert ladder("show") == 2
    assert "there is no ladder; begin one" in capsys.readouterr().err
    assert not (tmp_path / "ladder").exists()
    ladder("new", old, "--quiet")
    other = written(tmp_path, "other.toml", 'game = "owari"\n[agents]\nx = { kind = "first" }\n')
    empty = written(tmp_path, "empty.toml", "seed = 3\n")
    wrong = written(tmp_path, "wrong.toml", '[agents.x]\nkind = "minmax"\n')
    capsys.readouterr()
    for words, message in {
        ("new", old): "there is a ladder already",
        ("add", old): 'there is an agent "random" already',
        ("add", other): 'game is "owari", the ladder plays kalah(4,3)',
        ("add", empty): "no agent: write [agents.NAME]",
        ("add", wrong): 'did you mean "minimax"?',
        ("add", tmp_path / "none.toml"): "there is no such file",
        ("remove", "gredy"): 'did you mean "greedy"?',
        ("rename", "greedy", "random"): 'there is an agent "random" already',
        ("rename", "greedy", "all"): "an agent cannot be called",
        ("anchor", "nobody", "3"): 'there is no agent "nobody"',
    }.items():
        assert ladder(*words) == 2, words
        said = capsys.readouterr().err
        assert message in said
        assert said.count("\n") == 1, said
    stored = tmp_path / "ladder" / LADDER
    stored.write_text(json.dumps({"format": 1}))
    assert ladder("show") == 2
    assert "cannot be read" in capsys.readouterr().err


ROSTER = (
    'game = "kalah(4,3)"\npairs = {pairs}\nseed = 3\nopenings = {{ random_plies = 4 }}\n{more}'
    '[roster]\ndirectory = "bots"\n'
)


def roster(tmp_path, bots, pairs=3, more=""):
    """An experiment of bots that choose a move by its place."""
    (tmp_path / "bots").mkdir(exist_ok=True)
    for name, place in bots.items():
        written(tmp_path / "bots", f"{name}.py", BOT.format(place=place))
    return written(tmp_path, "class.toml", ROSTER.format(pairs=pairs, more=more))


def test_a_ladder_of_a_roster_plays_as_many_pairs_as_its_file_says(tmp_path, ladder, capsys):
    assert ladder("new", roster(tmp_path, {"first": 0, "last": -1})) == 0
    assert set(read_ladder(tmp_path / "ladder").names) == {"first", "last"}
    frame = pd.read_parquet(tmp_path / "ladder" / "ladder.parquet")
    assert 0 < frame.games.max() <= 2 * 3
    assert "3 openings used" in capsys.readouterr().err


def test_a_changed_bot_is_a_new_version_of_its_author(tmp_path, ladder, capsys):
    class_ = roster(tmp_path, {"first": 0, "last": -1})
    assert ladder("new", class_, "--quiet") == 0
    assert ladder("add", class_) == 2  # nobody has changed
    assert "already" in capsys.readouterr().err
    roster(tmp_path, {"last": 0})
    before = read_ladder(tmp_path / "ladder").plan.agents
    assert ladder("add", class_, "--quiet") == 0
    there = read_ladder(tmp_path / "ladder")
    assert sorted(there.names) == ["first", "last"]
    shown = capsys.readouterr().out
    assert "version 2" in shown and "can be repeated: not known, 2 outside bots" in shown
    assert there.plan.agents["first"] == before["first"]
    assert there.plan.agents["last"] != before["last"]
    assert ladder("rename", "last", "mia", "--quiet") == 0
    assert read_ladder(tmp_path / "ladder").versions == {"mia": 2}
    assert ladder("add", class_, class_) == 2
    assert "two of the agents are called" in capsys.readouterr().err


@pytest.mark.parametrize("more", ["seeed = 3\n", "pairs = 9\n"])
def test_mistake_creates_no_ladder(tmp_path, ladder, more, capsys):
    path = roster(tmp_path, {"first": 0, "last": -1, "broken": "1 +"}, more=more)
    assert ladder("new", path) == 2
    assert not (tmp_path / "ladder").exists()
    assert "Traceback" not in capsys.readouterr().err


def test_a_ladder_that_was_stopped_while_it_was_begun_is_continued(tmp_path, ladder, monkeypatch):
    path, place = roster(tmp_path, {"first": 0, "last": -1}), placement.place_agent

    def stopped(there, name, *more):
        if there.names:
            raise Unfinished("no room")
        return place(there, name, *more)

    monkeypatch.setattr(placement, "place_agent", stopped)
    assert ladder("new", path, "--quiet") == 3
    assert read_ladder(tmp_path / "ladder").names == ("first",)
    monkeypatch.setattr(placement, "place_agent", place)
    assert ladder("new", path, "--quiet") == 0
    assert len(read_ladder(tmp_path / "ladder").names) == 2
    assert ladder("new", path, "--quiet") == 2  # it is finished


@pytest.mark.parametrize(
    ("places", "expected"),
    [((1, 2, 3), 3), ((2, 3, 4), 0), ((1, 3, 4), 1), ((1, None, 4), 2), ((None,) * 4, 2)],
)
def test_undecided_newcomer_goes_to_the_middle(places, expected):
    rows = [
        StandingRow(0, "placed", ""),
        *(StandingRow(n, "out", "", place) for n, place in enumerate(places, 1)),
    ]
    assert insertion_index(TournamentStanding("place", 1, True, tuple(rows), "")) == expected
