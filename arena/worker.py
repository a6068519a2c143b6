"""Playing a run of pairings in a worker: compiled agents in one call, others move by move."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.sharedctypes import RawArray
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import Agent, AgentSpec, build
from agents.compiled import CompiledAgent
from agents.kernels import games as loop
from arena.openings import moves_of
from arena.records import (
    DRAW,
    LOSS,
    WIN,
    Games,
    Standing,
    Termination,
    encoded,
    joined,
    standing,
)
from arena.referee import Played, Verdict, game_id, play_game
from arena.schedule import Block, Schedule
from arena.seeds import agent_seeds
from games import Game
from games.drivers import PASS

GAMES_AT_ONCE = 4096
WATCH_ROWS = 256
# One row of the watch a worker: process id, pairing, leg, ply, seat, when asked (0: not waiting).
WATCH_COLUMNS = 6


class Job(NamedTuple):
    """Everything a worker needs; it travels by fork, once."""

    of: Game
    specs: tuple[AgentSpec, ...]
    schedule: Schedule
    openings: NDArray[np.int16]
    keep_moves: bool
    watch: Any  # shared rows that tell the parent who is being waited for


class Task(NamedTuple):
    """Pairings `start` to `stop` - 1, with the verdicts on games that were cut off."""

    start: int
    stop: int
    verdicts: Mapping[tuple[int, int], Verdict]


class Batch(NamedTuple):
    """The packed games of a task, what they add to the standings, and the seconds it took."""

    start: int
    stop: int
    games: bytes
    standing: Standing
    seconds: float


def new_watch() -> Any:
    """Shared rows for `Job.watch`."""
    return RawArray("q", WATCH_ROWS * WATCH_COLUMNS)


class Worker:
    """The agents of one process, built when first needed, and its room for moves."""

    def __init__(self, job: Job) -> None:
        """Nothing is built yet."""
        self.job = job
        self.agents: dict[int, Agent] = {}
        self.room = np.empty((0, 0), np.int16)
        self.longest = 64 + (job.openings.shape[1] if job.openings.size else 0)
        self.move_of_slot = _move_numbers(job.of)

    def agent(self, place: int) -> Agent:
        """The agent at one place of the experiment."""
        if place not in self.agents:
            self.agents[place] = build(self.job.specs[place], self.job.of)
        return self.agents[place]

    def play(self, task: Task) -> Games:
        """All games of the task, in schedule order."""
        parts = []
        for block in self.job.schedule.blocks(task.start, task.stop):
            both = self.agent(block.a), self.agent(block.b)
            if all(isinstance(agent, CompiledAgent) for agent in both):
                parts += [self._fast_or_slow(piece, task.verdicts) for piece in _pieces(block)]
            else:
                parts.append(self._slow(block, task.verdicts))
        return joined(parts)

    def _fast_or_slow(self, block: Block, verdicts: Mapping[tuple[int, int], Verdict]) -> Games:
        """The compiled loop, unless a user's own evaluation raises in it: then game by game."""
        own = any(self.job.specs[place].evaluate for place in (block.a, block.b))
        try:
            return self._fast(block)
        except Exception:
            if not own:
                raise
            return self._slow(block, verdicts)

    def _seeds(self, block: Block, leg: int) -> NDArray[np.uint64]:
        """The seeds of the first and the second player in one leg."""
        names, pairs = self.job.schedule.agents, self.job.schedule.seeds(block)
        places = (block.a, block.b) if leg == 0 else (block.b, block.a)
        return np.stack([agent_seeds(pairs, leg, names[place]) for place in places], axis=1)

    def _fast(self, block: Block) -> Games:
        """Both legs of a block in two compiled calls."""
        openings = self.job.openings[self.job.schedule.openings(block)]
        legs = [self._leg(block, openings, leg) for leg in (0, 1)]
        results = np.empty((2 * block.size, loop.RESULTS), np.int64)
        results[0::2], results[1::2] = legs[0][1], legs[1][1]
        moves = None
        if self.job.keep_moves:
            width = max(legs[0][0].shape[1], legs[1][0].shape[1])
            slots = np.zeros((2 * block.size, width), np.int16)
            for leg in (0, 1):
                slots[leg::2, : legs[leg][0].shape[1]] = legs[leg][0]
            moves = self._kept(slots, results[:, loop.LENGTH])
        return _games(self.job.schedule, block, results, moves)

    def _leg(
        self, block: Block, openings: NDArray[np.int16], leg: int
    ) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Slots and results of one leg; played again with more room if a game did not fit."""
        places = (block.a, block.b) if leg == 0 else (block.b, block.a)
        first, second = (self.agent(place) for place in places)
        assert isinstance(first, CompiledAgent)
        assert isinstance(second, CompiledAgent)
        seeds, results = self._seeds(block, leg), np.empty((block.size, loop.RESULTS), np.int64)
        while True:
            slots = self._room(block.size)
            state = self.job.of.start().state
            played = first.kernels.play_games(
                first.context, second.context, state, openings, seeds, slots, results
            )
            if played == block.size:
                return (slots.copy() if self.job.keep_moves else slots), results
            self.longest *= 2

    def _room(self, games: int) -> NDArray[np.int16]:
        """Room for moves, kept from call to call: fresh memory costs more than random games."""
        if self.room.shape[0] < games or self.room.shape[1] != self.longest:
            self.room = np.empty((max(games, self.room.shape[0]), self.longest), np.int16)
        return self.room[:games]

    def _kept(self, slots: NDArray[np.int16], lengths: NDArray[np.int64]) -> NDArray[np.int16]:
        """The move numbers of all games, one after the other."""
        inside = np.arange(slots.shape[1]) < lengths[:, None]
        return self.move_of_slot[slots[inside]]

    def _slow(self, block: Block, verdicts: Mapping[tuple[int, int], Verdict]) -> Games:
        """The games of a block one by one."""
        rows: list[list[int]] = []
        moves: list[int] = []
        traces: dict[int, str] = {}
        openings = self.job.schedule.openings(block)
        seeds = [self._seeds(block, leg) for leg in (0, 1)]
        for i in range(block.size):
            opening = moves_of(self.job.of, self.job.openings[openings[i]])
            for leg in (0, 1):
                pairing = block.first + i
                pair_seeds = (int(seeds[leg][i, 0]), int(seeds[leg][i, 1]))
                verdict = verdicts.get((pairing, leg))
                played = self._game(block, pairing, leg, opening, pair_seeds, verdict)
                if played.trace:
                    traces[len(rows)] = played.trace
                rows.append(_result_row(self.job.of, played))
                moves += played.moves
        results = np.array(rows, np.int64)
        kept = np.array(moves, np.int16) if self.job.keep_moves else None
        games = _games(self.job.schedule, block, results[:, : loop.RESULTS], kept)
        games.columns["result"] = results[:, loop.RESULTS].astype(np.int8)
        games.columns["termination"] = results[:, loop.RESULTS + 1].astype(np.int8)
        return replace(games, traces=traces)

    def _game(
        self,
        block: Block,
        pairing: int,
        leg: int,
        opening: list[int],
        seeds: tuple[int, int],
        verdict: Verdict | None,
    ) -> Played:
        places = (block.a, block.b) if leg == 0 else (block.b, block.a)
        agents = self.agent(places[0]), self.agent(places[1])
        row = _watch_row(self.job.watch)

        def witness(ply: int | None, seat: int) -> None:
            if isinstance(agents[seat], CompiledAgent):
                return  # compiled agents keep their limits themselves
            asked = 0 if ply is None else time.monotonic_ns()
            self.job.watch[row : row + WATCH_COLUMNS] = [
                os.getpid(), pairing, leg, ply or 0, seat, asked,
            ]  # fmt: skip

        return play_game(self.job.of, agents, opening, seeds, witness, verdict)


def _pieces(block: Block) -> list[Block]:
    """The block cut so that the room for moves stays small."""
    return [
        block._replace(
            first=block.first + at,
            number=block.number + at,
            size=min(GAMES_AT_ONCE, block.size - at),
        )
        for at in range(0, block.size, GAMES_AT_ONCE)
    ]


def _watch_row(watch: Any) -> int:
    """This process's row of the watch."""
    return (os.getpid() % WATCH_ROWS) * WATCH_COLUMNS


