"""The games of one round: played, or read from runs, kept in a journal, each opening once."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.evaluation.training_positions import NEVER, GameReader, LearnedGames
from agents.search.context import NO_SLOT
from arena.learning.config import LearnConfig
from arena.learning.self_play import (
    PART_GAMES,
    GamePart,
    SelfPlay,
    self_play_job,
    unpack_games,
)
from arena.planning.schedule import make_schedule
from arena.planning.seeds import hash64
from arena.playing.executor import iterate_items, run_in_order
from arena.playing.options import PlayOptions
from arena.storage.journal import Section
from arena.storage.parquet import TableError, read_columns
from arena.storage.provenance import file_digest
from arena.storage.run_file import GAMES, NotARunError, games_table, load_plan
from games import Game
from games.base.progress import Progress, ShowProgress
from games.transcripts import move_texts_by_side

TEACHER = "teacher"


class RoundGames(NamedTuple):
    """Games no two of which begin alike, and the keys of their openings."""

    played: LearnedGames
    keys: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.keys)


def seed_of(learning: LearnConfig, round_: int) -> int:
    """The seed of a round: openings and chance of its own."""
    return int(hash64("learn", learning.plan.seed, round_)) >> 1


def round_games(
    learning: LearnConfig,
    teacher: AgentSpec,
    round_: int,
    section: Section,
    options: PlayOptions,
    show: ShowProgress,
) -> RoundGames:
    """Play what the journal does not have; all games of the round."""
    total = learning.games[round_ - 1]
    work = SelfPlay(learning.of, teacher, learning.settings(seed_of(learning, round_)))
    # What a cluster learns the game and the teacher from; no pairing of it is played.
    plan = replace(
        learning.plan, agents={TEACHER: teacher, "itself": teacher}, matches=((0, 1),), pairs=1
    )
    contents = [batch.content for batch in section.batches()]
    done = section.finished()
    job = self_play_job(work, make_schedule(plan))
    if done < total:
        todo = iterate_items(parts(done, total))
        with closing(run_in_order(job, todo, options)) as played:
            for part in played:
                section.append(part.start, part.stop, part.games)
                contents.append(part.games)
                text = f"round {round_}: {part.stop:,} of {total:,} games"
                show(Progress(text, part.stop, total))
    return join_parts(contents)


def parts(done: int, total: int) -> Iterator[GamePart]:
    """What is left to play, in parts that begin at multiples of their size."""
    while done < total:
        stop = min(done - done % PART_GAMES + PART_GAMES, total)
        yield GamePart(done, stop)
        done = stop


def join_parts(contents: list[bytes]) -> RoundGames:
    """All games, without those whose opening came before."""
    several = [unpack_games(each) for each in contents]
    played = LearnedGames(
        *(np.concatenate(each) for each in zip(*(games for games, _ in several), strict=True))
    )
    keys = np.concatenate([keys for _, keys in several])
    return drop_duplicate_openings(played, keys)


def drop_duplicate_openings(played: LearnedGames, keys: NDArray[np.uint64]) -> RoundGames:
    """The first game from each opening."""
    first = np.zeros(len(keys), np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    if first.all():
        return RoundGames(played, keys)
    slots = played.slots[np.repeat(first, played.plies)]
    kept = LearnedGames(slots, *(each[first] for each in played[1:]))
    return RoundGames(kept, keys[first])


def stored_round(of: Game, directories: Sequence[Path], solve_from: int) -> RoundGames:
    """Return the distinct games of these runs; NotARunError names the run that has none."""
    reader = GameReader(of)
    several = [games_in(of, directory, reader) for directory in directories]
    played = LearnedGames(
        *(np.concatenate(each) for each in zip(*(games for games, _ in several), strict=True))
    )
    reader.solve(played, solve_from)
    return drop_duplicate_openings(played, np.concatenate([keys for _, keys in several]))


def games_digest(directory: Path) -> str:
    """Digest of the games of a run, wherever it lies; of its path if there are none."""
    path = directory / GAMES
    return file_digest(path) if path.is_file() else str(directory)


def games_in(of: Game, directory: Path, reader: GameReader) -> tuple[LearnedGames, np.ndarray]:
    """The games of a run that came to their end."""
    plan, path = load_plan(directory), games_table(directory)
    if plan.of.name != of.name:
        raise NotARunError(f"{directory} is a run of {plan.of.name}, not of {of.name}")
    try:
        columns = read_columns(
            path, (), optional=("moves", "opening_moves", "margin", "termination")
        )
    except TableError as error:
        raise NotARunError(f"{path} cannot be read: {error}") from None
    if "moves" not in columns:
        raise NotARunError(f"{path} has no moves: play it again with keep_moves = true")
    whole = columns["termination"] == "normal"
    lines = columns["moves"][whole].tolist()
    words = [of.notation.split(line) for line in lines]
    opening = [len(of.notation.split(each)) for each in columns["opening_moves"][whole].tolist()]
    plies = np.array([len(each) for each in words], np.int32)
    played = LearnedGames(
        moves_to_slots(of, [word for each in words for word in each], plies, reader, directory),
        plies,
        np.array(opening, np.int32),
        np.asarray(columns["margin"])[whole].astype(np.int32),
        np.full(len(plies), NEVER, np.int32),
    )
    keys = np.array([hash64(line) for line in lines], np.uint64)
    return played, keys


def moves_to_slots(
    of: Game, words: Sequence[str], plies: np.ndarray, reader: GameReader, directory: Path
) -> np.ndarray:
    """The slots of written moves, which may mean another for either side."""
    of_sides = np.empty((2, len(words)), np.int16)
    for side, texts in enumerate(move_texts_by_side(of)):
        by_text = {text: int(of.slots_of(move)) for move, text in enumerate(texts)}
        of_sides[side] = [by_text.get(word, NO_SLOT) for word in words]
    slots = np.empty(len(words), np.int16)
    swap = NO_SLOT if of.swap_move is None else int(of.slots_of(of.swap_move))
    done = reader.kernels.by_side(of.context, of.start().state, swap, of_sides, plies, slots)
    if done < 0:
        raise NotARunError(f"{directory / GAMES}: game {-1 - done} is no game of these rules")
    return slots
