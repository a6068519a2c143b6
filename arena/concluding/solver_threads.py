"""Solvers in threads, one a core, since compiled searches let other threads run."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

from games import Game
from games.solving import Budget, SolverSettings, solver_of
from games.solving.bounds import Allowance
from games.solving.solver import Solver

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str], None]

TURN_SECONDS = 0.2
WORD_SECONDS = 5.0  # between two words about how it goes


class Stoppable(Allowance):
    """An allowance that ends as soon as the work is abandoned."""

    def __init__(self, budget: Budget, stopped: threading.Event) -> None:
        """The clock starts now."""
        super().__init__(budget)
        self.stopped = stopped

    def next_slice(self) -> int:
        """Allow no more nodes once the work is abandoned."""
        return 0 if self.stopped.is_set() else super().next_slice()


class SolverThreads:
    """Solvers of one game that share its database; each item starts with an empty table."""

    def __init__(self, of: Game, settings: SolverSettings, progress: Progress) -> None:
        """The database is opened or built now."""
        self.of, self.settings, self.progress = of, settings, progress
        self.stopped = threading.Event()
        self.idle: SimpleQueue[Solver] = SimpleQueue()
        self.cores = os.cpu_count() or 1
        if hasattr(os, "sched_getaffinity"):
            self.cores = len(os.sched_getaffinity(0))
        first = solver_of(of, settings, progress)
        first.prepare()
        self.idle.put(first)
        for _ in range(self.cores - 1):
            self.idle.put(solver_of(of, settings))

    def allowance(self, nodes: int) -> Stoppable:
        """A budget of positions, which ends early if the work is abandoned."""
        return Stoppable(Budget(nodes=nodes), self.stopped)

    def results(
        self, work: Callable[[Solver, Item], Result], items: Sequence[Item], words: str
    ) -> list[Result]:
        """The results in the order of the items; `words` describe the work for progress lines."""

        def worked(item: Item) -> Result:
            with self._solver() as solver:
                return work(solver, item)

        pool = ThreadPoolExecutor(self.cores)
        try:
            jobs = [pool.submit(worked, item) for item in items]
            self._watch(jobs, words)
            return [job.result() for job in jobs]
        finally:
            self.stopped.set()  # of no use any more, or given up
            pool.shutdown(cancel_futures=True)
            self.stopped.clear()

    @contextmanager
    def _solver(self) -> Iterator[Solver]:
        solver = self.idle.get()
        solver.forget()
        try:
            yield solver
        finally:
            self.idle.put(solver)

    def _watch(self, jobs: Sequence["Future[Result]"], words: str) -> None:
        """Wait for all of them, reporting progress now and then."""
        waiting, last = set(jobs), time.monotonic()
        while waiting:
            done, waiting = wait(waiting, TURN_SECONDS, FIRST_COMPLETED)
            for job in done:
                job.result()  # raises what the work did
            if time.monotonic() - last > WORD_SECONDS:
                last = time.monotonic()
                self.progress(f"{words}: {len(jobs) - len(waiting):,} of {len(jobs):,}")
