"""A trial is an ordinary small tournament: the candidate's weights against fixed opponents."""

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents import AgentSpec, users_code
from agents.compiled import CompiledAgent
from agents.kernels.contexts import set_weights
from arena.keeping.game_blobs import decoded, encoded
from arena.keeping.journal import Journal
from arena.planning.drawing import DrawnPlan, draw
from arena.planning.openings import Openings, first_openings
from arena.planning.plan import Plan
from arena.planning.records import Games
from arena.planning.tasks import Task
from arena.playing import backends
from arena.playing.in_order import ItemFailed, in_order
from arena.playing.interrupts import Interrupts
from arena.playing.watchdog import Watchdog, new_watch
from arena.playing.worker import Worker
from arena.tuning.samplers.sampler import Sampler, resume
from arena.tuning.space import Point, Space
from arena.tuning.trials import StoredTrial, Trial, keep_trial, trial_of
from games.terminal import Unfinished

CANDIDATE = "candidate"
WINDOW = 4  # trials under way; fixed, so that the answer does not depend on the workers
LEAST_PAIRS = 8  # a smaller part of a trial is not worth a task


class TuningFailed(Unfinished):  # the study could not be finished; the rest is kept
    """A part of a trial that fails whenever it is played."""


class Opponent(NamedTuple):
    """Whom a candidate plays, in how many pairings of every trial."""

    name: str
    spec: AgentSpec
    pairs: int


@dataclass(frozen=True)
class Contest:
    """What every trial plays: one small plan an opponent, on common openings and seeds."""

    space: Space
    plans: tuple[DrawnPlan, ...]
    placed: dict[str, NDArray[Any]]  # the columns of the schedule, for all games of a trial
    watch: Watchdog

    @cached_property
    def player(self) -> "PartPlayer":
        """All agents built and compiled here, for the processes that are forked from here."""
        return PartPlayer(self)


class Part(NamedTuple):
    """Some pairings of one trial against one opponent; the weights travel with it."""

    slot: int
    match: int
    task: Task
    weights: Mapping[str, tuple[float, ...]]
    last: bool  # of its trial


class PlayedPart(NamedTuple):
    """The games of a part as a blob, and the seconds they took."""

    part: Part
    games: bytes
    seconds: float


def contest(
    plan: Plan,
    tuned: AgentSpec,
    space: Space,
    opponents: tuple[Opponent, ...],
    openings: Openings,
) -> Contest:
    """The plans of a trial, made from that of the file; `openings` are those for tuning."""
    agents = {CANDIDATE: tuned} | {each.name: each.spec for each in opponents}
    drawn, placed, first = [], [], 0
    for place, opponent in enumerate(opponents, 1):
        own = replace(plan, agents=agents, matches=((0, place),), pairs=opponent.pairs)
        drawn.append(draw(own, first_openings(openings, opponent.pairs)))
        columns = drawn[-1].pairings.columns(0, opponent.pairs)
        placed.append(columns | {"pair": columns["pair"] + first})
        first += opponent.pairs
    whole = {name: np.concatenate([each[name] for each in placed]) for name in placed[0]}
    return Contest(space, tuple(drawn), whole, Watchdog(new_watch(), plan.move_seconds))


# ------------------------------------------------------------ in a worker


class PartPlayer:
    """Plays parts of trials in one process: the same agents in the plan of every opponent."""

    def __init__(self, of: Contest) -> None:
        """Everything is built and compiled."""
        self.workers = [Worker(drawn, of.watch.rows) for drawn in of.plans]
        for worker in self.workers[1:]:
            worker.agents = self.workers[0].agents
        self.workers[0].warm()
        for worker in self.workers:
            if not any(map(users_code, worker.drawn.specs)):
                worker.play(Task(0, 1, {}))  # compiles whatever a whole game needs

    def play(self, part: Part) -> PlayedPart:
        """The games of a part, by the candidate that it describes."""
        begun = time.perf_counter()
        worker = self.workers[part.match]
        candidate = worker.agent(0)
        assert isinstance(candidate, CompiledAgent)  # it has weights
        reweigh(candidate, part.weights)
        games = worker.play(part.task)
        return PlayedPart(part, encoded(games), time.perf_counter() - begun)


def reweigh(agent: CompiledAgent, weights: Mapping[str, tuple[float, ...]]) -> None:
    """Write other weights into an agent: nothing is built or compiled again."""
    if agent.own is None:
        set_weights(agent.context, agent.game.all_features, weights)
    else:
        set_weights(agent.context, agent.own.weight_names, agent.own.weights(weights))


def games_per_second(of: Contest, weights: Mapping[str, tuple[float, ...]], least: float) -> float:
    """How fast one process plays, measured for at least `least` seconds over all opponents."""
    shortest = min(drawn.pairings.total for drawn in of.plans)
    pairs, games, seconds = 1, 0, 0.0
    while seconds < least:
        for match in range(len(of.plans)):
            played = of.player.play(Part(0, match, Task(0, pairs, {}), weights, True))
            games, seconds = games + 2 * pairs, seconds + played.seconds
        pairs = min(2 * pairs, shortest)
    return games / seconds


# ------------------------------------------------------------ in the coordinator


