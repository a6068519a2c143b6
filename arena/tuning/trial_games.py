"""Play trials on warm workers."""

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from agents.core import AgentSpec, HostSettings, Options
from agents.fault_text import fault_text
from agents.registry import users_code
from agents.sandbox.sandbox import Sandbox
from arena.planning.games import (
    GameColumn,
    Games,
    Termination,
    decode_games,
    encode_games,
    fair_games,
)
from arena.planning.openings.openings import Openings
from arena.planning.plan import Plan
from arena.planning.schedule import DrawnPlan, make_schedule
from arena.planning.tasks import Task
from arena.playing.bots import try_users
from arena.playing.cluster.package import RemoteSite, WorkPackage, make_package
from arena.playing.executor import Job, iterate_items, run_in_order
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.worker import Worker
from arena.storage.journal import Section
from arena.tuning.samplers.registry import Sampler, resume, step_played
from arena.tuning.space import WEIGHTS, Point, Space
from arena.tuning.trials import StoredTrial, Trial, make_trial, step_differs, store_trial
from games.base.errors import UserError

CANDIDATE = "candidate"
WINDOW = 4  # trials under way; fixed, so that the answer does not depend on the workers
MAX_EXCUSED = 4  # failures of a part: workers are also ended from outside
LEAST_PAIRS = 8  # a smaller part of a trial is not worth a task


class Opponent(NamedTuple):
    """Whom a candidate plays, in how many pairings of every trial."""

    name: str
    spec: AgentSpec
    pairs: int


