"""The games of a trial: a candidate against fixed opponents, in small plans."""

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from agents import AgentSpec, users_code
from agents.core import Settings
from agents.wall.wall import Wall
from arena.planning.drawing import DrawnPlan, draw
from arena.planning.game_blobs import decoded, encoded
from arena.planning.openings import Openings
from arena.planning.plan import Plan
from arena.planning.records import GameColumn, Games
from arena.planning.tasks import Task
from arena.playing.dry_run import try_users
from arena.playing.worker import Worker
from arena.tuning.space import WEIGHTS, Space

CANDIDATE = "candidate"


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
    wall: Wall

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
    def player(self) -> "PartPlayer":
        """All agents built and compiled here, for the processes that are forked from here."""
        return PartPlayer(self)


class TrialPart(NamedTuple):
    """Some pairings of a trial against one opponent; the candidate's changes travel with it."""

    slot: int
    match: int
    task: Task
    changes: Settings
    last: bool  # of its trial


class PlayedPart(NamedTuple):
    """The games of a part as a blob, and the seconds they took."""

    part: TrialPart
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
    wall: Wall,
) -> TrialGames:
    """The plans of `slots` trials, made from the plan of the file.

    Every opponent gets a share of `openings`, which are those for tuning.
    """
    agents = {CANDIDATE: tuned} | {each.name: each.spec for each in opponents}
    whole, drawn, first = sum(each.pairs for each in opponents), [], 0
    for place, opponent in enumerate(opponents, 1):
        own = replace(plan, agents=agents, matches=((0, place),), pairs=slots * opponent.pairs)
        ends = len(openings) * (first + opponent.pairs) // whole
        drawn.append(draw(own, between(openings, len(openings) * first // whole, ends)))
        first += opponent.pairs
    pairs = tuple(each.pairs for each in opponents)
    return TrialGames(space, tuple(drawn), pairs, sharing, wall)


def between(openings: Openings, start: int, stop: int) -> Openings:
    """Openings `start` to `stop` - 1."""
    return Openings(openings.slots[start:stop], openings.keys[start:stop], finite=False)


class PartPlayer:
    """Plays parts of trials in one process: the same agents in the plan of every opponent."""

    def __init__(self, of: TrialGames) -> None:
        """Build and compile all agents; those that run a user's code are tried once."""
        self.changes: Settings = {}  # of the candidate that is built now
        self.workers = [Worker(drawn, of.wall) for drawn in of.plans]
        for worker in self.workers[1:]:
            worker.agents = self.workers[0].agents
        first = self.workers[0]
        try_users(first.drawn, first.terms)
        first.warm()
        for worker in self.workers:
            if not any(map(users_code, worker.drawn.specs)):
                worker.play(Task(0, 1, {}))  # compiles whatever a whole game needs

    def play(self, part: TrialPart) -> PlayedPart:
        """Play the games of a part with the changes that it carries."""
        begun = time.perf_counter()
        worker = self.workers[part.match]
        if part.changes.keys() == {WEIGHTS}:
            candidate: Any = worker.agent(0)  # a search, in this process or behind the wall
            candidate.reweigh(part.changes[WEIGHTS])
        elif part.changes != self.changes:
            worker.renew(0, worker.drawn.specs[0].changed(**part.changes))
        self.changes = part.changes
        games = worker.play(part.task)
        return PlayedPart(part, encoded(games), time.perf_counter() - begun)


def games_per_second(of: TrialGames, changes: Settings, least: float) -> float:
    """How fast one process plays, measured for at least `least` seconds over all opponents."""
    shortest = min(drawn.pairings.total for drawn in of.plans)
    pairs, games, seconds = 1, 0, 0.0
    while seconds < least:
        for match in range(len(of.plans)):
            played = of.player.play(TrialPart(0, match, Task(0, pairs, {}), changes, True))
            games, seconds = games + 2 * pairs, seconds + played.seconds
        pairs = min(2 * pairs, shortest)
    return games / seconds


def games_of(of: TrialGames, slot: int, blobs: list[bytes]) -> Games:
    """The games of a whole trial."""
    return decoded(blobs, of.placed(slot))
