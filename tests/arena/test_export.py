"""The command `pitflip export`, checked by independent readers."""

import csv
import io
import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from arena.formats.export import game_records
from arena.formats.records import TextTable
from arena.formats.registry import WRITERS, format_writer
from arena.pipeline.external_games import read_games
from arena.report.data import load_report
from games import game
from tests.arena.running import experiment_file, only_run, run_experiment_file
from tests.commands import export as main

OTHELLO = (
    'game = "othello(6)"\npairs = 5\nseed = 3\nopenings = { random_plies = 4 }\n[agents]\n'
    'random = { kind = "random" }\ngreedy = { kind = "greedy" }\n'
)
HOSTILE = TextTable(
    "hostile", "a % caption\n", ("agent", "Elo"),
    (("a|b & c_%$#{}~^\\", "\u22123"), ("<script>\n", None), ('"quoted", ]', 2.5)),
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of Othello."""
    directory = tmp_path_factory.mktemp("run")
    run_experiment_file(experiment_file(directory, OTHELLO), directory / "results")
    return only_run(directory / "results")


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    """All formats of it."""
    made = tmp_path_factory.mktemp("made") / "new"
    formats = [f"--{what}={name}" for what, known in WRITERS.items() for name in known]
    assert main([str(run), *formats, "--out", str(made)]) == 0
    return made


@pytest.fixture(scope="module")
def games(run):
    return pd.read_parquet(run / "games.parquet")


def test_every_format_leaves_a_file(folder):
    assert (folder / "elo.csv").exists()
    for name in WRITERS["games"]:
        assert (folder / f"games{format_writer(name, 'games').SUFFIX}").exists()
    for name in WRITERS["tables"]:
        assert (folder / f"matrix{format_writer(name, 'tables').SUFFIX}").exists()
    for name in WRITERS["figures"]:
        assert (folder / f"match.{name}").exists()


def ggf_games(text: str) -> list[tuple[dict[str, str], list[tuple[str, str]]]]:
    """A reader of GGF as strict as those of other programs: no escapes, and no tag is missing."""
    found = []
    for each in re.findall(r"\(;(.*?);\)", text, re.DOTALL):
        pairs = [pair.split("[") for pair in each.split("]")[:-1]]
        assert each.endswith("]")
        assert {len(pair) for pair in pairs} == {2}
        tags = [(name, value) for name, value in pairs]
        needed = {"GM", "PC", "DT", "PB", "PW", "RB", "RW", "TI", "TY", "RE", "BO"}
        assert needed <= {name for name, _ in tags}
        moves = [tag for tag in tags if tag[0] in "BW"]
        found.append((dict(tag for tag in tags if tag[0] not in "BW"), moves))
    return found


def test_ggf_replays_to_its_result(folder, games):
    of = game("othello(6)")
    read = ggf_games((folder / "games.ggf").read_text())
    assert len(read) == len(games)
    for (tags, moves), row in zip(read, games.itertuples(), strict=True):
        assert (tags["GM"], tags["PB"], tags["PW"]) == ("Othello", row.first, row.second)
        size, board, side = tags["BO"].split()
        assert (size, len(board), side) == ("6", 36, "*")
        position = of.parse(f"{board} {side}")
        for colour, square in moves:
            assert colour == "BW"[of.mover(position)]
            position = of.play(position, of.parse_move(position, square))
        assert of.over(position)
        assert float(tags["RE"]) == of.margin(position) == row.margin
        assert tags["TY"] == "6"


def test_ggf_has_ratings_where_there_are_any_and_survives_hostile_names(run, folder):
    report = load_report(run)
    stored = pd.read_parquet(run / "elo.parquet").set_index("agent")["elo"]
    rated = replace(report, summary={**report.summary, "openings": 100})
    each = next(game_records(rated))
    assert each.elos == (pytest.approx(stored[each.first]), pytest.approx(stored[each.second]))
    unrated = replace(
        report, ratings=tuple(r._replace(elo_low=None, elo_high=None) for r in report.ratings)
    )
    assert next(game_records(unrated)).elos == (None, None)  # a standing has no Elo
    hostile = replace(each, first="a[b];)(;GM[x]\\", second="]\n[", elos=(None, -3.0))
    ((tags, moves),) = ggf_games(format_writer("ggf", "games").game_text(hostile))
    assert tags["PB"].startswith("a(b)")
    assert (tags["RB"], tags["RW"]) == ("0.00", "-3.00")
    assert len(moves) == len(each.moves)


def test_pgn_is_rated_as_the_run_was(folder, games):
    (read,) = read_games([folder / "games.pgn"]).scales
    assert read.scores == games["result"].tolist()
    assert [read.names[place] for place in read.first] == games["first"].tolist()
    text = (folder / "games.pgn").read_text()
    lines = re.findall(r"\n\n(1\. .*?)\n\n", text, re.DOTALL)
    words = [re.findall(r"\d+\. (\S+)", line) for line in lines]
    assert words == [line.split() for line in games["moves"]]


def test_every_export_of_a_stopped_run_has_its_stop_rule(tmp_path):
    text = OTHELLO.replace("pairs = 5", "pairs = 60").replace(
        "[agents]", "stop = { sprt = { elo0 = 0, elo1 = 100 } }\n[agents]"
    )
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    run, made = only_run(tmp_path / "results"), tmp_path / "made"
    formats = [f"--games={name}" for name in WRITERS["games"]]
    assert main([str(run), *formats, "--tables=latex", "--out", str(made)]) == 0
    assert "SPRT [0, 100] logistic Elo" in (made / "matrix.tex").read_text()
    for file in (run / "games.parquet", *sorted(made.glob("games.[pgc]*"))):
        (read,) = read_games([file]).scales
        assert read.stopped == {"random", "greedy"}
    lines = (made / "games.jsonl").read_text().splitlines()
    mover = json.loads((run / "summary.json").read_text())["first_mover"]
    assert mover["kind"] == "sprt"
    (rule,) = {json.loads(line)["stop_rule"] for line in lines}
    assert rule == "SPRT [0, 100] logistic Elo, alpha 0.05, beta 0.05"


def test_json_has_an_object_a_game(folder, games):
    read = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    assert [each["number"] for each in read] == games["game"].tolist()
    assert [" ".join(each["moves"]) for each in read] == games["moves"].tolist()
    assert {each["game"] for each in read} == {"othello(6)"}


@pytest.mark.parametrize("name", ["elo", "win_rates", "timings"])
def test_csv_is_the_table_of_the_run(run, folder, name):
    stored = pd.read_parquet(run / f"{name}.parquet")
    read = pd.read_csv(folder / f"{name}.csv", dtype=str, keep_default_na=False)
    marks = ["excluded"] * (name in ("elo", "points"))  # which come after what is stored
    assert list(read.columns) == [*stored.columns, *marks]
    for column in stored.columns:
        if stored[column].dtype != bool and pd.api.types.is_numeric_dtype(stored[column]):
            numbers = [float(each or "nan") for each in read[column]]
            assert numbers == pytest.approx(stored[column].to_list(), nan_ok=True)
        else:
            assert read[column].tolist() == [str(each) for each in stored[column]]


def test_the_matrix_is_square_and_has_the_scores(run, folder):
    rates = pd.read_parquet(run / "win_rates.parquet").set_index(["agent", "opponent"])["score"]
    read = pd.read_csv(folder / "matrix.csv").set_index("agent")
    assert all(read.loc[a, b] == pytest.approx(score) for (a, b), score in rates.items())


def test_hostile_cells_keep_every_table_in_shape():
    lines = format_writer("markdown", "tables").table_text(HOSTILE).splitlines()[2:]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}
    rows = list(csv.reader(io.StringIO(format_writer("csv", "tables").table_text(HOSTILE))))
    assert [row[0] for row in rows[1:]] == [row[0] for row in HOSTILE.rows]
    body = format_writer("latex", "tables").table_text(HOSTILE)
    assert [line.count(" & ") for line in body.splitlines() if line.endswith(r" \\")] == [1] * 4
    assert not re.search(r"(?<!\\)[%#_](?! )", body.partition("\n")[2].replace(r"\_", ""))
    assert body.startswith("% a % caption\n")


def test_unsupported_content_gives_one_line(tmp_path, capsys, run):
    text = OTHELLO.replace("othello(6)", "kalah(3,2)").replace("= 4 }", "= 2 }")
    run_experiment_file(experiment_file(tmp_path, text), tmp_path / "results")
    kalah = str(only_run(tmp_path / "results"))
    for words, message in (
        ([kalah, "--games", "ggf"], "ggf holds games of Othello by the standard rule"),
        ([str(run), "--games", "pgm"], 'got "pgm"; did you mean "pgn"?'),
        ([str(run), "--tables", "pgn"], "--tables must be one of csv, markdown, latex"),
        ([str(run)], "nothing to write"),
        ([str(tmp_path), "--tables", "csv"], "is not a run's directory"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err


METHODS = """game = "kalah(3,2)"
pairs = 12
seed = 5
openings = { random_plies = 4 }
[stop.sprt]
elo0 = 0
elo1 = 50
[agents]
random = { kind = "random" }
deep = { kind = "alphabeta", depth = 3 }
"""


def test_the_methods_are_those_of_the_plan(run, tmp_path, capsys):
    assert main([str(run), "--methods", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert (tmp_path / "methods.md").read_text() == text
    stored = json.loads((run / "run.json").read_text())
    for words in (
        "2 agents played 10 games of othello(6) in 1 match.",
        "positions after 4 random plies",
        "Each match had 5 pairs of games, a number fixed beforehand",
        "random may use chance",
        "the seed 3",
        stored["digest"],
        stored["code"],
        f"Pitflip {stored['versions']['pitflip']}",
    ):
        assert words in text
    assert "sequential" not in text
    run_experiment_file(experiment_file(tmp_path, METHODS), tmp_path / "results")
    assert main([str(only_run(tmp_path / "results")), "--methods"]) == 0
    text = capsys.readouterr().out
    assert "Wald" in text
    assert "0 against 50 Elo" in text
    assert "fixed beforehand" not in text


def test_the_citation_has_the_version_of_the_package():
    root = Path(__file__).parents[2]
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text()
