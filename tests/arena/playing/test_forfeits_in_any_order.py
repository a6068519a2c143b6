"""The same games are forfeited unplayed in whatever order workers play."""

import random
from dataclasses import replace
from functools import partial

import pytest

from agents.core import AgentFailure, Choice
from arena.config.experiment import load_experiment
from arena.planning.games import decode_games
from arena.planning.schedule import RoundTracker, make_schedule
from arena.planning.tasks import Task, TaskQueue
from arena.playing import worker
from arena.playing.executor import WorkFailed
from arena.playing.options import Interrupts, PlayOptions
from arena.playing.play import play_schedule
from arena.playing.progress import ProgressCounter
from arena.storage.journal import RunDirectory
from tests.arena.running import experiment_file

HEAD = """
game = "kalah(4,2)"
pairs = 8
openings = { random_plies = 2 }
"""
BOT = '[agents.{name}]\nkind = "python"\nfile = "bot.py"\nmax_timeouts = 4\n'
# Bots: the share of games in which they fail, and how.
BOTS = {
    "late": (0.4, "timeout"),
    "later": (0.25, "timeout"),
    "fair": (0.0, "raised"),
    "broken": (1.0, "raised"),
    "wrong": (1.0, "timeout"),
    "crashing": (0.4, "crashed"),
}


class SomeBot:
    """A bot without a process: its faults follow from the seed of the game alone."""

    def __init__(self, of, spec, name):
        self.of, self.spec, self.name = of, spec, name

    def start(self, seed):
        self.rng = random.Random(f"{self.name} {seed}")
        share, kind = BOTS[self.name]
        if self.rng.random() < share:
            raise AgentFailure(kind, self.name, "", "it failed")

    def choose(self, position, limit=None):
        return Choice(self.rng.choice(self.of.legal(position)))


class FaultyExecutor:
    """An executor that does items in a random order, and fails some of them."""

    def __init__(self, work, workers, rng):
        self.work, self.workers, self.rng = work, workers, rng
        self.items, self.done = [], {}

    def next_worker(self):
        return "" if len(self.items) < 2 * self.workers else None

    def submit(self, item):
        self.items.append(item)

    def next_result(self, poll):
        while True:
            poll()
            order = list(reversed(range(len(self.items))))
            if self.rng.random() < 0.5:
                self.rng.shuffle(order)
            for at in order[: self.rng.randint(1, len(order))]:
                key = id(self.items[at])
                if key not in self.done:
                    self.done[key] = self.work(self.items[at])
            if len(self.items) > 1 and self.rng.random() < 0.1:
                raise WorkFailed("for a test")
            if (key := id(self.items[0])) in self.done:
                self.items.pop(0)
                return self.done.pop(key)

    def close(self):
        self.items.clear()


@pytest.fixture
def schedule(tmp_path, monkeypatch):
    (tmp_path / "bot.py").write_text("def choose(view, legal, rng):\n    return legal[0]\n")
    text = HEAD + "".join(BOT.format(name=name) for name in BOTS)
    text += '[agents.random]\nkind = "random"\n'
    monkeypatch.setattr(worker.Worker, "agent", agent_of_place)
    monkeypatch.setattr("arena.playing.play.find_unloadable", lambda *_: {})
    plan = load_experiment(experiment_file(tmp_path, text)).plan
    return make_schedule(replace(plan, required_agents=frozenset()))


def agent_of_place(self, place):
    if place not in self.agents:
        name, spec = self.schedule.plan.names[place], self.schedule.specs[place]
        self.agents[place] = (
            SomeBot(self.schedule.game, spec, name)
            if name in BOTS
            else self._create_agent(place, spec)
        )
    return self.agents[place]


def games_of(schedule, directory, monkeypatch, workers, seed):
    """The stored games, played in batches and in an order that follow from the seed."""
    rng = random.Random(seed)

    def open_executor(options, job, poll, *, alone=False):
        return FaultyExecutor(job.work, 1 if alone else options.workers, rng)

    monkeypatch.setattr(PlayOptions, "open_executor", open_executor)

    def learn(self, batch, seconds=0.0):
        self.sizes[batch.worker] = rng.randint(1, 40)

    monkeypatch.setattr(TaskQueue, "learn", learn)
    with RunDirectory(directory, "digest") as run:
        section, options = run.section(), PlayOptions(workers, Interrupts(), pin_cores=False)
        played = play_schedule(schedule, section, options, notify=lambda _: None)
        columns = played.schedule.pairs.columns(0, section.item_count())
        return decode_games((batch.content for batch in section.batches()), columns)


NAMES = ("game_id", "result", "margin", "plies", "termination")


def test_order_of_work_does_not_change_which_games_are_played(schedule, tmp_path, monkeypatch):
    compared = partial(games_of, schedule, monkeypatch=monkeypatch)
    whole = compared(tmp_path / "in order", workers=1, seed=0)
    assert {text for text in whole.traces.values() if "excluded" in text}
    assert {text for text in whole.traces.values() if "by timeout" in text}
    for workers in (1, 2, 5):
        for seed in range(4):
            other = compared(tmp_path / f"{workers} {seed}", workers=workers, seed=seed)
            for name in NAMES:
                assert other.columns[name].tolist() == whole.columns[name].tolist(), (workers, seed)
            assert other.traces == whole.traces


def test_task_leaves_out_games_after_timeouts_only_with_a_forfeit_rule(schedule):
    match = schedule.pairs.matches.index((schedule.plan.names.index("wrong"), len(BOTS)))
    task = Task(match * schedule.plan.pairs, (match + 1) * schedule.plan.pairs, {}, disqualified=())
    ruled = worker.Worker(schedule).play(task)
    assert list(ruled.traces.values()).count("it failed") == 4
    without = worker.Worker(schedule).play(task._replace(disqualified=None))
    assert set(without.traces.values()) == {"it failed"}


def test_progress_names_the_next_agents_that_are_not_disqualified(schedule):
    awaited = [
        ProgressCounter(RoundTracker(schedule), out).progress(None, {}).next_match
        for out in ((), {0}, {0, 2}, set(range(len(BOTS))))
    ]
    assert awaited == [(0, 1), (1, 2), (1, 3), None]
