"""The games of several runs as one list with their moves; in words, why other files make none."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.pipeline.external_games import GivenScale
from arena.report.data import GameColumns, PlayedGames, games_here
from arena.storage import parquet
from arena.storage.run_file import NotARun, stored_plan
from games import Game
from games.base.errors import printable
from games.base.text import listed

NUMBERS = ("margin", "plies")
ENDING = "termination"
Ints = NDArray[np.int64]


class Gathered(NamedTuple):
    """All games; what they are games of, or why they cannot be shown one by one."""

    games: PlayedGames
    of: Game | None
    unlisted: str


def gathered_games(columns: GameColumns, scale: GivenScale, files: Sequence[Path]) -> Gathered:
    """The games with margin, length, end and moves, if all come from runs of ours."""
    bare = games_here(scale.names, ("normal",), columns)
    others = [file for file in files if not (file.parent / "run.json").exists()]
    if others or None in scale.places:
        names = listed(printable(file.name) for file in others or files)
        why = f"The games are not listed: only runs keep their moves, and {names} is no run's."
        return Gathered(bare, None, why)
    try:
        of = stored_plan(files[0].parent).of
        return Gathered(_with_tables(columns, scale, files), of, "")
    except (NotARun, parquet.TableError) as error:
        return Gathered(bare, None, f"The games are not listed: {error}.")


def _with_tables(columns: GameColumns, scale: GivenScale, files: Sequence[Path]) -> PlayedGames:
    file, row = (np.array(each, np.int64) for each in zip(*filter(None, scale.places), strict=True))
    words = list(dict.fromkeys(word for path in files for word in parquet.words_of(path, ENDING)))
    found = {name: np.zeros(len(file), np.int64) for name in (*NUMBERS, ENDING)}
    for place, path in enumerate(files):
        own, pieces = file == place, list(parquet.read_pieces(path, NUMBERS, {ENDING: words}))
        for name, values in found.items():
            values[own] = np.concatenate([piece[name] for piece in pieces])[row[own]]

    def texts(name: str, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of some games, each from its own table; None where they were not kept."""
        asked, answer = np.array(rows, np.int64), np.full(len(rows), None, object)
        for place, path in enumerate(files):
            own = file[asked] == place
            lines = parquet.read_texts(path, name, row[asked[own]].tolist())
            answer[own] = [None] * int(own.sum()) if lines is None else lines
        return list(answer)

    whole = columns._replace(margin=found["margin"], plies=found["plies"], ending=found[ENDING])
    return games_here(scale.names, words, whole)._replace(texts=texts)
