"""The command `pitflip verify`."""

import hashlib
import json
import re
import shutil
import subprocess

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.analysis import verification
from arena.commands import verify
from arena.playing.forfeits import FIRST_GAMES
from arena.storage.run_file import changed_files, renew_checksums, write_checksums
from games.base import progress
from tests.arena.running import BOTS, ROOT, experiment_file, only_run, run_experiment_file, small
from tests.commands import judge, report
from tests.commands import verify as main

GREEDY = '[agents.greedy]\nkind = "greedy"\nepsilon = 0.2\n'


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory):
    """A run with a Python bot that fails now and then."""
    directory = tmp_path_factory.mktemp("kept")
    path = experiment_file(directory, small(20) + GREEDY, "raising")
    run_experiment_file(path, directory / "results")
    return directory


@pytest.fixture
def whole_run(kept_run, tmp_path):
    """A copy of that run."""
    shutil.copytree(kept_run, tmp_path / "kept")
    return only_run(tmp_path / "kept" / "results")


@pytest.fixture
def run(whole_run):
    """A copy of that run without checksums: changes must show in other ways."""
    (whole_run / "SHA256SUMS").unlink()
    return whole_run


def sums_of(run):
    lines = (run / "SHA256SUMS").read_text().splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def right_sums(run):
    return {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in sums_of(run)}


