"""Games to learn from: a teacher against itself, or the games of finished runs."""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec
from agents.evaluation.training_positions import NEVER, GameReader, TrainingGames
from agents.registry import build
from agents.search import game_loop as loop
from agents.search.compiled_agent import CompiledAgent
from agents.search.context import NO_SLOT
from arena.planning.schedule import Schedule, make_schedule
from arena.planning.seeds import hash64
from arena.playing.cluster.package import RemoteSite, make_package
from arena.playing.executor import Job, iterate_items, run_in_order
from arena.playing.options import PlayOptions
from arena.storage.journal import Section
from arena.storage.parquet import TableError, read_columns
from arena.storage.provenance import file_digest
from arena.storage.run_file import GAMES, NotARunError, games_table_path, load_plan
from games import Game
from games.base.progress import Progress, ShowProgress
from games.core import family_drivers
from games.kernels.splitmix import STRIDE, mixed
from games.transcripts import move_texts_by_side

if TYPE_CHECKING:
    from arena.learning.config import LearnConfig

TEACHER = "teacher"
PART_GAMES = 400  # 0.1 s at 100 nodes per move
TRIES = 1 << 20  # random lines of a game; the first that does not end is its opening
KINDS = (("slots", np.int16), ("plies", np.int32), ("opening", np.int32), ("margins", np.int32),
         ("last", np.int32), ("keys", np.uint64))  # fmt: skip


class SelfPlaySettings(NamedTuple):
    """The settings that decide the games of a round."""

    seed: int
    shortest: int  # random plies of an opening
    longest: int
    solve_from: int  # how much is left when a game is solved; -1: never


class GamePart(NamedTuple):
    """The games `start` to `stop` - 1 of a round."""

    start: int
    stop: int


class SelfPlayResult(NamedTuple):
    """The encoded games of a part."""

    start: int
    stop: int
    games: bytes


def pack_games(played: TrainingGames, keys: np.ndarray) -> bytes:
    """Encode games and the keys of their openings."""
    arrays = (*played, keys)
    parts = [np.asarray(a, kind) for a, (_, kind) in zip(arrays, KINDS, strict=True)]
    sizes = np.array([len(each) for each in parts], np.int64)
    return zlib.compress(sizes.tobytes() + b"".join(each.tobytes() for each in parts), 1)


def unpack_games(content: bytes) -> tuple[TrainingGames, np.ndarray]:
    """Decode what `pack_games` returns."""
    plain = bytearray(zlib.decompress(content))  # writable, unlike bytes
    sizes, at, arrays = np.frombuffer(plain, np.int64, len(KINDS)), 8 * len(KINDS), []
    for size, (_, kind) in zip(sizes.tolist(), KINDS, strict=True):
        arrays.append(np.frombuffer(plain, kind, size, at))
        at += size * np.dtype(kind).itemsize
    return TrainingGames(*arrays[:-1]), arrays[-1]


