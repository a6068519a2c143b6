"""Openings, pair order and seeds of a plan."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.core import AgentSpec
from arena.planning.openings.openings import Openings, first_sides, moves_of
from arena.planning.openings.registry import make_openings
from arena.planning.pair_order import PairOrder
from arena.planning.plan import Plan
from arena.planning.tasks import TaskQueue
from games import Game

Matches = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPlan:
    """A plan with its openings and pairings: everything a worker needs."""

    plan: Plan
    of: Game
    openings: Openings
    pairings: PairOrder

    @property
    def specs(self) -> tuple[AgentSpec, ...]:
        """The agents' specs, by their places."""
        return tuple(self.plan.agents.values())

    @property
    def starts(self) -> Sequence[Sequence[int]]:
        """The openings in move numbers."""
        return [moves_of(self.of, slots) for slots in self.openings.slots]

    @property
    def census(self) -> list[tuple[str, str]]:
        """The pairs of agents without chance that play all openings there are."""
        pairings = self.pairings
        all_play = pairings.laid is None and pairings.pairs >= len(self.openings)
        if not (self.openings.finite and all_play):
            return []
        return self.without_chance

    @property
    def without_chance(self) -> list[tuple[str, str]]:
        """The pairs of agents known to leave nothing to chance."""
        pairings, names = self.pairings, self.plan.names
        return [(names[a], names[b]) for a, b in pairings.matches if (a, b) in pairings.fixed]

    def tasks(self, after: int = 0) -> TaskQueue:
        """The tasks left once the first `after` pairings are finished."""
        return TaskQueue(after, self.pairings)


def make_schedule(
    plan: Plan, openings: Openings | None = None, fixed: Matches = frozenset()
) -> DrawnPlan:
    """The plan with its own openings, or with these; OpeningsError if there are too few.

    In `fixed` matches an opening always leads to the same game, whatever the seed. A schedule
    that goes by rounds has no pairing yet, and takes as many openings as there are.
    """
    of = plan.of
    if openings is None:
        spec = plan.openings if plan.rounds is None else replace(plan.openings, repeat=True)
        openings = make_openings(of, spec, plan.pairs, plan.seed)
    laid = None if plan.rounds is None else ()
    sides = first_sides(of, openings)
    pairings = PairOrder(
        plan.seed, of.name, plan.names, plan.matches, plan.pairs, openings.keys, sides, fixed, laid
    )
    return DrawnPlan(plan, of, openings, pairings)
