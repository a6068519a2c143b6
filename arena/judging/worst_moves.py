"""The worst moves of an agent: what it played, what it should have played, and what that cost."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.judging.chosen_moves import Moves
from arena.judging.judgement import Judgement
from games.solving.judged_plies import losses_of

WORST = 5  # of each agent


@dataclass(frozen=True, slots=True)
class Blunder:
    """A move that lost much: the game, the ply from 1, what it was worth and what it left."""

    game: int
    ply: int
    move: str
    best: str | None
    value: int
    after: int
    line: tuple[str, ...]  # up to the move

    @property
    def loss(self) -> int:
        """In margin."""
        return self.value - self.after


def worst(judgement: Judgement, moves: Moves, rows: NDArray[np.int64]) -> Iterator[Blunder]:
    """The worst of some moves: results first, then margins, then the first game."""
    run, found = judgement.run, losses_of(moves.plies)
    order = np.lexsort(
        (moves.ply[rows], moves.game[rows], -found.margin[rows], -found.result[rows])
    )
    for row in rows[order[:WORST]]:
        game, ply = int(moves.game[row]), int(moves.ply[row])
        words = run.words[int(run.line_of[game])]
        yield Blunder(
            game,
            ply + 1,
            words[ply],
            best_text(judgement, game, ply),
            int(moves.plies["low"][row]),
            int(moves.plies["after"][row]),
            words[: ply + 1],
        )


def best_text(judgement: Judgement, game: int, ply: int) -> str | None:
    """A best move as it is written; None if it was not looked for to the end."""
    run = judgement.run
    line = int(run.line_of[game])
    best = int(judgement.plies[line]["best"][ply])
    if best < 0:
        return None
    before = run.of.replay(" ".join(run.words[line][:ply]))[-1]
    return run.of.move_text(before, best)
