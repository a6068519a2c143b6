"""Games of a teacher against itself, in parts that any worker may play."""

import zlib
from typing import NamedTuple

import numpy as np

from agents.core import AgentSpec
from agents.evaluation.training_positions import NEVER, GameReader, LearnedGames
from agents.registry import build
from agents.search import game_loop as loop
from agents.search.compiled_agent import CompiledAgent
from arena.planning.schedule import DrawnPlan
from arena.playing.cluster.package import RemoteSite, make_package
from arena.playing.executor import Job
from games import Game
from games.core import kernels
from games.kernels.splitmix import STRIDE, mixed

PART_GAMES = 400  # a tenth of a second at 100 nodes a move
TRIES = 1 << 20  # lines of a game's own, of which the first that goes on is its opening
KINDS = (("slots", np.int16), ("plies", np.int32), ("opening", np.int32), ("margins", np.int32),
         ("last", np.int32), ("keys", np.uint64))  # fmt: skip


class SelfPlaySettings(NamedTuple):
    """What decides the games of a round."""

    seed: int
    shortest: int  # random plies of an opening
    longest: int
    solve_from: int  # how much is left where a game is solved; -1: nowhere


class GamePart(NamedTuple):
    """Games `start` to `stop` - 1 of a round."""

    start: int
    stop: int


class SelfPlayResult(NamedTuple):
    """The games of a part, as bytes."""

    start: int
    stop: int
    games: bytes


def pack_games(played: LearnedGames, keys: np.ndarray) -> bytes:
    """Games with the keys of their openings as bytes."""
    arrays = (*played, keys)
    parts = [np.asarray(a, kind) for a, (_, kind) in zip(arrays, KINDS, strict=True)]
    sizes = np.array([len(each) for each in parts], np.int64)
    return zlib.compress(sizes.tobytes() + b"".join(each.tobytes() for each in parts), 1)


def unpack_games(content: bytes) -> tuple[LearnedGames, np.ndarray]:
    """The games that `packed` made bytes of."""
    plain = bytearray(zlib.decompress(content))  # arrays of it may be written
    sizes, at, arrays = np.frombuffer(plain, np.int64, len(KINDS)), 8 * len(KINDS), []
    for size, (_, kind) in zip(sizes.tolist(), KINDS, strict=True):
        arrays.append(np.frombuffer(plain, kind, size, at))
        at += size * np.dtype(kind).itemsize
    return LearnedGames(*arrays[:-1]), arrays[-1]


class SelfPlay:
    """Plays parts in one process: a teacher against itself, no two games from one opening."""

    def __init__(self, of: Game, teacher: AgentSpec, settings: SelfPlaySettings) -> None:
        """Nothing is built yet."""
        self.of, self.teacher, self.settings = of, teacher, settings
        self.longest = 256
        self.agents: tuple[CompiledAgent, CompiledAgent] | None = None

    def prepare(self) -> None:
        """Build and compile, before processes are forked."""
        if self.agents is None:
            first, second = build(self.teacher, self.of), build(self.teacher, self.of)
            assert isinstance(first, CompiledAgent)
            assert isinstance(second, CompiledAgent)
            self.agents, self.reader = (first, second), GameReader(self.of)
            self.play(GamePart(0, 1))

    def openings(self, part: GamePart) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The slots of the openings, their lengths, their keys."""
        own, of = self.settings, self.of
        numbers = np.arange(part.start, part.stop, dtype=np.uint64)
        words = mixed(numbers * STRIDE + np.uint64(own.seed))  # arrays wrap around
        span = np.uint64(own.longest - own.shortest + 1)
        plies = (own.shortest + (words >> np.uint64(32)) % span).astype(np.int32)
        slots = np.full((len(numbers), own.longest), loop.NO_MOVE, np.int16)
        keys = np.zeros(len(numbers), np.uint64)
        lines, start = kernels(of.family_name).random_lines, of.start().state
        for row, game in enumerate(range(part.start, part.stop)):
            line, key = slots[row : row + 1, : plies[row]], keys[row : row + 1]
            attempt = 0
            while not key[0] and attempt < TRIES:
                lines(of.context, start, game * TRIES + attempt, np.uint64(own.seed), line, key)
                attempt += 1
        return slots, plies, keys

    def play(self, part: GamePart) -> SelfPlayResult:
        """The games of a part, their ends solved."""
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
        games = LearnedGames(
            moves, plies, opening, results[:, loop.MARGIN].astype(np.int32),
            np.full(len(plies), NEVER, np.int32),
        )  # fmt: skip
        self.reader.solve(games, self.settings.solve_from)
        return SelfPlayResult(part.start, part.stop, pack_games(games, keys))


def self_play_job(player: SelfPlay, drawn: DrawnPlan) -> Job[GamePart, SelfPlayResult]:
    """Play parts of a round; a cluster learns the game and the teacher from `drawn`."""
    maker = "arena.learning.self_play:remote_self_play_job"
    return Job(
        player.play,
        describe=lambda part: f"games {part.start} on",
        prepare=player.prepare,
        package=lambda: make_package(maker, (drawn,), player.settings),
    )


def remote_self_play_job(
    _: RemoteSite, plans: tuple[DrawnPlan, ...], settings: SelfPlaySettings
) -> Job[GamePart, SelfPlayResult]:
    """Play parts of a round for another machine."""
    drawn = plans[0]
    player = SelfPlay(drawn.of, drawn.specs[0], SelfPlaySettings(*settings))
    return self_play_job(player, drawn)
