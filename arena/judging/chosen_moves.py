"""The moves that agents chose in the games of a run, as columns, judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.judging.judgement import Judgement
from games.solving.judged_plies import Plies


@dataclass(frozen=True, slots=True)
class Moves:
    """Every move that an agent chose in a game that is no repeat, as columns."""

    game: NDArray[np.int64]
    ply: NDArray[np.int64]
    mover: NDArray[np.int16]
    opponent: NDArray[np.int16]
    plies: Plies


def all_moves(judgement: Judgement) -> Moves:
    """The moves of all games, openings, passes and repeats left out."""
    run = judgement.run
    lengths = np.array([len(words) for words in run.words], np.int64)[run.line_of]
    game = np.repeat(np.arange(len(run.line_of)), lengths)
    begins = np.cumsum(lengths) - lengths
    ply = np.arange(len(game)) - begins[game]
    plies = np.concatenate([judgement.plies[0][:0], *(judgement.plies[at] for at in run.line_of)])
    kept = ~run.repeat[game] & (ply >= run.opening_plies[game])
    if run.of.pass_move is not None:
        passes = run.of.move_text(run.of.start(), run.of.pass_move)
        is_pass = np.array([w == passes for at in run.line_of for w in run.words[at]], np.bool_)
        kept &= ~is_pass
    game, ply, plies = game[kept], ply[kept], plies[kept]
    mover = run.seats[game, plies["player"]]
    return Moves(game, ply, mover, run.seats[game, 1 - plies["player"]], plies)
