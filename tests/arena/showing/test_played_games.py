"""The games of a report: the pieces of a table, however many there are."""

import numpy as np

from arena.report.data import load_game_table
from arena.storage import game_table
from tests.arena.running import directory_of, experiment_file, played, small

GREEDY = '[agents.greedy]\nkind = "greedy"\n'


def test_a_table_is_read_to_its_end_as_often_as_it_is_asked_for(tmp_path, monkeypatch):
    path, found = experiment_file(tmp_path, small(20) + GREEDY), []
    for rows in (16, 1 << 16):  # in three pieces, and in one
        monkeypatch.setattr(game_table, "CHUNK_ROWS", rows)
        played(path, tmp_path / str(rows))
        table = directory_of(tmp_path / str(rows)) / "games.parquet"
        games = load_game_table(table, ["random", "greedy"])
        assert [len(list(games.pieces())) for _ in range(2)] == [3 if rows == 16 else 1] * 2
        found.append(games.at(np.arange(games.size)))
    assert len(found[0].pair) == 40
    assert all(map(np.array_equal, *found))
