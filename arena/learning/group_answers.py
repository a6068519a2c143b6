"""Which groups of tables matter: each is left out in turn, on held-out games and by match."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.learning.round_match import RoundMatch
from arena.stats.clustered_means import MeanError, mean_by_game
from arena.stats.estimate import Estimate

Z_95 = 1.96


class GroupWord(StrEnum):
    """What may be said of a group of tables, or of a feature."""

    MATTERS = "matters"
    UNTOLD = "cannot be told"
    LITTLE = "does not matter here"


class GroupAnswer(NamedTuple):
    """A group that was left out: what held-out games lost, what the match said, what follows."""

    group: str
    worse: MeanError  # of the squared error of a held-out position
    match: RoundMatch  # without it, against all
    answer: GroupWord

    def to_json(self) -> dict[str, object]:
        """The answer as JSON holds it."""
        return {
            "group": self.group,
            "squared_error": round(self.worse.value, 4),
            "error_by_game": round(self.worse.by_game, 4),
            "match": self.match.to_json(),
            "answer": str(self.answer),
        }

    @property
    def line(self) -> str:
        """The answer in a line."""
        return (
            f"without {self.group}: squared error {self.worse.value:+.2f} "
            f"± {Z_95 * self.worse.by_game:.2f}, {self.match.text}: {self.answer}"
        )


def answer_of(worse: MeanError, elo: Estimate, little: float) -> GroupWord:
    """What both say together.

    A group matters where play without it is weaker. It does not matter only where held-out games
    are predicted as well without it, and the whole interval of the match is within `little` Elo.
    """
    low = -np.inf if elo.low is None else elo.low
    high = np.inf if elo.high is None else elo.high
    if high < 0.0:
        return GroupWord.MATTERS
    as_good = worse.value <= Z_95 * worse.by_game
    return GroupWord.LITTLE if as_good and -little < low and high < little else GroupWord.UNTOLD


def group_answers(
    names: tuple[str, ...],
    errors: NDArray[np.float64],
    games: NDArray[np.int32],
    without: Callable[[str], tuple[NDArray[np.float64], RoundMatch]],
    little: float,
) -> Iterator[GroupAnswer]:
    """An answer for every group; `errors` are the squared ones with all of them.

    `without` fits and plays without one group: its squared errors, its match against all.
    """
    for name in names if len(names) > 1 else ():
        left, match = without(name)
        worse = mean_by_game(left - errors, games)
        yield GroupAnswer(name, worse, match, answer_of(worse, match.elo, little))
