"""What each agent lost: perfect moves by stage of the game, results thrown away."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.analysis.move_losses.judge import JudgeResult
from arena.analysis.move_losses.run_lines import RunLines
from arena.analysis.move_losses.table import AgentMoves, agent_moves
from games.solving.move_losses import losses_of

WORST = 5  # of each agent
# The last numbers of beans in play, or of empty squares, of the stages of a game.
BEANS = (12, 18, 24, 28, 32, 36, 40, 44, 48)
SQUARES = (4, 8, 10, 12, 14, 16, 18, 20, 24)


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


def worst_moves(
    judgement: JudgeResult, moves: AgentMoves, rows: NDArray[np.int64]
) -> Iterator[Blunder]:
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
            best_move_text(judgement, game, ply),
            int(moves.plies["low"][row]),
            int(moves.plies["after"][row]),
            words[: ply + 1],
        )


def best_move_text(judgement: JudgeResult, game: int, ply: int) -> str | None:
    """A best move as it is written; None if it was not looked for to the end."""
    run = judgement.run
    line = int(run.line_of[game])
    best = int(judgement.plies[line]["best"][ply])
    if best < 0:
        return None
    before = run.of.replay(" ".join(run.words[line][:ply]))[-1]
    return run.of.move_text(before, best)


@dataclass(frozen=True, slots=True)
class StageLosses:
    """The moves of an agent while so much was left: how many, and of those that are known."""

    first: int
    last: int
    moves: int
    judged: int
    results: int  # judged, at least by result
    perfect: int
    loss: int  # the sum of all that was lost in margin
    thrown_away: int  # moves that turned a win or a draw into less
    rescued: int  # results that the opponent threw away

    @property
    def words(self) -> str:
        """Such as `13-18`."""
        return f"{self.first}-{self.last}" if self.last > self.first else f"{self.last}"


@dataclass(frozen=True, slots=True)
class AgentLosses:
    """All that was judged of one agent; repeats of games are left out."""

    agent: str
    stages: tuple[StageLosses, ...]
    wins_thrown_away: int  # turned into a draw or a loss
    draws_thrown_away: int
    blunders: tuple[Blunder, ...]

    def total(self, name: str) -> int:
        """The sum of a count over the stages."""
        return sum(getattr(stage, name) for stage in self.stages)


def agent_losses(judgement: JudgeResult) -> list[AgentLosses]:
    """What each agent lost, in the order of the plan."""
    moves = agent_moves(judgement)
    edges = stage_ends(judgement.run, moves)
    return [
        losses_of_agent(judgement, moves, place, edges)
        for place in range(len(judgement.run.plan.names))
    ]


def stage_ends(run: RunLines, moves: AgentMoves) -> Sequence[int]:
    """The last number of each stage; one stage where nothing is counted."""
    if run.of.pack not in ("sowing", "othello"):
        return (0,)
    most = int(moves.plies["left"].max(initial=0))
    ends = SQUARES if run.of.pack == "othello" else BEANS
    inside = [end for end in ends if end < most]
    while inside and inside[-1] >= ends[-1] and inside[-1] + ends[-1] // 4 < most:
        inside.append(inside[-1] + ends[-1] // 4)
    return (*inside, most)


def losses_of_agent(
    judgement: JudgeResult, moves: AgentMoves, agent: int, ends: Sequence[int]
) -> AgentLosses:
    """What one agent lost."""
    own, against = moves.mover == agent, moves.opponent == agent
    found, plies = losses_of(moves.plies), moves.plies
    thrown = found.result > 0
    stage_of = np.searchsorted(ends, plies["left"])
    stages = []
    for place, end in enumerate(ends):
        here = own & (stage_of == place)
        judged = here & found.known
        stages.append(
            StageLosses(
                ends[place - 1] + 1 if place else min(1, end),
                end,
                int(here.sum()),
                int(judged.sum()),
                int((here & found.result_known).sum()),
                int((judged & (found.margin == 0)).sum()),
                int(found.margin[judged].sum()),
                int((here & thrown).sum()),
                int((against & (stage_of == place) & thrown).sum()),
            )
        )
    won = plies["low"] > 0
    return AgentLosses(
        judgement.run.plan.names[agent],
        tuple(stages),
        int((own & thrown & won).sum()),
        int((own & thrown & ~won).sum()),
        tuple(
            worst_moves(judgement, moves, np.flatnonzero(own & found.known & (found.margin > 0)))
        ),
    )
