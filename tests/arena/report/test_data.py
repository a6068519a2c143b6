"""The games of a report: chunks of a table, and the notable games of a page."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arena.report.data import load_game_table
from arena.report.games import LAST, SmallestRows
from arena.storage import game_table
from tests.arena.running import experiment_file, only_run, run_experiment_file, small

GREEDY = '[agents.greedy]\nkind = "greedy"\n'
chunks = st.lists(st.lists(st.sampled_from([-3, 0, 1, 2, LAST]), max_size=9), max_size=6)


def test_a_game_table_is_read_again_in_any_chunks(tmp_path, monkeypatch):
    path, found = experiment_file(tmp_path, small(20) + GREEDY), []
    for rows in (16, 1 << 16):  # in three pieces, and in one
        monkeypatch.setattr(game_table, "CHUNK_ROWS", rows)
        run_experiment_file(path, tmp_path / str(rows))
        table = only_run(tmp_path / str(rows)) / "games.parquet"
        games = load_game_table(table, ["random", "greedy"])
        assert [len(list(games.chunks())) for _ in range(2)] == [3 if rows == 16 else 1] * 2
        found.append(games.take(np.arange(games.size)))
    assert len(found[0].pair) == 40
    assert all(map(np.array_equal, *found))


@given(chunks, st.integers(1, 8))
def test_smallest_rows_equal_a_sort(chunks, most):
    least, numbers = SmallestRows(most), [number for chunk in chunks for number in chunk]
    start = 0
    for chunk in chunks:
        least.add(start, np.array(chunk, np.int64))
        start += len(chunk)
    places = [place for place, number in enumerate(numbers) if number < LAST]
    assert least.rows.tolist() == sorted(places, key=lambda place: numbers[place])[:most]
