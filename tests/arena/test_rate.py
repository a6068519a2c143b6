"""Rating results from outside: every kind of file, every kind of mistake, one line each."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.rate import main
from arena.stats import RATINGS
from games.names import listed


def written(directory: Path, name: str, text: str) -> str:
    path = directory / name
    path.write_text(text)
    return str(path)


def ratings(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, float]:
    assert main([*words, "--json", "--draws", "0"]) == 0
    said = json.loads(capsys.readouterr().out)
    return {row["agent"]: row["elo"] for row in said["ratings"]}


EVEN = "a,b,1\nb,a,1\na,b,0\nb,a,0\n"
STRONGER = "a,b,1\nb,a,0\na,b,1\nb,a,1\na,b,0\nb,a,0\n"


def test_a_csv_of_even_results_rates_both_alike(tmp_path, capsys):
    found = ratings(capsys, written(tmp_path, "x.csv", EVEN))
    assert found["a"] == pytest.approx(found["b"])


def test_whoever_wins_more_is_rated_higher(tmp_path, capsys):
    found = ratings(capsys, written(tmp_path, "x.csv", "first,second,result\n" + STRONGER))
    assert found["a"] > found["b"]


def test_words_for_results_mean_the_same(tmp_path, capsys):
    words = "a,b,1-0\nb,a,LOSS\na,b,win\nb,a,w\na,b,0-1\nb,a,l\n"
    same = ratings(capsys, written(tmp_path, "x.csv", STRONGER))
    assert ratings(capsys, written(tmp_path, "y.csv", words)) == same


def pgn(results: list[tuple[str, str, str]]) -> str:
    tags = '[Event "e"]\n[White "{}"]\n[Black "{}"]\n[Result "{}"]\n\n1. x {}\n\n'
    return "".join(tags.format(first, second, word, word) for first, second, word in results)


def test_pgn_tags_give_the_same_ratings_as_the_csv(tmp_path, capsys):
    games = [("a", "b", "1-0"), ("b", "a", "0-1"), ("a", "b", "1-0"), ("b", "a", "1-0")]
    games += [("a", "b", "0-1"), ("b", "a", "0-1"), ("a", "b", "*")]
    same = ratings(capsys, written(tmp_path, "x.csv", STRONGER))
    assert ratings(capsys, written(tmp_path, "x.pgn", pgn(games))) == same


def test_our_parquet_is_read_and_its_repeats_are_not(tmp_path, capsys):
    rows = [line.split(",") for line in STRONGER.split()]
    rows += [["b", "a", "1"]] * 50
    table = pa.table(
        {
            "first": [row[0] for row in rows],
            "second": [row[1] for row in rows],
            "result": [float(row[2]) for row in rows],
            "opening": list(range(len(rows))),
            "repeat": [False] * 6 + [True] * 50,
        }
    )
    pq.write_table(table, tmp_path / "games.parquet")
    same = ratings(capsys, written(tmp_path, "x.csv", STRONGER))
    assert ratings(capsys, str(tmp_path / "games.parquet")) == pytest.approx(same)


def test_an_anchor_is_held_at_zero(tmp_path, capsys):
    found = ratings(capsys, written(tmp_path, "x.csv", STRONGER), "--anchor", "b")
    assert found["b"] == 0.0
    assert found["a"] > 0.0


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("x.csv", "a,b,2\n", "x.csv:1: the first mover's result must be"),
        ("x.csv", "a,b,1\na,b\n", "x.csv:2: a line is first,second,result"),
        ("x.csv", "a,a,1\n", "x.csv:1: a game needs two different names"),
        ("x.csv", "", "no finished game was found"),
        ("x.txt", "a,b,1\n", "must end in .parquet, .csv or .pgn"),
        ("x.pgn", '[White "a"]\n[Result "1-0"]\n', "has no Black tag"),
        ("x.parquet", "nothing", "is not a games.parquet of pitflip"),
    ],
)
def test_a_mistake_is_told_in_one_line(tmp_path, capsys, name, text, told):
    assert main([written(tmp_path, name, text)]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1


def test_a_missing_file_and_an_unknown_anchor_are_told(tmp_path, capsys):
    assert main([str(tmp_path / "none.csv")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert main([written(tmp_path, "x.csv", "anna,bert,1\n"), "--anchor", "ana"]) == 2
    assert 'did you mean "anna"' in capsys.readouterr().err


def test_an_unknown_method_is_answered_with_those_there_are(tmp_path, capsys):
    assert main([written(tmp_path, "x.csv", STRONGER), "--method", "bradley"]) == 2
    assert f"--method must be one of {listed(RATINGS)}, got 'bradley'" in capsys.readouterr().err


def test_a_method_in_the_table_rates_by_its_name(tmp_path, capsys):
    words = written(tmp_path, "x.csv", STRONGER), "--draws", "0", "--json"
    assert all(main([*words, "--method", method]) == 0 for method in RATINGS)


def test_too_few_draws_are_refused_in_one_line(tmp_path, capsys):
    assert main([written(tmp_path, "x.csv", STRONGER), "--draws", "99"]) == 2
    assert "--draws must be 0 or from 100 to 100000, got 99" in capsys.readouterr().err


def test_the_table_is_for_people(tmp_path, capsys):
    assert main([written(tmp_path, "x.csv", STRONGER)]) == 0
    said = capsys.readouterr().out
    assert "first move" in said
    assert "nan" not in said