def _move_numbers(of: Game) -> NDArray[np.int16]:
    """Move numbers by slot; a PASS is the last entry, which index -1 reaches."""
    table = np.full(max(of.slots) + 2, -1, np.int16)
    for move, slot in enumerate(of.slots):
        table[slot] = move
    table[PASS] = -1 if of.pass_move is None else of.pass_move
    return table


def _result_row(of: Game, played: Played) -> list[int]:
    """A game's numbers as in the compiled loop, then result and termination."""
    word = game_id(of, played.moves)
    signed = word - (1 << 64) if word >> 63 else word
    head = [len(played.moves), played.margin, signed]
    costs = [*played.nodes, *played.nanoseconds, *played.chosen]
    return [*head, *costs, played.result, int(played.termination)]


def _games(
    schedule: Schedule,
    block: Block,
    results: NDArray[np.int64],
    moves: NDArray[np.int16] | None,
) -> Games:
    """Columns of the games of a block from the numbers of both legs, leg by leg in turn."""
    rows, twice = 2 * block.size, np.repeat(np.arange(block.size), 2)
    leg = np.tile(np.array([0, 1], np.int8), block.size)
    margin = results[:, loop.MARGIN]
    result = np.where(margin > 0, WIN, np.where(margin == 0, DRAW, LOSS))
    columns: dict[str, NDArray[Any]] = {
        "pair": block.first + twice,
        "leg": leg,
        "opening": schedule.openings(block)[twice].astype(np.int32),
        "first": np.where(leg == 0, block.a, block.b).astype(np.int16),
        "second": np.where(leg == 0, block.b, block.a).astype(np.int16),
        "seed": schedule.seeds(block)[twice],
        "game_id": results[:, loop.GAME_ID].astype(np.int64).view(np.uint64),
        "result": result.astype(np.int8),
        "margin": margin.astype(np.int32),
        "plies": results[:, loop.LENGTH].astype(np.int32),
        "termination": np.full(rows, Termination.NORMAL, np.int8),
    }
    costs = {
        "nodes": loop.NODES_SPENT,
        "nanoseconds": loop.NANOSECONDS_SPENT,
        "moves": loop.MOVES_CHOSEN,
    }
    for name, at in costs.items():
        kind = np.int32 if name == "moves" else np.int64
        columns[f"first_{name}"] = results[:, at].astype(kind)
        columns[f"second_{name}"] = results[:, at + 1].astype(kind)
    return Games(columns, moves, {})


_worker: list[Worker] = []


def install(job: Job) -> None:
    """Make `play_task` play this job, here and in every process forked from here."""
    _worker[:] = [Worker(job)]


def play_task(task: Task) -> Batch:
    """The games of the task, packed here so that the parent only has to keep them."""
    begun = time.perf_counter()
    games = _worker[0].play(task)
    blob = encoded(games)
    return Batch(task.start, task.stop, blob, standing(games), time.perf_counter() - begun)
