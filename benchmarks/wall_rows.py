"""Bots behind the wall: what a game costs, how soon twelve play, what replaying costs."""

import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from agents.core import Agent, AgentSpec
from agents.registry import build
from agents.sandbox.sandbox import Sandbox
from agents.search.compiled_agent import CompiledAgent
from arena.config.experiment import load
from arena.planning.schedule import DrawnPlan, make_schedule
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
from games.playouts import play_random_games

PAIRS, TASK = 3000, 100  # that workers play, in tasks of so many
BOT = "def choose(view, legal, rng):\n    return {}\n"
HEAD = 'game = "kalah(6,4)"\npairs = {pairs}\nopenings = {{ random_plies = 6 }}\n'
AGENT = '[agents.{name}]\nkind = "python"\nfile = "{name}.py"\n'
SECONDS_OF_TWELVE = 2.0


class InProcess(Worker):
    """A worker that runs the bots itself."""

    def agent(self, place: int) -> Agent:
        """The agent at one place, built here."""
        if place not in self.agents:
            self.agents[place] = build(self.drawn.specs[place], self.drawn.of)
        return self.agents[place]


def bot_tournament(directory: Path, bots: int, pairs: int) -> DrawnPlan:
    """A tournament of trivial bots."""
    names = [f"bot{number}" for number in range(bots)]
    for number, name in enumerate(names):
        (directory / f"{name}.py").write_text(
            BOT.format("rng.choice(legal)" if number else "legal[0]")
        )
    path = directory / "bots.toml"
    path.write_text(HEAD.format(pairs=pairs) + "".join(AGENT.format(name=name) for name in names))
    return make_schedule(load(path).plan)


def worker_seconds(drawn: DrawnPlan, wall: Sandbox, workers: int, here: bool = False) -> float:
    """Seconds in which workers play all games, once their bots have started.

    `here`: the workers run the bots themselves, as nothing of ours does any more.
    """
    job = GameJob(drawn, PlayOptions(workers, Interrupts(), wall=wall))
    if here:
        job.worker = InProcess(drawn, wall)
    total = drawn.pairings.total
    tasks = [Task(at, at + TASK, {}) for at in range(0, total, TASK)]
    with closing(job.batches(iterate_items(tasks))) as batches:
        for _ in range(workers):
            next(batches)
        begun = time.perf_counter()
        for _ in batches:
            pass
        return (time.perf_counter() - begun) * total / (total - workers * TASK)


def worker_row(
    what: str, rounds: int, behind: int, against: tuple[int, bool], target: float
) -> Row:
    """So many workers with bots behind walls, against others: how many, and whether without."""
    with tempfile.TemporaryDirectory() as place:
        drawn, wall = bot_tournament(Path(place), 2, PAIRS), Sandbox()
        ours, others = best_of(
            rounds,
            lambda: worker_seconds(drawn, wall, behind),
            lambda: worker_seconds(drawn, wall, *against),
        )
        level = wall.level.name
        wall.close()
    games = 2 * PAIRS
    what = what.format(level=level)
    return Row(what, per_second(games / ours), per_second(games / others), others / ours, target)


def bots_behind_walls(rounds: int) -> Row:
    """Games of two trivial Python bots, one worker: behind the strongest walls, and without.

    The worker keeps to a core with its bots, as in a run: from core to core it is half as fast.
    """
    return worker_row(
        "two Python bots, one worker: walls ({level}) : same process", rounds, 1, (1, True), 0.4
    )


def two_workers_behind_walls(rounds: int) -> Row:
    """Two workers against one, the bots of both behind walls: a worker waits while they think."""
    what = "two Python bots behind walls ({level}), two workers : one"
    return worker_row(what, rounds, 2, (1, False), 1.9)


def walls_with_two_workers(rounds: int) -> Row:
    """Two workers with bots behind walls, against one that runs the bots itself.

    Before there were walls a second worker gained nothing: 6,000 games took as long with one.
    """
    what = "two Python bots, two workers with walls ({level}) : one without"
    return worker_row(what, rounds, 2, (1, True), 1.2)


def bounds_checks(rounds: int) -> Row:
    """A search with an evaluation of table look-ups, its indices checked, against `trusted`."""
    file = EVALUATIONS / "kalah_table.py"
    checked, trusted = (table_searcher(f"{file}:evaluate", each) for each in (False, True))
    check_equal("kalah(6,4)", search_outcome(checked), search_outcome(trusted))
    ours, against = best_of(
        rounds,
        timed_job(lambda: search_outcome(checked), REPEATS),
        timed_job(lambda: search_outcome(trusted), REPEATS),
    )
    nodes = search_outcome(checked).nodes
    what = "alpha-beta 10, an evaluation of 12 table look-ups, nodes: the same, trusted"
    return Row(what, per_second(nodes / ours), per_second(nodes / against), against / ours, 0.8)


def table_searcher(evaluate: str, trusted: bool) -> CompiledAgent:
    """A search with a user's evaluation, in this process."""
    agent = build(
        AgentSpec("alphabeta", depth=10, evaluate=evaluate, trusted=trusted), game("kalah(6,4)")
    )
    assert isinstance(agent, CompiledAgent)
    return agent


def twelve_bots_start(rounds: int) -> Row:
    """The first pairing of each match of twelve bots, spawner and all starts included."""
    with tempfile.TemporaryDirectory() as place:
        drawn = bot_tournament(Path(place), 12, 1)

        def begin() -> None:
            wall = Sandbox()
            worker = Worker(drawn, wall)
            for pairing in range(0, drawn.pairings.total, 11):
                worker.play(Task(pairing, pairing + 1, {}))
            wall.close()

        (seconds,) = best_of(min(rounds, 3), timed_job(begin))
    what = "twelve bots, to their first games"
    return Row(what, f"{seconds:.2f} s", f"{SECONDS_OF_TWELVE:g} s", SECONDS_OF_TWELVE / seconds, 1)


def clean_replays(rounds: int) -> Row:
    """Replaying games by clean rules against playing random ones by the kernel."""
    of = game("kalah(6,4)")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "random.toml"
        kinds = "".join(f'[agents.{name}]\nkind = "random"\n' for name in ("a", "b"))
        path.write_text(HEAD.format(pairs=10_000) + kinds)
        drawn = make_schedule(load(path).plan)
        played = Worker(drawn).play(Task(0, 10_000, {}))
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
