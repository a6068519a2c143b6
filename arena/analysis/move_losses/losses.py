"""The losses of each agent by stage of the game, its worst moves, and moves.parquet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.analysis.move_losses.judge import JudgeResult
from arena.analysis.move_losses.run_lines import RunLines
from arena.storage.parquet import Column, dictionary_column, numbers_where, write_columns
from games.solving.move_losses import NO_MOVE, PLY, UNKNOWN, Plies, is_exact_margin, losses_by_ply
from games.transcripts import move_texts_by_side

MAX_BLUNDERS = 5  # of each agent
# The last numbers of beans in play, or of empty squares, of the stages of a game.
BEANS = (12, 18, 24, 28, 32, 36, 40, 44, 48)
SQUARES = (4, 8, 10, 12, 14, 16, 18, 20, 24)
MOVES = "moves.parquet"
GAMES_AT_ONCE = 1024
MOVE_COLUMNS = {
    "game": "int64",
    "ply": "int32",
    "mover": "int16 words",
    "opening": "bool",
    "move": "int16 words",
    "left": "int16",
    "choices": "int16",
    "value": "int32",
    "best": "int16 words",
    "after": "int32",
    "loss": "int32",
    "result_loss": "int8",
    "known": "bool",
    "exact": "bool",
    "low": "int32",
    "high": "int32",
}


@dataclass(frozen=True, slots=True)
class AgentMoves:
    """Every move that an agent chose in games without repeats, as columns."""

    game: NDArray[np.int64]
    ply: NDArray[np.int64]
    mover: NDArray[np.int16]
    opponent: NDArray[np.int16]
    plies: Plies


def agent_moves(judgement: JudgeResult) -> AgentMoves:
    """Return the moves of all games, without openings, passes and repeats."""
    run = judgement.run
    lengths = np.array([len(words) for words in run.move_texts], np.int64)[run.line_of]
    game = np.repeat(np.arange(len(run.line_of)), lengths)
    begins = np.cumsum(lengths) - lengths
    ply = np.arange(len(game)) - begins[game]
    plies = np.concatenate([judgement.plies[0][:0], *(judgement.plies[at] for at in run.line_of)])
    kept = ~run.repeat[game] & (ply >= run.opening_plies[game])
    if run.game.pass_move is not None:
        passes = run.game.move_text(run.game.start(), run.game.pass_move)
        is_pass = np.array(
            [w == passes for at in run.line_of for w in run.move_texts[at]], np.bool_
        )
        kept &= ~is_pass
    game, ply, plies = game[kept], ply[kept], plies[kept]
    mover = run.seats[game, plies["player"]]
    return AgentMoves(game, ply, mover, run.seats[game, 1 - plies["player"]], plies)


@dataclass(frozen=True, slots=True)
class Blunder:
    """A move with a large loss: the game, the ply from 1, the value before and after it."""

    game: int
    ply: int
    move: str
    best: str | None
    value: int
    after: int
    line: tuple[str, ...]  # up to the move

    @property
    def loss(self) -> int:
        """Return the loss in margin."""
        return self.value - self.after


def worst_moves(
    judgement: JudgeResult, moves: AgentMoves, rows: NDArray[np.int64]
) -> Iterator[Blunder]:
    """Yield the worst of some moves: by result, then by margin, then the first game."""
    run, found = judgement.run, losses_by_ply(moves.plies)
    order = np.lexsort(
        (moves.ply[rows], moves.game[rows], -found.margin[rows], -found.result[rows])
    )
    for row in rows[order[:MAX_BLUNDERS]]:
        game, ply = int(moves.game[row]), int(moves.ply[row])
        words = run.move_texts[int(run.line_of[game])]
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
    """Return a best move as text; None if the search for it was incomplete."""
    run = judgement.run
    line = int(run.line_of[game])
    best = int(judgement.plies[line]["best"][ply])
    if best < 0:
        return None
    before = run.game.replay(" ".join(run.move_texts[line][:ply]))[-1]
    return run.game.move_text(before, best)


@dataclass(frozen=True, slots=True)
class StageLosses:
    """The moves of an agent in one stage of the game, and the losses of those that were judged."""

    first: int
    last: int
    moves: int
    judged: int
    results: int  # judged at least by result
    perfect: int
    loss: int  # sum of the losses in margin
    thrown_away: int  # moves that turned a win or a draw into a worse result
    rescued: int  # results that the opponent threw away

    @property
    def label(self) -> str:
        """Return the stage as `13-18`."""
        return f"{self.first}-{self.last}" if self.last > self.first else f"{self.last}"


@dataclass(frozen=True, slots=True)
class AgentLosses:
    """The judged moves of one agent, without repeated games."""

    agent: str
    stages: tuple[StageLosses, ...]
    wins_thrown_away: int  # turned into a draw or a loss
    draws_thrown_away: int
    blunders: tuple[Blunder, ...]

    def total(self, name: str) -> int:
        """Return the sum of a count over the stages."""
        return sum(getattr(stage, name) for stage in self.stages)


def agent_losses(judgement: JudgeResult) -> list[AgentLosses]:
    """Return the losses of each agent, in the order of the plan."""
    moves = agent_moves(judgement)
    edges = stage_ends(judgement.run, moves)
    return [
        losses_by_stage(judgement, moves, place, edges)
        for place in range(len(judgement.run.plan.names))
    ]


def stage_ends(run: RunLines, moves: AgentMoves) -> Sequence[int]:
    """Return the last number of each stage; one stage if the game counts nothing."""
    if run.game.pack not in ("sowing", "othello"):
        return (0,)
    most = int(moves.plies["left"].max(initial=0))
    ends = SQUARES if run.game.pack == "othello" else BEANS
    inside = [end for end in ends if end < most]
    while inside and inside[-1] >= ends[-1] and inside[-1] + ends[-1] // 4 < most:
        inside.append(inside[-1] + ends[-1] // 4)
    return (*inside, most)


def losses_by_stage(
    judgement: JudgeResult, moves: AgentMoves, agent: int, ends: Sequence[int]
) -> AgentLosses:
    """Return the losses of one agent."""
    own, against = moves.mover == agent, moves.opponent == agent
    found, plies = losses_by_ply(moves.plies), moves.plies
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


def write_moves(judgement: JudgeResult, path: Path) -> None:
    """Write one row per move, in the order of the games."""
    run = judgement.run
    provenance = run.source | {"judged_to": judgement.last, "complete": judgement.complete}
    write_columns(path, MOVE_COLUMNS, move_chunks(judgement), provenance)


def move_chunks(judgement: JudgeResult) -> Iterator[Mapping[str, Column]]:
    """Yield the columns of some games at a time."""
    run = judgement.run
    texts = MoveTexts(judgement)
    for begin in range(0, len(run.line_of), GAMES_AT_ONCE):
        games = range(begin, min(begin + GAMES_AT_ONCE, len(run.line_of)))
        yield move_columns(judgement, games, texts)


class MoveTexts:
    """The texts of moves, by their places in one list."""

    def __init__(self, judgement: JudgeResult) -> None:
        by_side = move_texts_by_side(judgement.run.game)
        known = {word for side in by_side for word in side}
        known |= {word for line in judgement.run.move_texts for word in line}
        self.texts = sorted(known)
        self.place = {word: at for at, word in enumerate(self.texts)}
        # An unknown move has the number -1, the last of the row, which has no text.
        self.of_move = np.array(
            [[*(self.place[word] for word in side), NO_MOVE] for side in by_side], np.int16
        )

    def places_of(self, line: tuple[str, ...]) -> list[int]:
        """Return the places of the moves of a line."""
        return [self.place[word] for word in line]


def move_columns(judgement: JudgeResult, games: range, texts: MoveTexts) -> dict[str, Column]:
    """Return the columns of these games."""
    run = judgement.run
    lines = [int(run.line_of[game]) for game in games]
    plies = np.concatenate([np.empty(0, PLY), *(judgement.plies[line] for line in lines)])
    lengths = [len(judgement.plies[line]) for line in lines]
    ply = np.concatenate([np.arange(length) for length in lengths] or [np.empty(0, np.int64)])
    row = np.repeat(np.array(games), lengths)
    found, low, high = losses_by_ply(plies), plies["low"], plies["high"]
    exact = (low == high) & (low != UNKNOWN)
    played = [place for line in lines for place in texts.places_of(run.move_texts[line])]
    return {
        "game": row,
        "ply": ply + 1,
        "mover": dictionary_column(run.seats[row, plies["player"]], run.plan.names),
        "opening": ply < run.opening_plies[row],
        "move": dictionary_column(np.array(played, np.int16), texts.texts),
        "left": plies["left"],
        "choices": plies["choices"],
        "value": numbers_where(low, exact),
        "best": dictionary_column(texts.of_move[plies["side"], plies["best"]], texts.texts),
        "after": numbers_where(plies["after"], is_exact_margin(plies["after"])),
        "loss": numbers_where(found.margin, found.known),
        "result_loss": numbers_where(found.result, found.result_known),
        "known": found.known,
        "exact": exact,
        "low": numbers_where(low, low != UNKNOWN),
        "high": numbers_where(high, high != UNKNOWN),
    }
