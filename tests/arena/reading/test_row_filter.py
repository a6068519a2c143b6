"""Conditions on rows: they find the rows that pandas finds, and a wrong one is one line."""

import pandas as pd
import pytest

from arena.commands.rate import main
from arena.reading.row_filter import parsed, rows_where
from games.base.errors import Mistake

TABLE = pd.DataFrame(
    {
        "first": ["ann", "bob", "ann", "cy"],
        "second": ["bob", "ann", "cy", "ann"],
        "result": [1.0, 0.5, 0.0, 1.0],
        "opening": [0, 0, 1, 1],
        "plies": [41, 40, 12, 90],
        "margin": [3, 0, -4, 8],
        "repeat": [False, False, True, False],
    }
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "games.parquet"
    TABLE.to_parquet(path)
    return path


@pytest.mark.parametrize(
    "condition",
    [
        "plies > 40",
        "12 < plies <= 41",
        "first == 'ann' and not repeat",
        "margin <= -4 or (result == 0.5 and second != 'cy')",
        "not (plies >= 40)",
        "repeat",
    ],
)
def test_a_condition_finds_the_rows_that_pandas_finds(condition, table):
    assert rows_where(parsed(condition), table).tolist() == TABLE.eval(condition).tolist()


@pytest.mark.parametrize(
    "condition",
    ["", "plies", "plies > first", "plies >", "open('x')", "plies + 1 > 2", "first.x == 1",
     "[plies]", "plies if repeat else 1", "plies in (1, 2)", "plies > 10**9", "f'{plies}' == '1'",
     "plies > None", "(" * 400, "not 3", "repeat > 'x'", "plis > 40", "a" * 2000],
)  # fmt: skip
def test_what_is_no_condition_is_one_line(condition, table):
    with pytest.raises(Mistake) as failed:
        rows_where(parsed(condition), table)
    assert "\n" not in str(failed.value)
    assert str(failed.value).startswith("--where")


def test_a_column_that_is_not_there_is_told_with_all_and_the_nearest(table):
    with pytest.raises(Mistake, match=r'no column "plis" .*first, second.*did you mean "plies"'):
        rows_where(parsed("plis > 40"), table)


def test_ratings_are_of_the_rows_that_count(table, capsys):
    assert main([str(table), "--where", "plies >= 40", "--json", "--draws", "0"]) == 0
    assert '"games": 3' in capsys.readouterr().out
    assert main([str(table), "--where", "plies > 400"]) == 2
    assert "no finished game was found with plies > 400" in capsys.readouterr().err


def test_other_peoples_files_have_no_columns_to_ask(tmp_path, capsys):
    path = tmp_path / "games.csv"
    path.write_text("first,second,result\nann,bob,1\n")
    assert main([str(path), "--where", "plies > 4"]) == 2
    assert "--where asks columns of games.parquet" in capsys.readouterr().err