class Feed:
    """The parts to be played next, proposed as far ahead as trials may be under way.

    Slot n is always proposed after slot n - WINDOW was told and before the next one is: what
    is proposed depends neither on the workers nor on an interruption.
    """

    def __init__(
        self, of: Contest, sampler: Sampler, slots: int, workers: int, known: Sequence[StoredTrial]
    ) -> None:
        """`slots` trials are wanted in all, of which the first are `known` from the journal."""
        self.contest, self.sampler, self.slots, self.known = of, sampler, slots, known
        self.asked = self.told = 0
        self.points: dict[int, Point] = {}
        self.parts: deque[Part] = deque()
        self.cuts = max(1, -(-2 * workers // WINDOW))
        self._fill()

    def __iter__(self) -> Iterator[Part]:
        return self

    def __next__(self) -> Part:
        """The next part; StopIteration for now if results must come first."""
        if not self.parts:
            raise StopIteration
        return self.parts.popleft()

    def replayed(self) -> Iterator[Trial]:
        """The trials that are known, told again in their order."""
        for slot, kept in enumerate(self.known[: self.slots]):
            trial = trial_of(slot, kept.point, games_of(self.contest, [kept.games]), kept.seconds)
            self.tell(trial)
            yield trial

    def tell(self, trial: Trial) -> None:
        """The trial of the next slot is finished."""
        del self.points[trial.slot]
        self.sampler.tell(trial.slot, trial.point, trial.score, trial.noise)
        self.told += 1
        self._fill()

    def end_soon(self) -> None:
        """Propose nothing more: what has been proposed is played, whatever the workers."""
        self.slots = min(self.slots, self.asked)

    def end_at_once(self) -> None:
        """Propose nothing more and drop what is not under way yet."""
        begun = {slot for slot in self.points if slot not in {part.slot for part in self.parts}}
        self.slots = max([self.told, *(slot + 1 for slot in begun)])
        self.parts = deque(part for part in self.parts if part.slot < self.slots)

    def _fill(self) -> None:
        while self.asked < self.slots and self.asked - self.told < WINDOW:
            slot = self.asked
            self.asked += 1
            if slot < len(self.known):
                self.points[slot] = self.known[slot].point
                resume(self.sampler, slot, self.points[slot])
            else:
                self.points[slot] = self.sampler.propose(slot)
                self.parts.extend(self._parts(slot))

    def _parts(self, slot: int) -> list[Part]:
        weights = self.contest.space.weights(self.points[slot])
        parts = []
        for match, drawn in enumerate(self.contest.plans):
            total = drawn.pairings.total
            size = max(LEAST_PAIRS, -(-total // self.cuts))
            for start in range(0, total, size):
                task = Task(start, min(start + size, total), {})
                parts.append(Part(slot, match, task, weights, False))
        parts[-1] = parts[-1]._replace(last=True)
        return parts


def games_of(of: Contest, blobs: list[bytes]) -> Games:
    """The games of a whole trial."""
    return decoded(blobs, of.placed)


class TrialCrew:
    """The crew that plays the parts of trials, and what is done when one of them fails."""

    MOST_DEATHS = 4  # of a part that are excused: workers are also ended from outside

    def __init__(self, of: Contest, workers: int, interrupts: Interrupts) -> None:
        """Its workers are forked when `in_order` begins."""
        self.watch, self.player, self.workers = of.watch, of.player, workers
        self.interrupts = interrupts
        self.deaths: dict[tuple[int, int, int], int] = {}

    def begin(self, workers: int | None = None) -> backends.Backend:
        """A new backend whose processes have all agents built."""
        return backends.begin("processes", self.player.play, workers or self.workers)

    def look(self) -> None:
        """Cut off who does not answer; stop if that was asked for."""
        self.watch.look()
        self.interrupts.look()

    def split(self, part: Part) -> list[Part]:
        """A part is the smallest there is."""
        return [part]

    def again(self, part: Part) -> Part:
        """The part with the verdicts on games that were cut off in it."""
        verdicts = self.watch.within(part.task.start, part.task.stop)
        return part._replace(task=part.task._replace(verdicts=verdicts))

    def excused(self, part: Part) -> bool:
        """Whether it has not died too often."""
        key = (part.slot, part.match, part.task.start)
        self.deaths[key] = self.deaths.get(key, 0) + 1
        return self.deaths[key] <= self.MOST_DEATHS

    def mend(self) -> None:
        """After a death nobody is waited for."""
        self.watch.mend()


def played(feed: Feed, journal: Journal, workers: int, interrupts: Interrupts) -> Iterator[Trial]:
    """Play what is left, trial after trial; each is in the journal before it is told."""
    crew, blobs, seconds = TrialCrew(feed.contest, workers, interrupts), list[bytes](), 0.0
    results = closing(in_order(crew, feed))
    try:
        with interrupts.wait_for_look(), results as parts:
            for done in parts:
                blobs.append(done.games)
                seconds += done.seconds
                if done.part.last:
                    trial = _finished(feed, journal, done.part.slot, blobs, seconds)
                    blobs, seconds = [], 0.0
                    crew.watch.verdicts.clear()
                    yield trial
    except ItemFailed as failure:
        raise TuningFailed(_told(failure)) from None


def _finished(feed: Feed, journal: Journal, slot: int, blobs: list[bytes], seconds: float) -> Trial:
    """Score a whole trial, keep it, and tell it to the sampler."""
    point, games = feed.points[slot], games_of(feed.contest, blobs)
    trial = trial_of(slot, point, games, seconds)
    keep_trial(journal, slot, StoredTrial(point, encoded(games), seconds))
    feed.tell(trial)
    return trial


def _told(failure: ItemFailed) -> str:
    """What happened to which trial."""
    part = failure.item
    how = failure.trace or "its worker died each time"
    return (
        f"trial {part.slot}, pairings {part.task.start} to {part.task.stop - 1} of match "
        f"{part.match + 1} fail whenever they are played (process {os.getpid()}): {how}; "
        "what was finished is kept"
    )