def test_a_run_has_its_experiment_and_checksums(whole_run):
    text = (whole_run.parents[2] / "demo.toml").read_text()
    assert (whole_run / "experiment.toml").read_text() == text
    sums = sums_of(whole_run)
    assert sums == right_sums(whole_run)
    (copy,) = (whole_run / "sources").rglob("*.py")
    others = {"elo", "games", "timings", "win_rates"}
    assert {name for name in sums if not name.startswith("bots/")} == {
        "experiment.toml", "run.json", "summary.json", copy.relative_to(whole_run).as_posix(),
        *(f"{name}.parquet" for name in others),
    }  # fmt: skip
    assert any(name.startswith("bots/") for name in sums)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_sha256sum_reads_the_checksums(whole_run):
    (whole_run / "sources" / "a\\b\nc").write_text("odd")
    write_checksums(whole_run, ())
    line = ["sha256sum", "--check", "--quiet", "--strict", "SHA256SUMS"]
    assert subprocess.run(line, cwd=whole_run, check=False).returncode == 0
    assert changed_files(whole_run) == []
    (whole_run / "sources" / "a\\b\nc").write_text("other")
    assert changed_files(whole_run) == ["sources/a\\b\nc"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_copy_elsewhere_without_the_users_files_is_verified(
    whole_run, tmp_path, monkeypatch, workers, capsys
):
    copy = tmp_path / "other" / "place"
    shutil.copytree(whole_run, copy)
    shutil.rmtree(tmp_path / "kept")
    monkeypatch.setattr(verify, "available_cores", lambda: workers)
    assert main([str(copy), "--all", "--cache", "off"]) == 0
    assert capsys.readouterr().out == "120 games played again: all the same\n"
    assert sums_of(copy) == right_sums(copy)


FILES = ("games.parquet", "elo.parquet", "timings.parquet", "run.json", "experiment.toml", "copy")


@pytest.mark.parametrize("words", [[], ["--rules-only"]])
@pytest.mark.parametrize("name", FILES)
def test_a_file_with_one_changed_byte_is_named(whole_run, name, words, capsys):
    (copy,) = (whole_run / "sources").rglob("*.py")
    path = copy if name == "copy" else whole_run / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert main([str(whole_run), *words]) == 1
    name = path.relative_to(whole_run).as_posix()
    told = capsys.readouterr().out
    assert f"differs: {name} has changed since the run (SHA256SUMS)" in told.splitlines()
    path.unlink()
    assert main([str(whole_run), *words]) == 1
    assert f"differs: {name} is missing since the run (SHA256SUMS)" in capsys.readouterr().out


def test_commands_that_write_into_a_run_renew_its_checksums(whole_run, capsys):
    assert report([str(whole_run)]) == 0
    assert {"report.html"} <= sums_of(whole_run).keys()
    assert judge([str(whole_run), "--last-beans", "4", "--quiet"]) == 0
    assert {"moves.parquet", "judgement.json"} <= sums_of(whole_run).keys()
    assert sums_of(whole_run) == right_sums(whole_run)
    # Nothing but the written file is renewed: damage to others still shows.
    (whole_run / "experiment.toml").write_text("")
    assert report([str(whole_run)]) == 0
    assert main([str(whole_run), "--rules-only"]) == 1
    assert "experiment.toml has changed" in capsys.readouterr().out


def test_a_finished_run_that_is_run_again_keeps_its_checksums(tmp_path, capsys):
    path = experiment_file(tmp_path, small(4) + GREEDY)
    for _ in range(2):
        run_experiment_file(path, tmp_path / "results")
        run = only_run(tmp_path / "results")
        assert sums_of(run) == right_sums(run)
    (run / "experiment.toml").write_text("")
    run_experiment_file(path, tmp_path / "results")
    assert main([str(run)]) == 1
    assert "experiment.toml has changed" in capsys.readouterr().out


def rewrite(run, change):
    """Change the table of games, but not its form."""
    path = run / "games.parquet"
    table = pq.read_table(path)
    frame = table.to_pandas()
    change(frame)
    pq.write_table(type(table).from_pandas(frame, table.schema, preserve_index=False), path)


@pytest.mark.parametrize("words", [pytest.param([], marks=pytest.mark.slow), ["--all"]])
def test_an_honest_run_is_the_same_again(run, words, capsys):
    assert main([str(run), *words]) == 0
    assert capsys.readouterr().out == "120 games played again: all the same\n"


def test_verification_needs_only_the_run_directory(run, capsys):
    (run / "journal.sqlite").unlink()
    said = json.loads((run / "run.json").read_text())
    here = run.parents[2]
    (here / "demo.toml").unlink()
    said["path"] = str(here / "elsewhere" / "demo.toml")  # where its bots are not
    (run / "run.json").write_text(json.dumps(said))
    assert main([str(run)]) == 0
    assert "raising.py is gone since this run: its kept copy was taken" in capsys.readouterr().err
    shutil.rmtree(run / "sources")
    assert main([str(run)]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert main([str(run), "--experiment", str(here / "demo.toml")]) == 0


CHANGES = {
    "seed": lambda value: value + 1,
    "game_id": lambda value: value ^ 1,
    "result": lambda value: 1.0 - value if value != 0.5 else 0.0,
    "margin": lambda value: value + 1,
    "plies": lambda value: value - 1,
    "termination": lambda value: "illegal",
    "moves": lambda value: value[:-1] + ("1" if value[-1] != "1" else "2"),
    "pair": lambda value: value + 1,
}


@pytest.mark.parametrize("column", CHANGES)
def test_a_changed_record_is_found_and_named(run, column, capsys):
    def change(frame):
        if column == "termination":
            frame["termination"] = frame["termination"].astype(str)
        frame.loc[37, column] = CHANGES[column](frame.loc[37, column])
        if column == "termination":
            frame["termination"] = frame["termination"].astype("category")

    rewrite(run, change)
    assert main([str(run), "--all"]) == 1
    told = capsys.readouterr().out
    expected = {"moves": "move ", "result": "the table says a "}
    words = expected.get(column, f"the table says {column} ")
    assert told.startswith(f"differs: game 37: {words}")
    if column == "result":
        assert "of the first agent, playing the game again gives a" in told


@pytest.mark.parametrize(
    ("table", "column"), [("elo", "elo"), ("elo", "rank"), ("win_rates", "score_low")]
)
def test_a_changed_table_of_results_is_found_and_named(run, table, column, capsys):
    path = run / f"{table}.parquet"
    content = pq.read_table(path)
    values = content[column].to_pylist()
    values[0] = (values[0] or 0) + 1
    at = content.schema.get_field_index(column)
    changed = pa.array(values, content.schema.field(column).type)
    pq.write_table(content.set_column(at, content.schema.field(column), changed), path)
    assert main([str(run), "--rules-only"]) == 1
    assert f"{table}.parquet: {column} of " in capsys.readouterr().out


def test_a_run_cut_short_is_found(run, capsys):
    path = run / "games.parquet"
    table = pq.read_table(path)
    pq.write_table(table.slice(0, 100), path)
    assert main([str(run), "--all"]) == 1
    assert "120 games were played, 100 are there" in capsys.readouterr().out


def test_a_changed_bot_is_named_and_its_kept_copy_plays(run, capsys):
    here = run.parents[2]
    changed = BOTS["raising"].replace("legal[0]", "legal[-1]")
    (here / "raising.py").write_text(changed)
    assert main([str(run), "--experiment", str(here / "demo.toml")]) == 0
    assert "raising.py has changed since this run: its kept copy" in capsys.readouterr().err
    shutil.rmtree(run / "sources")
    assert main([str(run), "--experiment", str(here / "demo.toml")]) == 1
    assert "raising.py has changed since this run\n" in capsys.readouterr().err


def test_a_kept_copy_that_was_edited_is_not_played(run, capsys):
    here = run.parents[2]
    (kept,) = (run / "sources").glob("*/raising.py")
    kept.write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    (here / "raising.py").unlink()
    assert main([str(run), "--experiment", str(here / "demo.toml")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_a_sample_is_spread_over_the_run(monkeypatch):
    monkeypatch.setattr(verification, "SAMPLE", 5)
    assert verification.sample_pairs(range(100), False) == [0, 20, 40, 60, 80]
    assert verification.sample_pairs(range(100), True) == list(range(100))
    assert verification.sample_pairs([], False) == []


def test_games_that_were_cut_off_are_not_waited_for(tmp_path, capsys):
    path = experiment_file(tmp_path, small(2), "hanging_at_start")
    path.write_text(path.read_text() + "start_seconds = 0.5\n")
    run_experiment_file(path, tmp_path / "results")
    run = only_run(tmp_path / "results")
    games = pd.read_parquet(run / "games.parquet")
    said = json.loads((run / "run.json").read_text())
    said["plan"]["agents"]["hanging_at_start"]["start_seconds"] = 14.0
    (run / "run.json").write_text(json.dumps(said))
    (run / "SHA256SUMS").unlink()
    assert (games.termination == "timeout").any()
    assert main([str(run), "--all"]) == 0


def not_a_run(directory):
    shutil.rmtree(directory)


def no_table(directory):
    (directory / "games.parquet").unlink()


def broken_table(directory):
    (directory / "games.parquet").write_bytes(b"PAR1 and so on")


def another_game(directory):
    stored = json.loads((directory / "run.json").read_text())
    stored["plan"]["game"] = "chess"
    (directory / "run.json").write_text(json.dumps(stored))


def half_a_plan(directory):
    stored = json.loads((directory / "run.json").read_text())
    del stored["plan"]["pairs"]
    (directory / "run.json").write_text(json.dumps(stored))


def another_shape(directory):
    (directory / "run.json").write_text('{"resolved": {"game": "kalah(6,4)"}}')


SPOILT = {
    not_a_run: "has no run.json",
    no_table: "has no games.parquet",
    broken_table: "games.parquet cannot be read",
    another_game: 'there is no game "chess"',
    half_a_plan: "its plan has no pairs",
    another_shape: "has no plan",
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_unverifiable_run_gives_one_line(run, spoil, capsys):
    spoil(run)
    assert main([str(run)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("pitflip verify: ")
    assert SPOILT[spoil] in line


def test_play_by_the_clock_cannot_be_verified(tmp_path, capsys):
    text = small(2) + '[agents.quick]\nkind = "alphabeta"\nseconds = 0.001\n'
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    assert main([str(only_run(tmp_path / "results"))]) == 2
    assert "by the clock" in capsys.readouterr().err


def test_only_the_games_of_the_agent_with_a_clock_are_not_played_again(tmp_path, capsys):
    quick = '[agents.quick]\nkind = "alphabeta"\nseconds = 0.001\n'
    run_experiment_file(experiment_file(tmp_path, small(2) + GREEDY + quick), tmp_path / "results")
    capsys.readouterr()
    assert main([str(only_run(tmp_path / "results")), "--all", "--cache", "off"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "4 games played again: all the same\n"
    assert "not played again: 8 games of quick, which plays by the clock" in shown.err


def test_unplayed_games_are_not_counted(tmp_path, capsys):
    (tmp_path / "bad.py").write_text("raise ValueError('no')\n")
    path = experiment_file(tmp_path, small(3, 'roster = { directory = "." }') + GREEDY)
    run_experiment_file(path, tmp_path / "results")
    capsys.readouterr()
    run = str(only_run(tmp_path / "results"))
    games = pd.read_parquet(f"{run}/games.parquet")
    asked = (games.termination == "normal").sum() + FIRST_GAMES
    for words, told in ((["--all"], "played again"), (["--rules-only"], "replayed by the rules")):
        assert main([run, *words]) == 0
        assert capsys.readouterr().out.startswith(f"{asked} games {told}")


def test_a_run_in_which_every_bot_plays_other_games_leaves_nothing_to_verify(tmp_path, capsys):
    bot = "N = [0]\ndef choose(view, legal, rng):\n    N[0] += 1\n"
    (tmp_path / "state.py").write_text(f"{bot}    return legal[N[0] % len(legal)]\n")
    text = small(4) + '[agents.state]\nkind = "python"\nfile = "state.py"\n'
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    assert main([str(only_run(tmp_path / "results")), "--all"]) == 2
    assert "state, which run.json says not to repeat its moves" in capsys.readouterr().err


def test_a_run_that_failed_says_why_there_is_nothing_to_verify(run, capsys):
    stored = json.loads((run / "run.json").read_text())
    stored.update(finished=None, games=None, failed="bad failed all its 3 games\nand more")
    (run / "run.json").write_text(json.dumps(stored))
    assert main([str(run)]) == 2
    assert "the run failed (bad failed all its 3 games)" in capsys.readouterr().err


@pytest.mark.slow
def test_on_a_cluster_a_run_is_verified_and_a_change_is_seen(run, capsys):
    assert main([str(run), "--cluster", "local:2"]) == 0
    rewrite(run, lambda frame: frame.update(frame["margin"] + 1))
    assert main([str(run), "--cluster", "local:2"]) == 1
    assert "differs: " in capsys.readouterr().out


OWN_GAME = """\
game = "connect4.py:connect4(5,4)"
pairs = 4
[agents]
random = { kind = "random" }
alike = { kind = "python", file = "raising.py:choose" }
mine = { kind = "alphabeta", depth = 2, evaluate = "own.py:evaluate" }
"""


@pytest.mark.slow  # it compiles a game and an evaluation
def test_a_game_and_an_evaluation_that_are_gone_play_from_their_kept_copies(tmp_path, capsys):
    path = experiment_file(tmp_path, OWN_GAME, "raising")
    shutil.copy(ROOT / "experiments" / "games" / "connect4.py", path.parent)
    (path.parent / "own.py").write_text("def evaluate(rules, position):\n    return 1\n")
    run_experiment_file(path, tmp_path / "results", page=True)
    run = only_run(tmp_path / "results")
    for name in ("connect4.py", "own.py", "raising.py", path.name):
        (path.parent / name).unlink()
    assert main([str(run), "--all", "--cache", "off"]) == 0
    assert "connect4.py is gone since this run: its kept copy" in capsys.readouterr().err
    (run / "report.html").unlink()
    assert report([str(run)]) == 0
    # The command that replays a game finds its rules.
    assert "sources/" in (run / "report.html").read_text()


SLOW = """import time
def choose(view, legal, rng):
    time.sleep(0.02)
    return legal[0]
"""


def test_slow_games_are_not_played_again_in_silence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.05)
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.05)  # of the tables
    (tmp_path / "slow.py").write_text(SLOW)
    text = small(4) + '[agents.slow]\nkind = "python"\nfile = "slow.py"\n'
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    assert main([str(only_run(tmp_path / "results")), "--cache", "off"]) == 0
    counts = {int(n) for n in re.findall(r"(\d+) of 8 games played again", capsys.readouterr().err)}
    assert len(counts) > 1  # it moves


def test_unfinished_run_is_not_verified(run, capsys):
    stored = json.loads((run / "run.json").read_text())
    stored.update(finished=None, games=None)  # as while bots are asked again
    (run / "run.json").write_text(json.dumps(stored))
    for words in ([], ["--rules-only"]):
        assert main([str(run), *words]) == 3
        output = capsys.readouterr()
        assert "not finished" in output.err
        assert "differs" not in output.out


def test_games_that_differ_are_counted_and_the_first_is_named_as_in_explain(run, capsys):
    def change(frame):
        played_later = frame.index[(frame.index > 37) & (frame.plies > 6)]
        for row in (37, *played_later[:2]):
            frame.loc[row, "margin"] += 1

    rewrite(run, change)
    assert main([str(run), "--rules-only"]) == 1
    first, number, command = capsys.readouterr().out.splitlines()
    assert first.startswith("differs: game 37: ")
    assert number == "3 games differ"
    assert f"{run}#37" in command


UNSTEADY = (
    "import os\ndef choose(view, legal, rng):\n    return legal[os.urandom(1)[0] % len(legal)]\n"
)


def with_an_unsteady_bot(tmp_path):
    """A run with a steady bot and one with random numbers of its own, not yet known to differ."""
    path = experiment_file(tmp_path, small(12), "fixed")
    (tmp_path / "unsteady.py").write_text(UNSTEADY)
    more = '[agents.unsteady]\nkind = "python"\nfile = "unsteady.py"\n'
    path.write_text(path.read_text() + more)
    run_experiment_file(path, tmp_path / "results")
    run = only_run(tmp_path / "results")
    stored = json.loads((run / "run.json").read_text())
    del stored["can_be_repeated"]
    (run / "run.json").write_text(json.dumps(stored))
    renew_checksums(run, {"run.json"})
    return run


def test_each_bot_is_said_to_repeat_its_games_or_not(tmp_path, capsys):
    run = with_an_unsteady_bot(tmp_path)
    capsys.readouterr()
    assert main([str(run), "--all"]) == 1
    said = capsys.readouterr()
    assert "fixed: 48 games played again, all the same" in said.err
    (number,) = re.findall(r"unsteady: 48 games played again, (\d+) differ", said.err)
    assert f"{number} games differ" in said.out and int(number) > 20


def test_a_bot_can_be_left_out(tmp_path, capsys):
    run = with_an_unsteady_bot(tmp_path)
    capsys.readouterr()
    assert main([str(run), "--all", "--except", "unsteady"]) == 0
    said = capsys.readouterr()
    assert said.out == "24 games played again: all the same\n"
    assert "48 games of unsteady, left out by --except" in said.err
    assert main([str(run), "--except", "unstedy"]) == 2
    assert 'did you mean "unsteady"?' in capsys.readouterr().err
    assert main([str(run), "--rules-only", "--except", "unsteady"]) == 2