class SelfPlay:
    """A teacher that plays parts of a round against itself, each game from another opening."""

    def __init__(self, of: Game, teacher: AgentSpec, settings: SelfPlaySettings) -> None:
        self.of, self.teacher, self.settings = of, teacher, settings
        self.longest = 256
        self.agents: tuple[CompiledAgent, CompiledAgent] | None = None

    def prepare(self) -> None:
        """Build and compile the agents before processes are forked."""
        if self.agents is None:
            first, second = build(self.teacher, self.of), build(self.teacher, self.of)
            assert isinstance(first, CompiledAgent)
            assert isinstance(second, CompiledAgent)
            self.agents, self.reader = (first, second), GameReader(self.of)
            self.play(GamePart(0, 1))

    def openings(self, part: GamePart) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the slots of the openings, their lengths and their keys."""
        own, of = self.settings, self.of
        numbers = np.arange(part.start, part.stop, dtype=np.uint64)
        words = mixed(numbers * STRIDE + np.uint64(own.seed))  # arrays wrap around
        span = np.uint64(own.longest - own.shortest + 1)
        plies = (own.shortest + (words >> np.uint64(32)) % span).astype(np.int32)
        slots = np.full((len(numbers), own.longest), loop.NO_MOVE, np.int16)
        keys = np.zeros(len(numbers), np.uint64)
        lines, start = family_drivers(of.family_name).random_lines, of.start().state
        for row, game in enumerate(range(part.start, part.stop)):
            line, key = slots[row : row + 1, : plies[row]], keys[row : row + 1]
            attempt = 0
            while not key[0] and attempt < TRIES:
                lines(of.context, start, game * TRIES + attempt, np.uint64(own.seed), line, key)
                attempt += 1
        return slots, plies, keys

    def play(self, part: GamePart) -> SelfPlayResult:
        """Play the games of a part and solve their ends."""
        self.prepare()
        assert self.agents is not None
        first, second = self.agents
        slots, opening, keys = self.openings(part)
        numbers = np.arange(2 * part.start, 2 * part.stop, dtype=np.uint64)
        seeds = mixed(numbers ^ mixed(np.array([self.settings.seed], np.uint64))).reshape(-1, 2)
        while True:
            room = np.empty((part.stop - part.start, self.longest), np.int16)
            results = np.empty((len(room), loop.RESULTS), np.int64)
            played = first.kernels.play_games(
                first.context, second.context, self.of.start().state, slots, seeds, room, results
            )
            if played == len(room):
                break
            self.longest *= 2
        plies = results[:, loop.LENGTH].astype(np.int32)
        moves = room[np.arange(self.longest) < plies[:, None]]
        games = TrainingGames(
            moves, plies, opening, results[:, loop.MARGIN].astype(np.int32),
            np.full(len(plies), NEVER, np.int32),
        )  # fmt: skip
        self.reader.solve(games, self.settings.solve_from)
        return SelfPlayResult(part.start, part.stop, pack_games(games, keys))


def self_play_job(player: SelfPlay, drawn: Schedule) -> Job[GamePart, SelfPlayResult]:
    """Return the job of a round; a cluster gets the game and the teacher from `drawn`."""
    maker = "arena.learning.self_play:remote_self_play_job"
    return Job(
        player.play,
        describe=lambda part: f"games {part.start} on",
        prepare=player.prepare,
        package=lambda: make_package(maker, (drawn,), player.settings),
    )


def remote_self_play_job(
    _: RemoteSite, plans: tuple[Schedule, ...], settings: SelfPlaySettings
) -> Job[GamePart, SelfPlayResult]:
    """Return the job on another machine."""
    drawn = plans[0]
    player = SelfPlay(drawn.game, drawn.specs[0], SelfPlaySettings(*settings))
    return self_play_job(player, drawn)


class RoundGames(NamedTuple):
    """Games with different openings, and the keys of the openings."""

    games: TrainingGames
    keys: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.keys)


def round_seed(learning: "LearnConfig", round_: int) -> int:
    """Return the seed of a round."""
    return int(hash64("learn", learning.plan.seed, round_)) >> 1


def round_games(
    learning: "LearnConfig",
    teacher: AgentSpec,
    round_: int,
    section: Section,
    options: PlayOptions,
    show: ShowProgress,
) -> RoundGames:
    """Play what the journal does not have, and return all games of the round."""
    total = learning.games[round_ - 1]
    work = SelfPlay(learning.of, teacher, learning.settings(round_seed(learning, round_)))
    # A cluster gets the game and the teacher from this plan, which is not played.
    plan = replace(
        learning.plan, agents={TEACHER: teacher, "itself": teacher}, matches=((0, 1),), pairs=1
    )
    contents = [batch.content for batch in section.batches()]
    done = section.item_count()
    job = self_play_job(work, make_schedule(plan))
    if done < total:
        todo = iterate_items(remaining_parts(done, total))
        with closing(run_in_order(job, todo, options)) as played:
            for part in played:
                section.append(part.start, part.stop, part.games)
                contents.append(part.games)
                text = f"round {round_}: {part.stop:,} of {total:,} games"
                show(Progress(text, part.stop, total))
    return join_parts(contents)


def remaining_parts(done: int, total: int) -> Iterator[GamePart]:
    """Yield the parts that are left, which start at multiples of their size."""
    while done < total:
        stop = min(done - done % PART_GAMES + PART_GAMES, total)
        yield GamePart(done, stop)
        done = stop


def join_parts(contents: list[bytes]) -> RoundGames:
    """Return all games without duplicate openings."""
    several = [unpack_games(each) for each in contents]
    played = TrainingGames(
        *(np.concatenate(each) for each in zip(*(games for games, _ in several), strict=True))
    )
    keys = np.concatenate([keys for _, keys in several])
    return drop_duplicate_openings(played, keys)


def drop_duplicate_openings(played: TrainingGames, keys: NDArray[np.uint64]) -> RoundGames:
    """Return the first game from each opening."""
    first = np.zeros(len(keys), np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    if first.all():
        return RoundGames(played, keys)
    slots = played.slots[np.repeat(first, played.plies)]
    kept = TrainingGames(slots, *(each[first] for each in played[1:]))
    return RoundGames(kept, keys[first])


def load_round(of: Game, directories: Sequence[Path], solve_from: int) -> RoundGames:
    """Return the distinct games of finished runs; a NotARunError names a run that has none."""
    reader = GameReader(of)
    several = [load_run_games(of, directory, reader) for directory in directories]
    played = TrainingGames(
        *(np.concatenate(each) for each in zip(*(games for games, _ in several), strict=True))
    )
    reader.solve(played, solve_from)
    return drop_duplicate_openings(played, np.concatenate([keys for _, keys in several]))


def games_digest(directory: Path) -> str:
    """Return the digest of the games of a run, or its path if it has none."""
    path = directory / GAMES
    return file_digest(path) if path.is_file() else str(directory)


def load_run_games(
    of: Game, directory: Path, reader: GameReader
) -> tuple[TrainingGames, np.ndarray]:
    """Return the games of a run that ended normally."""
    plan, path = load_plan(directory), games_table_path(directory)
    if plan.game.name != of.name:
        raise NotARunError(f"{directory} is a run of {plan.game.name}, not of {of.name}")
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
    played = TrainingGames(
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
    """Return the slots of written moves, which depend on the side to move."""
    of_sides = np.empty((2, len(words)), np.int16)
    for side, texts in enumerate(move_texts_by_side(of)):
        by_text = {text: int(of.slots_of(move)) for move, text in enumerate(texts)}
        of_sides[side] = [by_text.get(word, NO_SLOT) for word in words]
    slots = np.empty(len(words), np.int16)
    swap = NO_SLOT if of.swap_move is None else int(of.slots_of(of.swap_move))
    done = reader.kernels.slots_by_side(of.context, of.start().state, swap, of_sides, plies, slots)
    if done < 0:
        raise NotARunError(f"{directory / GAMES}: game {-1 - done} is no game of these rules")
    return slots
