"""Games of finished runs, to learn from."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agents.fitting.labelled_positions import NEVER, GameReader, LearnedGames
from agents.kernels.layout import NO_SLOT
from arena.keeping.parquet import TableError, read_columns
from arena.keeping.provenance import file_digest
from arena.keeping.run_directory import GAMES, NotARun, games_table, stored_plan
from arena.learning.round_games import RoundGames, distinct
from arena.planning.pairing_seeds import digest_word
from games import Game
from games.transcripts import words_by_side


def stored_round(of: Game, directories: Sequence[Path], solve_from: int) -> RoundGames:
    """The different games of these runs; NotARun says which cannot be learned from, and why."""
    reader = GameReader(of)
    several = [games_in(of, directory, reader) for directory in directories]
    played = LearnedGames(
        *(np.concatenate(each) for each in zip(*(games for games, _ in several), strict=True))
    )
    reader.solve(played, solve_from)
    return distinct(played, np.concatenate([keys for _, keys in several]))


def games_digest(directory: Path) -> str:
    """Digest of the games of a run, wherever it lies; of its path if there are none."""
    path = directory / GAMES
    return file_digest(path) if path.is_file() else str(directory)


def games_in(of: Game, directory: Path, reader: GameReader) -> tuple[LearnedGames, np.ndarray]:
    """The games of a run that came to their end."""
    plan, path = stored_plan(directory), games_table(directory)
    if plan.of.name != of.name:
        raise NotARun(f"{directory} is a run of {plan.of.name}, not of {of.name}")
    try:
        columns = read_columns(
            path, (), optional=("moves", "opening_moves", "margin", "termination")
        )
    except TableError as error:
        raise NotARun(f"{path} cannot be read: {error}") from None
    if "moves" not in columns:
        raise NotARun(f"{path} has no moves: play it again with keep_moves = true")
    whole = columns["termination"] == "normal"
    lines = columns["moves"][whole].tolist()
    words = [of.notation.split(line) for line in lines]
    opening = [len(of.notation.split(each)) for each in columns["opening_moves"][whole].tolist()]
    plies = np.array([len(each) for each in words], np.int32)
    played = LearnedGames(
        slots_of(of, [word for each in words for word in each], plies, reader, directory),
        plies,
        np.array(opening, np.int32),
        np.asarray(columns["margin"])[whole].astype(np.int32),
        np.full(len(plies), NEVER, np.int32),
    )
    keys = np.array([digest_word(line) for line in lines], np.uint64)
    return played, keys


def slots_of(
    of: Game, words: Sequence[str], plies: np.ndarray, reader: GameReader, directory: Path
) -> np.ndarray:
    """The slots of written moves, which may mean another for either side."""
    of_sides = np.empty((2, len(words)), np.int16)
    for side, texts in enumerate(words_by_side(of)):
        by_text = {text: int(of.slots_of(move)) for move, text in enumerate(texts)}
        of_sides[side] = [by_text.get(word, NO_SLOT) for word in words]
    slots = np.empty(len(words), np.int16)
    swap = NO_SLOT if of.swap_move is None else int(of.slots_of(of.swap_move))
    done = reader.kernels.by_side(of.context, of.start().state, swap, of_sides, plies, slots)
    if done < 0:
        raise NotARun(f"{directory / GAMES}: game {-1 - done} is no game of these rules")
    return slots
