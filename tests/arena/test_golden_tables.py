"""The shipped experiments, small: the tables they gave when they were last looked at.

To write them anew after a change that alters numbers (say so in CHANGELOG.md):
python -m tests.arena.test_golden_tables
"""

import csv
import io
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.commands import run, tune

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "experiments"
EXPERIMENTS = sorted(path.stem for path in (ROOT / "experiments").glob("*.toml"))
# Enough games for every kind of row, few enough for a second; None: as it stands in the file.
PAIRS = {
    "classroom_riddle": 4,
    "classroom_twins": None,
    "owari_tournament": None,
    "smart_vs_bad": 40,
    "othello_greedy_vs_random": 40,
    "kalah_ladder": 2,
    "own_bot": 10,
}
FEW = 4
# One of each sort is played in the default suite: a check, a bot, a game of a user's with an
# evaluation, many agents, a tournament, a study.
DEFAULT = {
    "tuned_kalah", "own_bot", "connect4", "othello_heuristics", "owari_tournament",
    "tune_owari",
}  # fmt: skip
STUDY = ("tune.trials=25", "tune.games=20", "tune.validation.elo1=200", "tune.validation.pairs=60")
TIMES = {"seconds"}
LEFT_OUT = {"timings"}  # clocks
DIGITS = 9


def tables_of(name: str, results: Path) -> dict[str, str]:
    """The reproducible tables of a shipped experiment as text."""
    file, study = ROOT / "experiments" / f"{name}.toml", name.startswith("tune_")
    if study:  # its weights are written beside the file
        file = Path(shutil.copy(file, results))
    pairs = PAIRS.get(name, FEW)
    words = [str(file), "--results", str(results), "--quiet", "--workers", "0"]
    command = tune if study else run
    changes = STUDY if study else (f"pairs={pairs}",) if pairs else ()
    for change in changes:
        words += ["--set", change]
    assert command(words) in (0, 1)
    paths = sorted(results.rglob("sweep.parquet")) or sorted(results.rglob("*.parquet"))
    return {path.stem: as_text(path) for path in paths if path.stem not in LEFT_OUT}


def as_text(path: Path) -> str:
    """A parquet table as CSV: names, types, then the rows."""
    table = pq.read_table(path)
    names = [name for name in table.column_names if name not in TIMES]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerow([str(table.schema.field(name).type) for name in names])
    writer.writerows(zip(*(rounded(table[name].to_pylist()) for name in names), strict=True))
    return out.getvalue()


def rounded(values: list) -> list:
    """The values of a column, real ones to so many digits."""
    return [float(f"{x:.{DIGITS}g}") if isinstance(x, float) else x for x in values]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in DEFAULT)) for name in EXPERIMENTS],
)
def test_a_shipped_experiment_gives_the_tables_it_gave(name, tmp_path, capsys):
    golden = {path.stem: path.read_text() for path in (GOLDEN / name).glob("*.csv")}
    assert tables_of(name, tmp_path) == golden


def test_the_riddle_has_the_answer_of_its_source_text(tmp_path, capsys):
    """The final margins of South for a player of 1 to 8 plies that meets itself."""
    games = list(csv.DictReader(io.StringIO(tables_of("classroom_twins", tmp_path)["games"])))[1:]
    margins = [int(row["margin"]) for row in games]
    assert margins[::2] == margins[1::2] == [6, 0, -6, 0, 20, 20, 22, 14]


if __name__ == "__main__":
    for experiment in sys.argv[1:] or EXPERIMENTS:
        (GOLDEN / experiment).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            for table, text in tables_of(experiment, Path(scratch)).items():
                (GOLDEN / experiment / f"{table}.csv").write_text(text)
