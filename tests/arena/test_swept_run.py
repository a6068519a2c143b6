"""Sweeps of `pitflip run`."""

import json
import os
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from arena.playing.options import Interrupts
from games.base.files import format_toml
from tests.arena.running import RANDOM, run_experiment_file, run_in_process
from tests.commands import plan, run

TEXT = (
    'game = "kalah(4,3)"\npairs = 12\nopenings = {{ random_plies = 4 }}\n'
    '[agents.deep]\nkind = "minimax"\ndepth = 1\n[agents.base]\nkind = "minimax"\ndepth = 1\n'
    "{more}"
)
SWEEP = '[sweep]\n"agents.deep.depth" = [1, 3]\ngame = ["kalah(4,3)", "kalah(3,3)"]\n'


def written(directory, sweep=SWEEP, more=""):
    path = directory / "demo.toml"
    path.write_text(TEXT.format(more=more) + sweep)
    return path


def swept(path, results, *words):
    return run_in_process(path, "--results", results, "--workers", "0", *words)


def table_of(results):
    (path,) = results.glob("demo/sweep-*/sweep.parquet")
    return pq.read_table(path)


@pytest.mark.parametrize("sweep", ["", SWEEP], ids=["experiment", "sweep"])
@pytest.mark.parametrize("command", [run, plan])
def test_experiment_may_come_from_a_pipe(tmp_path, command, sweep, capsys):
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as file:
        file.write('name = "piped"\n' + TEXT.format(more="") + sweep)
    words = ["--results", str(tmp_path), "--workers", "0"] if command is run else []
    assert command([f"/dev/fd/{reader}", *words]) == 0
    os.close(reader)
    assert ("4 cells" in capsys.readouterr().out) == bool(sweep)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["piped"] * (command is run)


def test_cell_has_the_games_of_its_own_run(tmp_path):
    path = written(tmp_path)
    answer = swept(path, tmp_path / "swept")
    assert answer.returncode == 0
    table = table_of(tmp_path / "swept")
    assert table["agents.deep.depth"].to_pylist() == [1, 1, 3, 3]
    assert table["game"].to_pylist() == ["kalah(4,3)", "kalah(3,3)"] * 2
    assert table["agent"].to_pylist() == ["deep"] * 4
    assert table["elo"].to_pylist()[0] == 0.0  # it meets its equal
    for row in table.to_pylist()[1::2]:
        alone = tmp_path / f"alone{row['cell']}"
        changes = [f"{key}={format_toml(row[key])}" for key in ("agents.deep.depth", "game")]
        run_experiment_file(path, alone, workers=0, overrides=changes)
        (games,) = alone.glob("*/*/games.parquet")
        (same,) = tmp_path.glob(f"swept/demo/*/{row['run']}/*/games.parquet")
        assert pq.read_table(same).equals(pq.read_table(games))
    assert "deep against base: " in answer.stdout
    assert "95 % for all 4 cells together (Bonferroni: 98.75 % each)" in answer.stdout
    assert list(tmp_path.glob("swept/demo/*/sweep.svg"))
    (page,) = tmp_path.glob("swept/demo/*/sweep.html")
    shown = page.read_text()
    assert "95 % for all 4 cells together" in shown
    assert shown.count("<tr>") == 5 and "<svg " in shown


CHECKED = '\n[[checks]]\nthat = "deep beats base"\nscore_at_least = 0.6\n'


def test_a_sweep_writes_the_checks_of_all_its_cells_as_junit(tmp_path):
    path = written(tmp_path, '[sweep]\n"agents.deep.depth" = [1, 3]\n', CHECKED)
    answer = swept(path, tmp_path / "results", "--junit", tmp_path / "checks.xml", "--no-page")
    assert answer.returncode == 1
    suites = ElementTree.parse(tmp_path / "checks.xml").getroot()
    assert suites.get("tests") == "2" and int(suites.get("failures")) >= 1
    names = [case.get("name") for case in suites.iter("testcase")]
    assert names == [
        f"agents.deep.depth = {depth}: deep beats base (score_at_least)" for depth in (1, 3)
    ]
    assert not list(tmp_path.glob("results/demo/*/sweep.html"))


@pytest.mark.slow
def test_interrupted_sweep_continues(tmp_path, monkeypatch):
    path = written(tmp_path)
    swept(path, tmp_path / "whole")
    looks = 0

    def look(self):
        nonlocal looks
        looks += 1
        if looks == 20:
            raise KeyboardInterrupt

    monkeypatch.setattr(Interrupts, "check", look)
    assert swept(path, tmp_path / "parts").returncode == 3
    assert not list(tmp_path.glob("parts/demo/*/sweep.parquet"))
    assert list(tmp_path.glob("parts/demo/*/cells/*/*/games.parquet"))
    assert swept(path, tmp_path / "parts").returncode == 0
    assert table_of(tmp_path / "parts").equals(table_of(tmp_path / "whole"))
    before = looks
    assert swept(path, tmp_path / "parts").returncode == 0
    assert looks == before  # nothing is played again


def test_cells_share_their_known_games(tmp_path, monkeypatch):
    monkeypatch.setenv("PITFLIP_CACHE", str(tmp_path / "known"))
    path = written(tmp_path, '[sweep]\n"agents.deep.depth" = [2, 3]\n', RANDOM)
    answer = swept(path, tmp_path / "results")
    # base against random is the same match in both cells.
    assert answer.stderr.count("24 of 72 games were in the game cache") == 1


def test_star_sets_an_option_of_all_agents(tmp_path):
    path = written(tmp_path, '[sweep]\nagents."*".depth = [1, 2]\n', RANDOM)
    answer = swept(path, tmp_path / "results", "--json")
    cells = json.loads(answer.stdout)["cells"]
    assert [cell["agents.*.depth"] for cell in cells] == [1, 2]
    (_, second) = sorted(tmp_path.glob("results/demo/*/cells/*/*/run.json"))
    agents = json.loads(second.read_text())["plan"]["agents"]
    assert [agents[name].get("depth") for name in ("deep", "base", "random")] == [2, 2, None]


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        ("sweep = 3\n", "[sweep] sweep must name keys with lists"),
        ("[sweep]\n", "must name keys with lists of values"),
        ("[sweep]\nseed = 3\n", "[sweep] seed must be a list of values, got 3"),
        ("[sweep]\nseed = [3, 3]\n", "[sweep] seed has a value twice"),
        ("[sweep]\nseed = [1, -1]\n", "[sweep] seed=-1: [top level] seed must be"),
        ('[sweep]\n"agents.dep.depth" = [1]\n', 'there is no agent "dep"'),
        ('[sweep]\n"agents.*.colour" = [1]\n', "no agent has this option"),
        (f"[sweep]\nseed = {list(range(1001))}\n", "at most 1,000 combinations, got 1,001"),
    ],
)
def test_wrong_sweep_gives_one_line(tmp_path, sweep, said):
    path = tmp_path / "demo.toml"
    text = TEXT.format(more="")
    path.write_text(sweep + text if sweep.startswith("sweep") else text + sweep)
    answer = swept(path, tmp_path / "results")
    assert answer.returncode == 2
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()
