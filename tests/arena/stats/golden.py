"""Reader of the golden numbers."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from arena.stats.rating_data import RatingData, rating_data

_FOLDER = Path(__file__).parents[2] / "golden" / "statistics"


def golden(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))


def results_of(rows: list[list[Any]], openings: int | None = None) -> tuple[RatingData, list[str]]:
    """Results of rows first, second, wins, draws, losses; by default each game has its opening."""
    names = sorted({row[0] for row in rows} | {row[1] for row in rows})
    first, second, scores, opening = [], [], [], []
    for one, other, *counts in rows:
        of_row = 0
        for score, count in zip((1.0, 0.5, 0.0), counts, strict=True):
            for _ in range(count):
                first.append(names.index(one))
                second.append(names.index(other))
                scores.append(score)
                opening.append(len(opening) if openings is None else of_row % openings)
                of_row += 1
    return rating_data(first, second, scores, np.array(opening), len(names)), names
