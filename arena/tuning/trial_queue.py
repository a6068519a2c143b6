"""The trials under way: proposed ahead, played in parts, kept in order."""

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np

from agents import users_code
from agents.fault_text import fault_text
from agents.wall.bot_terms import Terms
from agents.wall.wall import Wall
from arena.keeping.journal import Journal
from arena.keeping.run_log import renew_logs
from arena.planning.drawing import DrawnPlan
from arena.planning.game_blobs import encoded
from arena.planning.records import Games, Termination
from arena.planning.tasks import Task
from arena.playing import backends
from arena.playing.cluster.parcel import Parcel, parcel
from arena.playing.dry_run import try_users
from arena.playing.in_order import ItemFailed, in_order, in_turn
from arena.playing.interrupts import Interrupts
from arena.playing.workers import PlayOptions
from arena.tuning.samplers.sampler import Sampler, resume, step_played
from arena.tuning.space import Point, Space
from arena.tuning.trial_games import PlayedPart, TrialGames, TrialPart, games_of
from arena.tuning.trials import StoredTrial, Trial, keep_trial, step_differs, trial_of
from games.terminal import Mistake, Unfinished

WINDOW = 4  # trials under way; fixed, so that the answer does not depend on the workers
LEAST_PAIRS = 8  # a smaller part of a trial is not worth a task


class TuningFailed(Unfinished):  # the study ends here; finished trials are kept
    """A part of a trial fails whenever it is played."""


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
        self.parts: deque[TrialPart] = deque()
        self.window, self.cuts = window, max(1, -(-2 * workers // window))
        self.bundled = bundled
        self._fill()

    def __iter__(self) -> Iterator[TrialPart]:
        return self

    def __next__(self) -> TrialPart:
        """The next part; StopIteration while results must come first."""
        if not self.parts:
            raise StopIteration
        return self.parts.popleft()

    def replayed(self) -> Iterator[Trial]:
        """The trials of the journal, which the sampler learns again in order."""
        for slot, stored in enumerate(self.known[: self.slots]):
            trial = trial_of(
                slot, stored.point, games_of(self.games, slot, [stored.games]), stored.seconds,
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

    def end_soon(self) -> None:
        """Propose nothing more; what is proposed is still played, whatever the workers."""
        self.slots = min(self.slots, self.proposed)

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

    def _parts(self, slot: int) -> list[TrialPart]:
        changes = self.games.space.changes(self.points[slot])
        parts = []
        for match in range(len(self.games.plans)):
            span = self.games.span(slot, match)
            size = max(LEAST_PAIRS, -(-len(span) // self.cuts))
            for start in range(span.start, span.stop, size):
                task = Task(start, min(start + size, span.stop), {})
                parts.append(TrialPart(slot, match, task, changes, False))
        parts[-1] = parts[-1]._replace(last=True)
        return parts


class TrialCrew:
    """The crew that plays the parts of trials, and what is done when one of them fails."""

    MOST_DEATHS = 4  # of a part that are excused: workers are also ended from outside

    def __init__(self, of: TrialGames, options: PlayOptions) -> None:
        """Its workers begin when `in_order` does."""
        self.games, self.options = of, options
        self.name = ""  # of the worker of a cluster that this plays for
        self.homes: Mapping[str, str] = {}
        self.deaths: dict[tuple[int, int, int], int] = {}

    def begin(self, workers: int | None = None) -> backends.Backend[TrialPart, PlayedPart]:
        """A new backend whose workers have all agents built, and a spawner for their bots."""
        self.games.wall.renewed()
        return self.options.begin(lambda: self.games.player.play, self.parcel, self.look, workers)

    def parcel(self) -> Parcel:
        """The plans of a trial, to be played by others."""
        space, required = self.games.space, self.games.wall.required
        return parcel("arena.tuning.trial_queue:far_crew", self.games.plans, space, required)

    def get_ready(self) -> None:
        """Build and compile all agents; only try those of users if others play."""
        if self.options.cluster is None:
            assert self.games.player
        else:
            first = self.games.plans[0]
            try_users(first, Terms(self.games.wall))

    @property
    def isolation(self) -> str:
        """The walls that bots play behind here; empty if there are no bots."""
        specs = self.games.plans[0].specs
        return self.games.wall.level.name if any(map(users_code, specs)) else ""

    def whole(self, _part: TrialPart, parts: list[PlayedPart]) -> PlayedPart:
        """A part is never cut."""
        return parts[-1]

    def look(self) -> None:
        """Stop if that was asked for."""
        self.options.interrupts.look()

    def split(self, part: TrialPart) -> list[TrialPart]:
        """The part itself: nothing smaller is played."""
        return [part]

    def excused(self, part: TrialPart) -> bool:
        """Whether its workers have not died too often."""
        key = (part.slot, part.match, part.task.start)
        self.deaths[key] = self.deaths.get(key, 0) + 1
        return self.deaths[key] <= self.MOST_DEATHS

    def mend(self) -> None:
        """Give the log a new queue: a worker that died may hold the lock of the old one."""
        renew_logs()


def far_crew(plans: tuple[DrawnPlan, ...], space: Space, required: bool) -> TrialCrew:
    """The crew on a machine of a cluster, where one part is played at a time."""
    games = TrialGames(space, plans, (), 1, Wall(required))
    return TrialCrew(games, PlayOptions(1, Interrupts()))


def played(queue: TrialQueue, journal: Journal, options: PlayOptions) -> Iterator[Trial]:
    """Play the trials that are left; each is kept before the sampler learns its score."""
    crew, blobs, seconds = TrialCrew(queue.games, options), list[bytes](), 0.0
    if options.cluster is not None:
        crew.get_ready()
    results = closing(in_order(crew, in_turn(queue)))
    try:
        with options.interrupts.wait_for_look(), results as parts:
            for done in parts:
                blobs.append(done.games)
                seconds += done.seconds
                if done.part.last:
                    trial = _finished(queue, journal, done.part.slot, blobs, seconds)
                    blobs, seconds = [], 0.0
                    yield trial
    except ItemFailed as failure:
        raise TuningFailed(_in_words(failure)) from None


def _finished(
    queue: TrialQueue, journal: Journal, slot: int, blobs: list[bytes], seconds: float
) -> Trial:
    """Score a whole trial, keep it, and tell it to the sampler."""
    point, games = queue.points[slot], games_of(queue.games, slot, blobs)
    refuse_forfeits(slot, games)
    ended = time.time()
    trial = trial_of(slot, point, games, seconds, ended, queue.bundled)
    blob = blobs[0] if len(blobs) == 1 else encoded(games)
    keep_trial(journal, slot, StoredTrial(point, blob, seconds, ended))
    queue.tell(trial)
    return trial


def refuse_forfeits(slot: int, games: Games) -> None:
    """Raise a Mistake if no game of a trial was played out: its score says nothing."""
    fair = [int(how) for how in Termination if how.fair]
    if len(games) and not np.isin(games.termination, fair).any():
        kind = Termination(int(games.termination[0])).name.lower()
        text = fault_text(kind, games.traces.get(0, ""))
        raise Mistake(
            f"all {len(games)} games of trial {slot} were forfeited; in the first: {text}"
        )


def _in_words(failure: ItemFailed) -> str:
    """The failure in one line: which trial, and how."""
    part = failure.item
    how = failure.trace or "its worker died each time"
    return (
        f"trial {part.slot}, pairings {part.task.start} to {part.task.stop - 1} of match "
        f"{part.match + 1} fail whenever they are played (process {os.getpid()}): {how}; "
        "what was finished is kept"
    )