@dataclass(frozen=True)
class TrialGames:
    """The games of all trials: a plan for each opponent, of which every trial has its part.

    Trials play openings of their own. Only those of a step, so many trials that follow one
    another after the first, share openings and seeds.
    """

    space: Space
    plans: tuple[DrawnPlan, ...]
    pairs: tuple[int, ...]  # of a trial, against each opponent
    sharing: int  # trials in a step
    wall: Sandbox

    def span(self, slot: int, match: int) -> range:
        """The pairings of a trial in the plan of an opponent."""
        step = -(-slot // self.sharing)
        return range(step * self.pairs[match], (step + 1) * self.pairs[match])

    def placed(self, slot: int) -> dict[str, GameColumn]:
        """The columns of the schedule for all games of a trial, numbered from 0."""
        parts, first, other = [], 0, 0  # openings of other opponents are others
        for match, drawn in enumerate(self.plans):
            span = self.span(slot, match)
            columns = drawn.pairings.columns(span.start, span.stop)
            pair, opening = columns["pair"] - span.start + first, columns["opening"] + other
            parts.append(columns | {"pair": pair, "opening": opening})
            first, other = first + len(span), other + len(drawn.openings)
        return {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}

    @cached_property
    def player(self) -> "TrialWorker":
        """All agents built and compiled here, for the processes that are forked from here."""
        return TrialWorker(self)


class TrialTask(NamedTuple):
    """Some pairings of a trial against one opponent; the candidate's changes travel with it."""

    slot: int
    match: int
    task: Task
    changes: Options
    last: bool  # of its trial


class TrialGamesBlob(NamedTuple):
    """The games of a part as a blob, and the seconds they took."""

    part: TrialTask
    games: bytes
    seconds: float


def trial_games(
    plan: Plan,
    tuned: AgentSpec,
    space: Space,
    opponents: tuple[Opponent, ...],
    openings: Openings,
    slots: int,
    sharing: int,
    wall: Sandbox,
) -> TrialGames:
    """The plans of `slots` trials, made from the plan of the file.

    Every opponent gets a share of `openings`, which are those for tuning.
    """
    agents = {CANDIDATE: tuned} | {each.name: each.spec for each in opponents}
    whole, drawn, first = sum(each.pairs for each in opponents), [], 0
    for place, opponent in enumerate(opponents, 1):
        own = replace(plan, agents=agents, matches=((0, place),), pairs=slots * opponent.pairs)
        ends = len(openings) * (first + opponent.pairs) // whole
        drawn.append(
            make_schedule(own, slice_openings(openings, len(openings) * first // whole, ends))
        )
        first += opponent.pairs
    pairs = tuple(each.pairs for each in opponents)
    return TrialGames(space, tuple(drawn), pairs, sharing, wall)


def slice_openings(openings: Openings, start: int, stop: int) -> Openings:
    """Openings `start` to `stop` - 1."""
    return Openings(openings.slots[start:stop], openings.keys[start:stop], finite=False)


class TrialWorker:
    """Plays parts of trials in one process: the same agents in the plan of every opponent."""

    def __init__(self, of: TrialGames) -> None:
        """Build and compile all agents; those that run a user's code are tried once."""
        self.changes: Options = {}  # of the candidate that is built now
        self.workers = [Worker(drawn, of.wall) for drawn in of.plans]
        for worker in self.workers[1:]:
            worker.agents = self.workers[0].agents
        first = self.workers[0]
        try_users(first.drawn, first.terms)
        first.warm()
        for worker in self.workers:
            if not any(map(users_code, worker.drawn.specs)):
                worker.play(Task(0, 1, {}))  # compiles whatever a whole game needs

    def play(self, part: TrialTask) -> TrialGamesBlob:
        """Play the games of a part with the changes that it carries."""
        begun = time.perf_counter()
        worker = self.workers[part.match]
        if part.changes.keys() == {WEIGHTS}:
            candidate: Any = worker.agent(0)  # a search, in this process or behind the wall
            candidate.reweigh(part.changes[WEIGHTS])
        elif part.changes != self.changes:
            worker.renew(0, worker.drawn.specs[0].replace(**part.changes))
        self.changes = part.changes
        games = worker.play(part.task)
        return TrialGamesBlob(part, encode_games(games), time.perf_counter() - begun)


def games_per_second(of: TrialGames, changes: Options, least: float) -> float:
    """How fast one process plays, measured for at least `least` seconds over all opponents."""
    shortest = min(drawn.pairings.total for drawn in of.plans)
    pairs, games, seconds = 1, 0, 0.0
    while seconds < least:
        for match in range(len(of.plans)):
            played = of.player.play(TrialTask(0, match, Task(0, pairs, {}), changes, True))
            games, seconds = games + 2 * pairs, seconds + played.seconds
        pairs = min(2 * pairs, shortest)
    return games / seconds


def decode_trial(of: TrialGames, slot: int, blobs: list[bytes]) -> Games:
    """The games of a whole trial."""
    return decode_games(blobs, of.placed(slot))


class TrialQueue:
    """The parts to be played next, proposed as far ahead as trials may be under way.

    Slot n is always proposed after slot n - `window` has finished and before the next one has: so
    proposals depend neither on the workers nor on an interruption.
    """

    def __init__(
        self,
        of: TrialGames,
        sampler: Sampler,
        slots: int,
        workers: int,
        known: Sequence[StoredTrial],
        window: int = WINDOW,
        bundled: bool = False,
    ) -> None:
        """`slots` trials are wanted in all, of which the first are `known` from the journal.

        They are shown one by one, or `bundled`.
        """
        self.games, self.sampler, self.slots, self.known = of, sampler, slots, known
        self.proposed = self.finished = 0
        self.points: dict[int, Point] = {}
        self.step: list[int] = []  # fingerprints of the trials of a step so far
        self.parts: deque[TrialTask] = deque()
        self.window, self.cuts = window, max(1, -(-2 * workers // window))
        self.bundled = bundled
        self._fill()

    def __iter__(self) -> Iterator[TrialTask]:
        return self

    def __next__(self) -> TrialTask:
        """The next part; StopIteration while results must come first."""
        if not self.parts:
            raise StopIteration
        return self.parts.popleft()

    def replayed(self) -> Iterator[Trial]:
        """The trials of the journal, which the sampler learns again in order."""
        for slot, stored in enumerate(self.known[: self.slots]):
            trial = make_trial(
                slot, stored.point, decode_trial(self.games, slot, [stored.games]), stored.seconds,
                stored.ended, self.bundled,
            )  # fmt: skip
            self.tell(trial)
            yield trial

    def tell(self, trial: Trial) -> None:
        """The trial of the next slot is finished: the sampler learns its score."""
        del self.points[trial.slot]
        self.sampler.tell(trial.slot, trial.point, trial.score, trial.noise)
        self._end_step(trial)
        self.finished += 1
        self._fill()

    def _end_step(self, trial: Trial) -> None:
        """Tell the sampler whether the trials of a step differ, once all of them are finished."""
        size = self.games.sharing
        if size == 1 or trial.slot == 0:
            return
        self.step.append(trial.fingerprint)
        if len(self.step) == size:
            step_played(self.sampler, trial.slot, step_differs(self.step))
            self.step = []

    def end_at_once(self) -> None:
        """Propose nothing more, and drop the trials that no worker has begun."""
        begun = {slot for slot in self.points if slot not in {part.slot for part in self.parts}}
        self.slots = max([self.finished, *(slot + 1 for slot in begun)])
        self.parts = deque(part for part in self.parts if part.slot < self.slots)

    def _fill(self) -> None:
        while self.proposed < self.slots and self.proposed - self.finished < self.window:
            slot = self.proposed
            self.proposed += 1
            if slot < len(self.known):
                self.points[slot] = self.known[slot].point
                resume(self.sampler, slot, self.points[slot])
            else:
                self.points[slot] = self.sampler.propose(slot)
                self.parts.extend(self._parts(slot))

    def _parts(self, slot: int) -> list[TrialTask]:
        changes = self.games.space.changes(self.points[slot])
        parts = []
        for match in range(len(self.games.plans)):
            span = self.games.span(slot, match)
            size = max(LEAST_PAIRS, -(-len(span) // self.cuts))
            for start in range(span.start, span.stop, size):
                task = Task(start, min(start + size, span.stop), {})
                parts.append(TrialTask(slot, match, task, changes, False))
        parts[-1] = parts[-1]._replace(last=True)
        return parts


def trial_job(games: TrialGames, options: PlayOptions) -> Job[TrialTask, TrialGamesBlob]:
    """Play parts of trials by workers that have all agents built."""
    deaths = Counter[tuple[int, int, int]]()

    def play(part: TrialTask) -> TrialGamesBlob:
        return games.player.play(part)  # built when it is first needed

    def prepare() -> None:
        if options.cluster is None:
            assert games.player
        else:  # others play: only the agents of users are tried here
            try_users(games.plans[0], HostSettings(games.wall))

    def package() -> WorkPackage:
        maker = "arena.tuning.trial_games:remote_trial_job"
        return make_package(maker, games.plans, games.space, games.wall.required)

    def is_excused(part: TrialTask) -> bool:
        key = (part.slot, part.match, part.task.start)
        deaths[key] += 1
        return deaths[key] <= MAX_EXCUSED

    def isolation() -> str:
        return games.wall.level.name if any(map(users_code, games.plans[0].specs)) else ""

    return Job(
        play,
        describe=describe_part,
        prepare=prepare,
        package=package,
        before_workers=games.wall.restart_if_lost,
        is_excused=is_excused,
        isolation=isolation,
    )


def remote_trial_job(
    _: RemoteSite, plans: tuple[DrawnPlan, ...], space: Space, required: bool
) -> Job[TrialTask, TrialGamesBlob]:
    """Play parts of trials for another machine."""
    games = TrialGames(space, plans, (), 1, Sandbox(required))
    return trial_job(games, PlayOptions(1, Interrupts()))


def describe_part(part: TrialTask) -> str:
    """Name a part of a trial."""
    return (
        f"trial {part.slot}, pairings {part.task.start} to {part.task.stop - 1} of match "
        f"{part.match + 1}"
    )


def played(queue: TrialQueue, section: Section, options: PlayOptions) -> Iterator[Trial]:
    """Play the trials that are left; each is stored before the sampler learns its score."""
    job, blobs, seconds = trial_job(queue.games, options), list[bytes](), 0.0
    if options.cluster is not None:
        job.prepare()
    with closing(run_in_order(job, iterate_items(queue), options)) as parts:
        for done in parts:
            blobs.append(done.games)
            seconds += done.seconds
            if done.part.last:
                trial = _finished(queue, section, done.part.slot, blobs, seconds)
                blobs, seconds = [], 0.0
                yield trial


def _finished(
    queue: TrialQueue, section: Section, slot: int, blobs: list[bytes], seconds: float
) -> Trial:
    """Score a whole trial, keep it, and tell it to the sampler."""
    point, games = queue.points[slot], decode_trial(queue.games, slot, blobs)
    refuse_forfeits(slot, games)
    ended = time.time()
    trial = make_trial(slot, point, games, seconds, ended, queue.bundled)
    blob = blobs[0] if len(blobs) == 1 else encode_games(games)
    store_trial(section, slot, StoredTrial(point, blob, seconds, ended))
    queue.tell(trial)
    return trial


def refuse_forfeits(slot: int, games: Games) -> None:
    """Raise a UserError if no game of a trial was played out: its score says nothing."""
    if len(games) and not fair_games(games).any():
        kind = Termination(int(games.termination[0])).name.lower()
        text = fault_text(kind, games.traces.get(0, ""))
        raise UserError(
            f"all {len(games)} games of trial {slot} were forfeited; in the first: {text}"
        )
