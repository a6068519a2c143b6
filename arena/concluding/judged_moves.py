"""The loss of every move of a run against perfect play, for the checks that need it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.concluding.solver_threads import SolverThreads
from arena.planning.game_pieces import Parts, pieces
from arena.planning.plan import Plan
from arena.planning.records import GameColumn, Games
from games import Game
from games.solving import SolverSettings
from games.solving.hopeless import usual_last
from games.solving.judged_lines import judge_of
from games.solving.judged_plies import (
    PLY,
    UNSIZED_NODES,
    JudgeLimits,
    Losses,
    Plies,
    losses_of,
)
from games.solving.solver import Solver
from games.transcripts import lines

TABLE_BITS = 20
AT_ONCE = 16  # games between which a solver forgets
MOST_NODES = 20_000_000  # of a question; those that take more are left open


@dataclass(frozen=True, slots=True)
class JudgedMoves:
    """The moves that agents chose in games that are not repeats, as columns.

    `row` and `ply` (from 0) say where each stands, `mover` whose it is, `opening` where its game
    began; `last` is from how many beans in play, or empty squares, on they were judged, None
    if nobody can say.
    """

    last: int | None
    row: NDArray[np.int64]
    ply: NDArray[np.int64]
    mover: NDArray[np.int16]
    opening: NDArray[np.int32]
    plies: Plies

    @property
    def columns(self) -> tuple[GameColumn, ...]:
        """What is known of each move, column by column."""
        return self.row, self.ply, self.mover, self.opening, self.plies

    @property
    def losses(self) -> Losses:
        """The loss of each move."""
        return losses_of(self.plies)


def judged_moves(
    plan: Plan,
    parts: Parts,
    repeat: NDArray[np.bool_],
    starts: Sequence[Sequence[int]],
    last: int,
    progress: Callable[[str], None],
) -> JudgedMoves:
    """Judge the games of a run whose moves are kept; a `last` of 0 means the usual one.

    Games are read some at a time: what stays of each is the loss of its moves.
    """
    of = plan.of
    usual = usual_last(of)
    reach = None if usual is None else last or usual
    limits = JudgeLimits(reach, UNSIZED_NODES if usual is None else MOST_NODES)
    threads = SolverThreads(of, SolverSettings(TABLE_BITS), progress)
    openings = np.array([len(start) for start in starts])
    at, found = 0, [_none(reach)]
    for piece in pieces(parts()):
        rows = np.flatnonzero(~repeat[at : at + len(piece)])
        found.append(_judged(of, piece, rows, at, openings, limits, threads))
        at += len(piece)
    columns = zip(*(each.columns for each in found), strict=True)
    return JudgedMoves(reach, *(np.concatenate(each) for each in columns))


def _none(reach: int | None) -> JudgedMoves:
    """No moves at all."""
    kinds = (np.int64, np.int64, np.int16, np.int32, PLY)
    return JudgedMoves(reach, *(np.empty(0, kind) for kind in kinds))


def _judged(
    of: Game,
    games: Games,
    rows: NDArray[np.int64],
    first: int,
    openings: NDArray[np.int64],
    limits: JudgeLimits,
    threads: SolverThreads,
) -> JudgedMoves:
    """The moves of some rows of these games, the first of which stands in row `first` of all."""
    assert games.moves is not None
    texts = lines(of, games.moves, games.plies)

    def work(solver: Solver, some: NDArray[np.int64]) -> list[Plies]:
        judge = judge_of(solver)
        return [judge.judged(texts[row], limits, None) for row in some]

    portions = [rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)]
    found = threads.results(work, portions, f"judging the moves in portions of {AT_ONCE} games")
    plies = np.concatenate([np.empty(0, PLY), *(each for part in found for each in part)])
    row = np.repeat(rows, games.plies[rows])
    ply = np.arange(len(row)) - np.repeat(np.cumsum(games.plies[rows]), games.plies[rows])
    ply += games.plies[row]
    passes = chosen_passes(games, rows, of.pass_move)
    kept = ~passes & (ply >= openings[games.opening[row]])
    seats = np.stack([games.first, games.second], axis=1)
    mover = seats[row, plies["player"]]
    row = row[kept]
    opening = games.opening[row]
    return JudgedMoves(limits.last, first + row, ply[kept], mover[kept], opening, plies[kept])


def chosen_passes(
    games: Games, rows: NDArray[np.int64], pass_move: int | None
) -> NDArray[np.bool_]:
    """Which moves of these games are forced passes."""
    assert games.moves is not None
    kept = np.zeros(len(games), np.bool_)
    kept[rows] = True
    moves = games.moves[np.repeat(kept, games.plies)]
    return np.asarray(moves == (-1 if pass_move is None else pass_move))
