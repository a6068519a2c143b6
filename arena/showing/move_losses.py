"""What moves lost under perfect play, where a judge has looked: read back from its tables."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.keeping import parquet
from arena.planning.records import GameColumn
from arena.stats.clusters import spread
from arena.stats.quantiles import t_quantile
from games.keys import KeyValues

MOVES, JUDGEMENT = "moves.parquet", "judgement.json"
COLUMNS = (
    "game",
    "ply",
    "mover",
    "opening",
    "left",
    "after",
    "loss",
    "result_loss",
    "best",
    "known",
)
LEVEL = 0.95
USUAL = 0.6  # of all margins: the quantile that fills half of a bar
Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]


class MoveLosses(NamedTuple):
    """The judged moves of a run as columns, in the order of its games; losses are margins."""

    game: Numbers
    ply: Numbers
    mover: GameColumn
    opening: NDArray[np.bool_]
    left: Numbers
    after: Reals
    loss: Reals
    result_loss: Reals
    best: GameColumn
    known: NDArray[np.bool_]
    judgement: KeyValues

    @property
    def usual(self) -> float:
        """A margin of usual size."""
        sizes = np.abs(self.after[self.known])
        return max(float(np.quantile(sizes, USUAL)), 1.0) if len(sizes) else 1.0

    def of_game(self, number: int) -> slice:
        """The moves of a game."""
        first, last = np.searchsorted(self.game, (number, number + 1))
        return slice(int(first), int(last))


class MeanLoss(NamedTuple):
    """A mean with its interval, clustered by openings; None where nothing is known."""

    moves: int
    mean: float | None
    low: float | None
    high: float | None


def stored_losses(directory: Path) -> MoveLosses | None:
    """What the judge of a run has found; None if nobody has judged it."""
    path = directory / MOVES
    if not path.exists():
        return None
    columns = parquet.read_columns(path, COLUMNS)
    judgement = json.loads((directory / JUDGEMENT).read_text())
    return MoveLosses(judgement=judgement, **columns)


def mean_loss(losses: MoveLosses, rows: NDArray[np.bool_], openings: Numbers) -> MeanLoss:
    """The mean loss of some known moves; `openings` are those of the games."""
    values = losses.loss[rows]
    if not len(values):
        return MeanLoss(0, None, None, None)
    largest = max(float(values.max()), 1.0)
    found = spread(openings[losses.game[rows]], values / largest)
    mean = found.mean * largest
    if found.openings < 2 or found.se == 0.0:
        return MeanLoss(len(values), mean, None, None)
    reach = t_quantile(0.5 + LEVEL / 2, max(found.dof, 1.0)) * found.se * largest
    return MeanLoss(len(values), mean, max(mean - reach, 0.0), mean + reach)
