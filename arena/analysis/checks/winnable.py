"""Games that were not won, compared with what perfect play gets from their openings."""

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

from arena.analysis.evidence import Evidence, not_won
from arena.analysis.match_counts import Match
from arena.planning.games import DRAW
from games import Game, Position
from games.solving import Bounds, Budget, SolverSettings, solver_of
from games.solving.solution import hopeless
from games.solving.solver import Allowance, Solver, sign

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str], None]
TURN_SECONDS = 0.2
WORD_SECONDS = 5.0  # between two words about how it goes
TABLE_BITS = 20
# Few openings are solved sooner than a large database is built.
FEW, FEW_BEANS = 200, 12
_Alike = tuple[int, int, int]  # opening, player, result


class CancellableAllowance(Allowance):
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

    def allowance(self, nodes: int) -> CancellableAllowance:
        """A budget of positions, which ends early if the work is abandoned."""
        return CancellableAllowance(Budget(nodes=nodes), self.stopped)

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


@dataclass(frozen=True, slots=True)
class UnwonGames:
    """Games on one opening that the agent did not win as the same player, with the same result.

    There are so many `games`; `row` and `plies` are those of the shortest, the first of equals.
    """

    row: int
    plies: int
    games: int
    player: int
    result: int  # 0 a draw, -1 a loss
    opening: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SolvedOpening:
    """Games that were not won, and what their opening was worth to the agent; None: undecided."""

    game: UnwonGames
    opening: int | None  # 1, 0 or -1
    could_do_better: bool | None


@dataclass(frozen=True, slots=True)
class LosingMove:
    """The move that threw the better result away: its ply from 1, with its cost."""

    ply: int
    move: str
    before: Bounds
    after: Bounds
    line: str  # the game up to the move

    @property
    def words(self) -> str:
        """Such as `ply 23: 4 turns a win into a draw, +4 into +0: it loses 4`."""
        return (
            f"ply {self.ply}: {self.move} turns a {outcome(self.before)} into a "
            f"{outcome(self.after)}{loss_words(self.before, self.after)}"
        )


def outcome(bounds: Bounds) -> str:
    """Win, draw or loss, as far as the bounds decide."""
    return bounds.outcome or ("win or draw" if bounds.low >= 0 else "draw or loss")


def loss_words(before: Bounds, after: Bounds) -> str:
    """The loss in margin in words, if it is known."""
    if not (before.exact and after.exact):
        return ""
    return f", {before.low:+d} into {after.low:+d}: it loses {before.low - after.low}"


def unwon_games(evidence: Evidence, match: Match) -> list[UnwonGames]:
    """The games of a match that its first agent did not win, in the order of their openings."""
    shortest, counts = dict[_Alike, tuple[int, int]](), Counter[_Alike]()
    for start, games in evidence.pieces():
        for row in np.flatnonzero(not_won(games, match.a, match.b)).tolist():
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


def settled(evidence: Evidence, games: Sequence[UnwonGames], nodes: int) -> list[SolvedOpening]:
    """The value of every opening, solved with at most `nodes` positions each."""
    of = evidence.plan.of
    beans = FEW_BEANS if len(games) <= FEW else None
    threads = SolverThreads(of, SolverSettings(TABLE_BITS, beans), evidence.progress)

    def work(solver: Solver, game: UnwonGames) -> SolvedOpening:
        position = after(of, game.opening)
        if hopeless(of, position):
            return SolvedOpening(game, None, None)
        found = solver.outcome(position, threads.allowance(nodes))
        return classify_opening(game, bounds_for_player(game.player, position, found))

    return threads.results(work, games, "solving the openings of games not won")


def classify_opening(game: UnwonGames, bounds: Bounds) -> SolvedOpening:
    """The game with what is known about its opening."""
    if bounds.low > game.result:
        better = True
    elif sign(bounds.high) <= game.result:
        better = False
    else:
        better = None
    opening = sign(bounds.low) if sign(bounds.low) == sign(bounds.high) else None
    return SolvedOpening(game, opening, better)


def after(of: Game, moves: Sequence[int]) -> Position:
    """The position that the moves lead to."""
    position = of.start()
    for move in moves:
        position = of.play(position, move)
    return position


def bounds_for_player(player: int, position: Position, bounds: Bounds) -> Bounds:
    """The bounds of the mover's margin as those of a player."""
    return bounds if position.mover == player else bounds.turned()


def find_losing_move(evidence: Evidence, game: UnwonGames, nodes: int) -> LosingMove | None:
    """The last move of the agent before which it could do better; None if there is none."""
    moves = evidence.moves(game.row)
    if moves is None:
        return None
    of = evidence.plan.of
    positions = [of.start()]
    for move in moves:
        positions.append(of.play(positions[-1], move))
    threads = SolverThreads(of, SolverSettings(TABLE_BITS + 2, FEW_BEANS), evidence.progress)

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
    return threads.results(work, [plies], "looking for the move that lost it")[0]


def lost_openings_text(games: Sequence[SolvedOpening], name: str) -> str:
    """Which of the games could not be won when their opening was over; empty if none is known."""
    counts = {
        value: sum(each.game.games for each in games if each.opening == value) for value in (-1, 0)
    }
    words = [
        f"{count:,} {'was' if count == 1 else 'were'} {word}"
        for (_, count), word in zip(counts.items(), ("lost", "drawn"), strict=True)
        if count
    ]
    if not words:
        return ""
    rescued = sum(each.game.games for each in games if each.opening == -1 and each.game.result == 0)
    more = f"; {rescued:,} of the lost ones still drawn" if rescued else ""
    return f"{' and '.join(words)} before {name}'s first move (proved){more}"
