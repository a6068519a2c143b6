"""Games in which a bot is tried: what it was asked, what it answered, how it failed."""

import random
import time
from dataclasses import dataclass, field

from agents import Agent, AgentFailure, Follower, Resigned
from games import Game, Position

LONGEST = 2000
MOST_OPENING_PLIES = 6


@dataclass(slots=True)
class TrialGame:
    """One game of a bot against a random player."""

    player: int
    seed: int
    answers: list[tuple[Position, int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # of its answers, the start counted
    extra_turns: int = 0
    passes: int = 0
    resigned: bool = False
    failure: AgentFailure | None = None
    asked: Position | None = None  # where it failed

    @property
    def whole(self) -> bool:
        """Whether it was played to its end."""
        return self.failure is None and not self.resigned


def tried(agent: Agent, of: Game, player: int, seed: int) -> TrialGame:
    """Play one game; the same seed is the same opening and the same opponent."""
    trial, dice = TrialGame(player, seed), random.Random(f"{of.name} {seed}")
    opening = dice.randrange(MOST_OPENING_PLIES)
    position, ply = of.start(), 0
    since = time.monotonic()
    try:
        agent.start(seed)
        while not of.over(position) and ply < LONGEST:
            move = dice.choice(of.legal(position))  # drawn by both: answers change nothing else
            if position.mover == player and ply >= opening and move != of.pass_move:
                trial.asked = position
                move = agent.choose(position).move
                trial.seconds.append(time.monotonic() - since)
                trial.answers.append((position, move))
            before, position, ply = position, of.play(position, move), ply + 1
            _count(trial, of, before, position, move)
            if isinstance(agent, Follower):
                agent.played(move, before, position)
            since = time.monotonic()
        if isinstance(agent, Follower):
            agent.finish()
    except AgentFailure as failure:
        trial.failure = failure
    except Resigned:
        trial.resigned = True
    return trial


def _count(trial: TrialGame, of: Game, before: Position, after: Position, move: int) -> None:
    if move == of.pass_move:
        trial.passes += 1
    elif before.mover == after.mover == trial.player and not of.over(after):
        trial.extra_turns += 1


def first_difference(one: TrialGame, other: TrialGame) -> tuple[Position, int, int] | None:
    """The first question that two trials answer differently, with both answers."""
    for (position, move), (same, another) in zip(one.answers, other.answers, strict=False):
        if position == same and move != another:
            return position, move, another
    return None
