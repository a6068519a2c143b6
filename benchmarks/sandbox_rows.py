"""Benchmarks of sandboxed bots: the cost of a game, start-up of twelve bots, replaying."""

import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from agents.core import Agent, AgentSpec
from agents.registry import build
from agents.sandbox.sandbox import Sandbox
from agents.search.compiled_agent import CompiledAgent
from arena.config.experiment import load_experiment
from arena.planning.schedule import Schedule, make_schedule
from arena.planning.tasks import Task
from arena.playing.executor import iterate_items
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.referee_loop import replay_games
from arena.playing.worker import GameJob, Worker
from benchmarks.perft_rows import check_equal
from benchmarks.search_rows import EVALUATIONS, REPEATS, search_outcome
from benchmarks.table import Row, per_second
from benchmarks.timing import best_of, timed_job
from games import game
from games.perft import play_random_games

PAIRS, TASK = 3000, 100  # pairs to play, and pairs in a task
BOT = "def choose(view, legal, rng):\n    return {}\n"
HEAD = 'game = "kalah(6,4)"\npairs = {pairs}\nopenings = {{ random_plies = 6 }}\n'
AGENT = '[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n'
SECONDS_OF_TWELVE = 2.0


class InProcessWorker(Worker):
    """A worker that runs the bots in its process, without a sandbox."""

    def agent(self, place: int) -> Agent:
        """Return the agent at one place."""
        if place not in self.agents:
            self.agents[place] = build(self.schedule.specs[place], self.schedule.game)
        return self.agents[place]


def bot_tournament(directory: Path, bots: int, pairs: int) -> Schedule:
    """Return the schedule of a tournament of trivial bots."""
    names = [f"bot{number}" for number in range(bots)]
    for number, name in enumerate(names):
        (directory / f"{name}.py").write_text(
            BOT.format("rng.choice(legal)" if number else "legal[0]")
        )
    path = directory / "bots.toml"
    path.write_text(HEAD.format(pairs=pairs) + "".join(AGENT.format(name=name) for name in names))
    return make_schedule(load_experiment(path).plan)


def worker_seconds(schedule: Schedule, sandbox: Sandbox, workers: int, here: bool = False) -> float:
    """Return the seconds in which workers play all games, once their bots have started.

    With `here`, the workers run the bots in their process, which only this benchmark does.
    """
    job = GameJob(schedule, PlayOptions(workers, Interrupts(), sandbox=sandbox))
    if here:
        job.worker = InProcessWorker(schedule, sandbox)
    total = schedule.pairs.total
    tasks = [Task(at, at + TASK, {}) for at in range(0, total, TASK)]
    with closing(job.batches(iterate_items(tasks))) as batches:
        for _ in range(workers):
            next(batches)
        begun = time.perf_counter()
        for _ in batches:
            pass
        return (time.perf_counter() - begun) * total / (total - workers * TASK)


def worker_row(
    what: str, rounds: int, sandboxed: int, against: tuple[int, bool], target: float
) -> Row:
    """Compare a number of workers with sandboxed bots with another number, sandboxed or not."""
    with tempfile.TemporaryDirectory() as place:
        schedule, sandbox = bot_tournament(Path(place), 2, PAIRS), Sandbox()
        ours, others = best_of(
            rounds,
            lambda: worker_seconds(schedule, sandbox, sandboxed),
            lambda: worker_seconds(schedule, sandbox, *against),
        )
        level = sandbox.level.name
        sandbox.close()
    games = 2 * PAIRS
    what = what.format(level=level)
    return Row(what, per_second(games / ours), per_second(games / others), others / ours, target)


def sandboxed_bots(rounds: int) -> Row:
    """Compare two trivial Python bots in the strictest sandbox with bots in the worker's process.

    A worker and its bots share a core, as in a run; spread over cores they are half as fast.
    """
    return worker_row(
        "two Python bots, one worker: walls ({level}) : same process", rounds, 1, (1, True), 0.4
    )


def two_sandboxed_workers(rounds: int) -> Row:
    """Compare two workers with one, all with sandboxed bots; workers wait while bots think."""
    what = "two Python bots behind walls ({level}), two workers : one"
    return worker_row(what, rounds, 2, (1, False), 1.9)


def sandbox_with_two_workers(rounds: int) -> Row:
    """Compare two workers with sandboxed bots with one worker that runs the bots itself.

    Before the sandbox a second worker gained nothing: 6,000 games took as long with one.
    """
    what = "two Python bots, two workers with walls ({level}) : one without"
    return worker_row(what, rounds, 2, (1, True), 1.2)


def bounds_checks(rounds: int) -> Row:
    """Compare a search that checks the indices of table look-ups with one that does not."""
    file = EVALUATIONS / "kalah_table.py"
    checked, unchecked = (table_searcher(f"{file}:evaluate", each) for each in (True, "unchecked"))
    check_equal("kalah(6,4)", search_outcome(checked), search_outcome(unchecked))
    ours, against = best_of(
        rounds,
        timed_job(lambda: search_outcome(checked), REPEATS),
        timed_job(lambda: search_outcome(unchecked), REPEATS),
    )
    nodes = search_outcome(checked).nodes
    what = "alpha-beta 10, an evaluation of 12 table look-ups, nodes: the same, unchecked"
    return Row(what, per_second(nodes / ours), per_second(nodes / against), against / ours, 0.8)


def table_searcher(evaluate: str, checks: bool | str) -> CompiledAgent:
    """Return a search with a user's evaluation, in this process."""
    agent = build(
        AgentSpec("alphabeta", depth=10, evaluate=evaluate, compile=checks), game("kalah(6,4)")
    )
    assert isinstance(agent, CompiledAgent)
    return agent


def twelve_bots_start(rounds: int) -> Row:
    """Measure the first pair of each match of twelve bots, all starts included."""
    with tempfile.TemporaryDirectory() as place:
        schedule = bot_tournament(Path(place), 12, 1)

        def begin() -> None:
            sandbox = Sandbox()
            worker = Worker(schedule, sandbox)
            for pair in range(0, schedule.pairs.total, 11):
                worker.play(Task(pair, pair + 1, {}))
            sandbox.close()

        (seconds,) = best_of(min(rounds, 3), timed_job(begin))
    what = "twelve bots, to their first games"
    return Row(what, f"{seconds:.2f} s", f"{SECONDS_OF_TWELVE:g} s", SECONDS_OF_TWELVE / seconds, 1)


def clean_replays(rounds: int) -> Row:
    """Compare replaying games in plain Python rules with random games in the kernel."""
    of = game("kalah(6,4)")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "random.toml"
        kinds = "".join(f'[agents.{name}]\nkind = "random"\n' for name in ("a", "b"))
        path.write_text(HEAD.format(pairs=10_000) + kinds)
        schedule = make_schedule(load_experiment(path).plan)
        played = Worker(schedule).play(Task(0, 10_000, {}))
    assert played.moves is not None  # the plan keeps them
    moves, plies = np.array(played.moves), np.array(played.plies)
    games = len(plies)
    ours, against = best_of(
        rounds,
        timed_job(lambda: replay_games(of, moves, plies)),
        timed_job(lambda: play_random_games(of, games, 1)),
    )
    what = "games replayed by clean rules : random games"
    return Row(what, per_second(games / ours), per_second(games / against), against / ours, 0.3)
