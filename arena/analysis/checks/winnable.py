"""Games that were not won, compared with the result of perfect play from their openings."""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from arena.analysis.evidence import Evidence, is_not_win
from arena.analysis.match_counts import Match
from arena.planning.games import DRAW
from games import Game, Position
from games.solving import Bounds, Budget, SolverSettings, solver_of
from games.solving.solution import size_warning
from games.solving.solver import Allowance, Solver, sign

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str], None]
POLL_SECONDS = 0.2
REPORT_SECONDS = 5.0  # between two progress messages
TABLE_BITS = 20
# Solving few openings takes less time than building a large database.
MAX_SMALL_OPENINGS, SMALL_DATABASE_BEANS = 200, 12
_GroupKey = tuple[int, int, int]  # opening, player, result


class CancellableAllowance(Allowance):
    """An allowance that ends as soon as the work is abandoned."""

    def __init__(self, budget: Budget, stopped: threading.Event) -> None:
        super().__init__(budget)
        self.stopped = stopped

    def next_slice(self) -> int:
        """Return the nodes of the next slice; 0 once the work is abandoned."""
        return 0 if self.stopped.is_set() else super().next_slice()


class SolverThreads:
    """Solvers of one game that share its database; each item starts with an empty table."""

    def __init__(self, of: Game, settings: SolverSettings, progress: Progress) -> None:
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

    def allowance(self, nodes: int) -> CancellableAllowance:
        """Return a budget of nodes, which ends early if the work is abandoned."""
        return CancellableAllowance(Budget(nodes=nodes), self.stopped)

    def run(
        self, work: Callable[[Solver, Item], Result], items: Sequence[Item], text: str
    ) -> list[Result]:
        """Return the results in the order of the items; progress lines begin with `text`."""

        def solve(item: Item) -> Result:
            with self._solver() as solver:
                return work(solver, item)

        pool = ThreadPoolExecutor(self.cores)
        try:
            jobs = [pool.submit(solve, item) for item in items]
            self._watch(jobs, text)
            return [job.result() for job in jobs]
        finally:
            self.stopped.set()  # all done, or abandoned
            pool.shutdown(cancel_futures=True)
            self.stopped.clear()

    @contextmanager
    def _solver(self) -> Iterator[Solver]:
        solver = self.idle.get()
        solver.clear()
        try:
            yield solver
        finally:
            self.idle.put(solver)

    def _watch(self, jobs: Sequence["Future[Result]"], text: str) -> None:
        """Wait for all jobs and report progress."""
        waiting, last = set(jobs), time.monotonic()
        while waiting:
            done, waiting = wait(waiting, POLL_SECONDS, FIRST_COMPLETED)
            for job in done:
                job.result()  # raises the error of the work
            if time.monotonic() - last > REPORT_SECONDS:
                last = time.monotonic()
                self.progress(f"{text}: {len(jobs) - len(waiting):,} of {len(jobs):,}")


@dataclass(frozen=True, slots=True)
class UnwonGames:
    """Games on one opening that the agent did not win, on the same side and with the same result.

    `row` and `plies` are those of the shortest of the `games`, the first of equals.
    """

    row: int
    plies: int
    games: int
    player: int
    result: int  # 0 a draw, -1 a loss
    opening: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SolvedOpening:
    """Games that were not won, with the value of their opening for the agent; None: undecided."""

    game: UnwonGames
    value: int | None  # 1, 0 or -1
    could_do_better: bool | None


@dataclass(frozen=True, slots=True)
class LosingMove:
    """The move that lost the better result: its ply from 1, with its cost."""

    ply: int
    move: str
    before: Bounds
    after: Bounds
    line: str  # the game up to the move

    @property
    def text(self) -> str:
        """Return the move as `ply 23: 4 turns a win into a draw, +4 into +0: it loses 4`."""
        return (
            f"ply {self.ply}: {self.move} turns a {outcome_text(self.before)} into a "
            f"{outcome_text(self.after)}{loss_text(self.before, self.after)}"
        )


def outcome_text(bounds: Bounds) -> str:
    """Return win, draw or loss, as far as the bounds decide."""
    return bounds.outcome or ("win or draw" if bounds.low >= 0 else "draw or loss")


def loss_text(before: Bounds, after: Bounds) -> str:
    """Return the loss in margin, if it is known."""
    if not (before.exact and after.exact):
        return ""
    return f", {before.low:+d} into {after.low:+d}: it loses {before.low - after.low}"


