"""Proofs on small boards: an agent against every reply that could ever be made."""

import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.core import Agent
from agents.registry import varies
from agents.search.compiled_agent import decided
from games import Game, Position

MOST_POSITIONS = 1_000_000
FIRST_SECONDS = 2.0
PULSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a walk through all replies; `counterexample` is a shortest game not won.

    Its moves are numbers, from the start of the game, the opening of so many plies included.
    """

    holds: bool
    positions: int
    counterexample: list[int] | None
    opening_plies: int = 0  # of the counterexample


class NoProof(ValueError):  # noqa: N818  # neither proved nor refuted: an answer, not a fault
    """Nothing can be proved; one line says why and what to do instead."""


def prove(
    of: Game,
    agent: Agent,
    player: int,
    starts: Sequence[Sequence[int]] = ((),),
    most_positions: int = MOST_POSITIONS,
    tell: Callable[[str], None] | None = None,
) -> Proof:
    """Whether `agent` as `player` (0 or 1) wins whatever the other side answers.

    Each of `starts` is an opening in move numbers. A draw is not a win. `tell` hears now and then
    how far the walk has come.
    """
    reason = varies(agent.spec)
    if reason is not None:
        raise NoProof(f"nothing can be proved about this agent: {reason}")
    walk = _Walk(of, agent, player, most_positions, ProgressReporter(tell))
    for opening in starts:
        walk.openings[len(opening)].append(opening)
    lost = walk.shortest_not_won()
    if lost is None:
        return Proof(True, len(walk.found), None)
    opening, moves = walk.line(lost)
    return Proof(False, len(walk.found), [*opening, *moves], len(opening))


class ProgressReporter:
    """Says now and then how many positions were walked, where it takes more than two seconds."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        """None: nobody hears it."""
        self.tell, self.next = tell, time.monotonic() + FIRST_SECONDS

    def beat(self, positions: int) -> None:
        """Count a position; the clock is read for every 64th."""
        if self.tell is None or positions % 64 or time.monotonic() < self.next:
            return
        self.next = time.monotonic() + PULSE_SECONDS
        self.tell(f"proving: {positions:,} positions walked")


@dataclass(slots=True)
class _Walk:
    """The positions reached so far, by the ply at which each was reached first."""

    of: Game
    agent: Agent
    player: int
    most: int
    pulse: "ProgressReporter"
    openings: defaultdict[int, list[Sequence[int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    found: dict[Position, int] = field(default_factory=dict)
    parents: "array[int]" = field(default_factory=lambda: array("q"))
    moves: "array[int]" = field(default_factory=lambda: array("h"))
    begun: dict[int, Sequence[int]] = field(default_factory=dict)

    def shortest_not_won(self) -> Position | None:
        """The last position of a shortest game that the agent does not win; None if it wins all."""
        level: list[Position] = []
        plies = 0
        # Ply by ply, so that the first end that is not a win is the nearest.
        while level or self.openings:
            level += self._begin(plies)
            following: list[Position] = []
            for position in level:
                legal = self.of.legal(position)
                if not legal and not self._won(position):
                    return position
                for move in self._played(position, legal):
                    following += self._reach(self.of.play(position, move), position, move)
            level, plies = following, plies + 1
        return None

    def line(self, position: Position) -> tuple[Sequence[int], list[int]]:
        """Return the opening and the moves after it that lead to a position that was reached."""
        backwards: list[int] = []
        place = self.found[position]
        while place not in self.begun:
            backwards.append(self.moves[place])
            place = self.parents[place]
        return self.begun[place], backwards[::-1]

    def _begin(self, plies: int) -> list[Position]:
        """The new positions that openings of this length lead to."""
        fresh: list[Position] = []
        for opening in self.openings.pop(plies, ()):
            position = self.of.start()
            for move in opening:
                position = self.of.play(position, move)
            if self._reach(position, None, 0):
                self.begun[self.found[position]] = opening
                fresh.append(position)
        return fresh

    def _reach(self, position: Position, parent: Position | None, move: int) -> list[Position]:
        """Note a position; returns it in a list if it is new."""
        if position in self.found:
            return []
        if len(self.found) == self.most:
            raise NoProof(
                f"no proof: {self.of.name} has more than {self.most:,} positions to walk; "
                "prove it on a smaller board or from longer openings"
            )
        self.parents.append(-1 if parent is None else self.found[parent])
        self.moves.append(move)
        self.found[position] = len(self.found)
        self.pulse.beat(len(self.found))
        return [position]

    def _played(self, position: Position, legal: Sequence[int]) -> Sequence[int]:
        """Every reply of the other side, but only the one move of the agent."""
        if not legal or self.of.mover(position) != self.player:
            return legal
        # After `start` it knows nothing of earlier moves: the same position, the same move.
        self.agent.start(0)
        return [decided(self.agent, position).move]

    def _won(self, position: Position) -> bool:
        margin = self.of.margin(position)
        return margin > 0 if self.player == 0 else margin < 0
