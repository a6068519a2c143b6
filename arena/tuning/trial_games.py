"""The games of trials, played by workers that stay ready between trials."""

import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.core import AgentSpec, HostSettings, Options
from agents.fault_text import fault_text
from agents.registry import user_code_reason
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
from arena.planning.schedule import Schedule, make_schedule
from arena.planning.tasks import Task
from arena.playing.bots import try_bots
from arena.playing.cluster.package import RemoteSite, WorkPackage, make_package
from arena.playing.executor import Job, iterate_items, run_in_order
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.worker import Worker
from arena.storage.journal import Section
from arena.tuning.space import WEIGHTS, Params, Space
from arena.tuning.trials import StoredTrial, Trial, make_trial, store_trial
from games.base.errors import UserError

if TYPE_CHECKING:
    from arena.tuning.optuna_study import OptunaSearch

CANDIDATE = "candidate"
WINDOW = 4  # trials in progress; fixed, so that the result does not depend on the workers
MAX_FAILURES = 4  # of a part: workers may also be ended from outside
MIN_PAIRS = 8  # of a part


class Opponent(NamedTuple):
    """An opponent of the candidates, and the pairs that it plays in each trial."""

    name: str
    spec: AgentSpec
    pairs: int


@dataclass(frozen=True)
class TrialGames:
    """The games of all trials: one plan for each opponent, of which each trial plays a part.

    The trials of a step share openings and seeds; different steps have different ones.
    """

    space: Space
    plans: tuple[Schedule, ...]
    pairs: tuple[int, ...]  # of a trial against each opponent
    step_size: int  # trials in a step; trial 0 is a step by itself
    sandbox: Sandbox

    def pair_range(self, number: int, match: int) -> range:
        """Return the pairs of a trial in the plan of an opponent."""
        step = -(-number // self.step_size)
        return range(step * self.pairs[match], (step + 1) * self.pairs[match])

    def schedule_columns(self, number: int) -> dict[str, GameColumn]:
        """Return the columns of the schedule for all games of a trial, numbered from 0."""
        parts, first, other = [], 0, 0
        for match, drawn in enumerate(self.plans):
            pairs = self.pair_range(number, match)
            columns = drawn.pairs.columns(pairs.start, pairs.stop)
            pair, opening = columns["pair"] - pairs.start + first, columns["opening"] + other
            parts.append(columns | {"pair": pair, "opening": opening})
            first, other = first + len(pairs), other + len(drawn.openings)
        return {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}

    @cached_property
    def worker(self) -> "TrialWorker":
        """The agents of this process, built and compiled before other processes are forked."""
        return TrialWorker(self)


class TrialTask(NamedTuple):
    """Some pairs of a trial against one opponent, and how the candidate differs from its spec."""

    trial: int
    match: int
    task: Task
    changes: Options
    last: bool  # of its trial


class TrialGamesBlob(NamedTuple):
    """The encoded games of a part and the seconds that they took."""

    part: TrialTask
    games: bytes
    seconds: float


def trial_games(
    plan: Plan,
    tuned: AgentSpec,
    space: Space,
    opponents: tuple[Opponent, ...],
    openings: Openings,
    trials: int,
    step_size: int,
    sandbox: Sandbox,
) -> TrialGames:
    """Return the games of `trials` trials; each opponent gets a share of the openings."""
    agents = {CANDIDATE: tuned} | {each.name: each.spec for each in opponents}
    whole, drawn, first = sum(each.pairs for each in opponents), [], 0
    for place, opponent in enumerate(opponents, 1):
        pairs = trials * opponent.pairs
        match_plan = replace(plan, agents=agents, matches=((0, place),), pairs=pairs)
        start, first = len(openings) * first // whole, first + opponent.pairs
        share = select_openings(openings, slice(start, len(openings) * first // whole))
        drawn.append(make_schedule(match_plan, share))
    return TrialGames(
        space, tuple(drawn), tuple(each.pairs for each in opponents), step_size, sandbox
    )


def select_openings(openings: Openings, places: slice | NDArray[np.int64]) -> Openings:
    """Return some of the openings."""
    return Openings(openings.slots[places], openings.keys[places], finite=False)


class TrialWorker:
    """Plays parts of trials in one process; all plans share the built agents."""

    def __init__(self, of: TrialGames) -> None:
        self.changes: Options = {}  # of the present candidate
        self.workers = [Worker(drawn, of.sandbox) for drawn in of.plans]
        first = self.workers[0]
        for worker in self.workers[1:]:
            worker.agents = first.agents
        try_bots(first.schedule, first.host_settings)
        first.compile_agents()
        for worker in self.workers:
            if not any(map(user_code_reason, worker.schedule.specs)):
                worker.play(Task(0, 1, {}))  # compiles the loop of a whole game

    def play(self, part: TrialTask) -> TrialGamesBlob:
        """Play the games of a part."""
        started = time.perf_counter()
        worker = self.workers[part.match]
        if part.changes.keys() == {WEIGHTS}:
            candidate: Any = worker.agent(0)  # a search, which takes new weights
            candidate.set_weights(part.changes[WEIGHTS])
        elif part.changes != self.changes:
            worker.replace_agent(0, worker.schedule.specs[0].replace(**part.changes))
        self.changes = part.changes
        games = worker.play(part.task)
        return TrialGamesBlob(part, encode_games(games), time.perf_counter() - started)


def games_per_second(of: TrialGames, changes: Options, min_seconds: float) -> float:
    """Measure the speed of one process over all opponents for at least `min_seconds`."""
    shortest = min(drawn.pairs.total for drawn in of.plans)
    pairs, games, seconds = 1, 0, 0.0
    while seconds < min_seconds:
        for match in range(len(of.plans)):
            result = of.worker.play(TrialTask(0, match, Task(0, pairs, {}), changes, True))
            games, seconds = games + 2 * pairs, seconds + result.seconds
        pairs = min(2 * pairs, shortest)
    return games / seconds


def decode_trial(of: TrialGames, number: int, blobs: list[bytes]) -> Games:
    """Return the games of a whole trial."""
    return decode_games(blobs, of.schedule_columns(number))


class TrialQueue:
    """The parts to play next.

    The search proposes trial n after trial n - `window` has finished and before the next one does,
    so trials depend neither on the number of workers nor on an interruption.
    """

    def __init__(
        self,
        of: TrialGames,
        search: "OptunaSearch",
        trials: int,
        workers: int,
        known: Sequence[StoredTrial],
        window: int = WINDOW,
        bundled: bool = False,
    ) -> None:
        """Queue `trials` trials, of which the first are `known` from the journal."""
        self.games, self.search, self.trials, self.known = of, search, trials, known
        self.next_number = self.finished = 0
        self.params: dict[int, Params] = {}  # of the trials in progress
        self.parts: deque[TrialTask] = deque()
        self.window, self.cuts = window, max(1, -(-2 * workers // window))
        self.bundled = bundled
        self._fill()

    def __iter__(self) -> Iterator[TrialTask]:
        return self

    def __next__(self) -> TrialTask:
        """Return the next part; StopIteration while results must come first."""
        if not self.parts:
            raise StopIteration
        return self.parts.popleft()

    def replay_journal(self) -> Iterator[Trial]:
        """Tell the search the trials of the journal, and yield them."""
        for number, stored in enumerate(self.known[: self.trials]):
            games = decode_trial(self.games, number, [stored.games])
            yield self.finish(number, games, stored.seconds, stored.end_time)

    def finish(self, number: int, games: Games, seconds: float, end_time: float = 0.0) -> Trial:
        """Score the next trial in order, and tell the search."""
        point = self.games.space.round_point(self.games.space.point(self.params.pop(number)))
        trial = make_trial(number, point, games, seconds, end_time, self.bundled)
        self.search.tell(number, trial.score, trial.fingerprint)
        self.finished += 1
        self._fill()
        return trial

    def stop_early(self) -> None:
        """Ask for no more trials, and drop those that no worker has begun."""
        waiting = {part.trial for part in self.parts}
        begun = [number + 1 for number in self.params if number not in waiting]
        self.trials = max([self.finished, *begun])
        self.parts = deque(part for part in self.parts if part.trial < self.trials)

    def _fill(self) -> None:
        while self.next_number < self.trials and self.next_number - self.finished < self.window:
            number = self.next_number
            self.next_number += 1
            if number < len(self.known):
                self.params[number] = self.search.ask(self.known[number].params)
            else:
                self.params[number] = self.search.ask()
                self.parts.extend(self._make_parts(number))

    def _make_parts(self, number: int) -> list[TrialTask]:
        space, parts = self.games.space, list[TrialTask]()
        changes = space.changes(space.point(self.params[number]))
        for match in range(len(self.games.plans)):
            pairs = self.games.pair_range(number, match)
            size = max(MIN_PAIRS, -(-len(pairs) // self.cuts))
            for start in range(pairs.start, pairs.stop, size):
                task = Task(start, min(start + size, pairs.stop), {})
                parts.append(TrialTask(number, match, task, changes, False))
        parts[-1] = parts[-1]._replace(last=True)
        return parts


def trial_job(games: TrialGames, options: PlayOptions) -> Job[TrialTask, TrialGamesBlob]:
    """Return the job that plays parts of trials."""
    failures = Counter[tuple[int, int, int]]()

    def play(part: TrialTask) -> TrialGamesBlob:
        return games.worker.play(part)  # a worker of a cluster is built at its first part

    def prepare() -> None:
        if options.cluster is None:
            assert games.worker
        else:  # only the agents of users are tried here
            try_bots(games.plans[0], HostSettings(games.sandbox))

    def package() -> WorkPackage:
        maker = "arena.tuning.trial_games:remote_trial_job"
        return make_package(maker, games.plans, games.space, games.sandbox.required)

    def may_retry(part: TrialTask) -> bool:
        key = (part.trial, part.match, part.task.start)
        failures[key] += 1
        return failures[key] <= MAX_FAILURES

    def isolation() -> str:
        return games.sandbox.level.name if any(map(user_code_reason, games.plans[0].specs)) else ""

    return Job(
        play,
        describe=describe_part,
        prepare=prepare,
        package=package,
        before_workers=games.sandbox.replace_lost_spawner,
        is_excused=may_retry,
        isolation=isolation,
    )


def remote_trial_job(
    _: RemoteSite, plans: tuple[Schedule, ...], space: Space, required: bool
) -> Job[TrialTask, TrialGamesBlob]:
    """Return the job on another machine."""
    games = TrialGames(space, plans, (), 1, Sandbox(required))
    return trial_job(games, PlayOptions(1, Interrupts()))


def describe_part(part: TrialTask) -> str:
    """Name a part of a trial."""
    pairs = f"pairs {part.task.start} to {part.task.stop - 1}"
    return f"trial {part.trial}, {pairs} of match {part.match + 1}"


def play_queue(queue: TrialQueue, section: Section, options: PlayOptions) -> Iterator[Trial]:
    """Play the trials that are left; each is stored before the search learns its score."""
    job, blobs, seconds = trial_job(queue.games, options), list[bytes](), 0.0
    if options.cluster is not None:
        job.prepare()
    with closing(run_in_order(job, iterate_items(queue), options)) as parts:
        for done in parts:
            blobs.append(done.games)
            seconds += done.seconds
            if done.part.last:
                number = done.part.trial
                games, end_time = decode_trial(queue.games, number, blobs), time.time()
                refuse_forfeits(number, games)
                blob = blobs[0] if len(blobs) == 1 else encode_games(games)
                stored = StoredTrial(queue.params[number], blob, seconds, end_time)
                store_trial(section, number, stored)
                yield queue.finish(number, games, seconds, end_time)
                blobs, seconds = [], 0.0


def refuse_forfeits(number: int, games: Games) -> None:
    """Raise a UserError if all games of a trial were forfeited: its score means nothing."""
    if len(games) and not fair_games(games).any():
        kind = Termination(int(games.termination[0])).name.lower()
        text = fault_text(kind, games.traces.get(0, ""))
        raise UserError(
            f"all {len(games)} games of trial {number} were forfeited; in the first: {text}"
        )
