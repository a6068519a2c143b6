"""The judged moves of a run as a table: one row a move."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.analysis.move_losses.judge import JudgeResult
from arena.storage.parquet import Column, dictionary_column, where, write_columns
from games.solving.move_losses import NO_MOVE, PLY, UNKNOWN, Plies, is_margin, losses_of
from games.transcripts import move_texts_by_side

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
    """Every move that an agent chose in a game that is no repeat, as columns."""

    game: NDArray[np.int64]
    ply: NDArray[np.int64]
    mover: NDArray[np.int16]
    opponent: NDArray[np.int16]
    plies: Plies


def agent_moves(judgement: JudgeResult) -> AgentMoves:
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
    return AgentMoves(game, ply, mover, run.seats[game, 1 - plies["player"]], plies)


def write_moves(judgement: JudgeResult, path: Path) -> None:
    """One row a move, in the order of the games."""
    run = judgement.run
    provenance = run.source | {"judged_to": judgement.last, "complete": judgement.complete}
    write_columns(path, MOVE_COLUMNS, move_chunks(judgement), provenance)


def move_chunks(judgement: JudgeResult) -> Iterator[Mapping[str, Column]]:
    """The columns of some games at a time."""
    run = judgement.run
    texts = Texts(judgement)
    for begin in range(0, len(run.line_of), GAMES_AT_ONCE):
        games = range(begin, min(begin + GAMES_AT_ONCE, len(run.line_of)))
        yield move_columns(judgement, games, texts)


class Texts:
    """The words of moves, by their places in one list."""

    def __init__(self, judgement: JudgeResult) -> None:
        """All words that this run has, and those that its best moves may have."""
        by_side = move_texts_by_side(judgement.run.of)
        known = {word for side in by_side for word in side}
        known |= {word for line in judgement.run.words for word in line}
        self.words = sorted(known)
        self.place = {word: at for at, word in enumerate(self.words)}
        # A move that nobody knows has the number -1: the last of the row, which is no word.
        self.of_move = np.array(
            [[*(self.place[word] for word in side), NO_MOVE] for side in by_side], np.int16
        )

    def played(self, line: tuple[str, ...]) -> list[int]:
        """The places of the words of a line."""
        return [self.place[word] for word in line]


def move_columns(judgement: JudgeResult, games: range, texts: Texts) -> dict[str, Column]:
    """The columns of these games."""
    run = judgement.run
    lines = [int(run.line_of[game]) for game in games]
    plies = np.concatenate([np.empty(0, PLY), *(judgement.plies[line] for line in lines)])
    lengths = [len(judgement.plies[line]) for line in lines]
    ply = np.concatenate([np.arange(length) for length in lengths] or [np.empty(0, np.int64)])
    row = np.repeat(np.array(games), lengths)
    found, low, high = losses_of(plies), plies["low"], plies["high"]
    exact = (low == high) & (low != UNKNOWN)
    played = [place for line in lines for place in texts.played(run.words[line])]
    return {
        "game": row,
        "ply": ply + 1,
        "mover": dictionary_column(run.seats[row, plies["player"]], run.plan.names),
        "opening": ply < run.opening_plies[row],
        "move": dictionary_column(np.array(played, np.int16), texts.words),
        "left": plies["left"],
        "choices": plies["choices"],
        "value": where(low, exact),
        "best": dictionary_column(texts.of_move[plies["side"], plies["best"]], texts.words),
        "after": where(plies["after"], is_margin(plies["after"])),
        "loss": where(found.margin, found.known),
        "result_loss": where(found.result, found.result_known),
        "known": found.known,
        "exact": exact,
        "low": where(low, low != UNKNOWN),
        "high": where(high, high != UNKNOWN),
    }