def unwon_games(evidence: Evidence, match: Match) -> list[UnwonGames]:
    """Return the games of a match that its first agent did not win, ordered by opening."""
    shortest, counts = dict[_GroupKey, tuple[int, int]](), Counter[_GroupKey]()
    for start, games in evidence.pieces():
        for row in np.flatnonzero(is_not_win(games, match.a, match.b)).tolist():
            player = 0 if games.first[row] == match.a else 1
            result = 0 if games.result[row] == DRAW else -1
            alike = int(games.opening[row]), player, result
            each = int(games.plies[row]), start + row
            shortest[alike] = min(each, shortest.get(alike, each))
            counts[alike] += 1
    starts = evidence.starts()
    return [
        UnwonGames(row, plies, counts[alike], player, result, tuple(starts[opening]))
        for alike, (plies, row) in sorted(shortest.items())
        for opening, player, result in [alike]
    ]


def solve_openings(
    evidence: Evidence, games: Sequence[UnwonGames], nodes: int
) -> list[SolvedOpening]:
    """Return the value of every opening, solved with at most `nodes` positions each."""
    of = evidence.plan.game
    beans = SMALL_DATABASE_BEANS if len(games) <= MAX_SMALL_OPENINGS else None
    threads = SolverThreads(of, SolverSettings(TABLE_BITS, beans), evidence.progress)

    def work(solver: Solver, game: UnwonGames) -> SolvedOpening:
        position = play_moves(of, game.opening)
        if size_warning(of, position):
            return SolvedOpening(game, None, None)
        found = solver.outcome(position, threads.allowance(nodes))
        return classify_opening(game, bounds_for_player(game.player, position, found))

    return threads.run(work, games, "solving the openings of games not won")


def classify_opening(game: UnwonGames, bounds: Bounds) -> SolvedOpening:
    """Return whether better play could have had a better result from these bounds."""
    if bounds.low > game.result:
        better = True
    elif sign(bounds.high) <= game.result:
        better = False
    else:
        better = None
    opening = sign(bounds.low) if sign(bounds.low) == sign(bounds.high) else None
    return SolvedOpening(game, opening, better)


def play_moves(of: Game, moves: Sequence[int]) -> Position:
    """Return the position after these moves."""
    position = of.start()
    for move in moves:
        position = of.play(position, move)
    return position


def bounds_for_player(player: int, position: Position, bounds: Bounds) -> Bounds:
    """Return bounds of the mover's margin as bounds of a player's margin."""
    return bounds if position.mover == player else bounds.for_opponent()


def find_losing_move(evidence: Evidence, game: UnwonGames, nodes: int) -> LosingMove | None:
    """Return the last move of the agent before which it could do better; None if there is none."""
    moves = evidence.moves_of(game.row)
    if moves is None:
        return None
    of = evidence.plan.game
    positions = [of.start()]
    for move in moves:
        positions.append(of.play(positions[-1], move))
    threads = SolverThreads(
        of, SolverSettings(TABLE_BITS + 2, SMALL_DATABASE_BEANS), evidence.progress
    )

    def work(solver: Solver, plies: range) -> LosingMove | None:
        for ply in plies:
            before, behind = positions[ply : ply + 2]
            if before.mover == game.player:
                better = solver.better_than(before, game.result, threads.allowance(nodes))
                if better.low > game.result:
                    worth = solver.margin(before, threads.allowance(nodes))
                    left = solver.margin(behind, threads.allowance(nodes))
                    text = of.move_text(before, moves[ply])
                    line = of.write(moves[: ply + 1])
                    return LosingMove(
                        ply + 1, text, worth, bounds_for_player(game.player, behind, left), line
                    )
        return None

    plies = range(len(moves) - 1, len(game.opening) - 1, -1)
    return threads.run(work, [plies], "looking for the move that lost it")[0]


def opening_values_text(games: Sequence[SolvedOpening], name: str) -> str:
    """Return how many of the games could not be won after their opening; "" if none is known."""
    counts = {
        value: sum(each.game.games for each in games if each.value == value) for value in (-1, 0)
    }
    parts = [
        f"{count:,} {'was' if count == 1 else 'were'} {word}"
        for (_, count), word in zip(counts.items(), ("lost", "drawn"), strict=True)
        if count
    ]
    if not parts:
        return ""
    rescued = sum(each.game.games for each in games if each.value == -1 and each.game.result == 0)
    more = f"; it still drew {rescued:,} of the lost ones" if rescued else ""
    return f"{' and '.join(parts)} before {name}'s first move (proved){more}"
