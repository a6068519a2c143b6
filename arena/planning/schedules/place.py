"""The place of a newcomer among agents whose order is known: a race by halving."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from arena.planning.rounds import (
    IN,
    OUT,
    Meeting,
    Participants,
    Points,
    StandingRow,
    TournamentStanding,
)
from arena.planning.schedules.race import (
    DELTA,
    add_results,
    beaten,
    error_text,
    exhausted_text,
    indifference,
    meetings_for,
    rounds_text,
)
from arena.planning.schedules.registry import Matches, unknown_agent_message
from arena.stats.racing import Race, race
from games.base.schema import Fault, Key, KeyValues
from games.base.text import quote

KEYS = (
    Key("place", "text", "the newcomer"),
    Key("order", "texts", "the others, the strongest first (as in the file)", ()),
    DELTA,
    indifference(10),
)
WORD = False
EXAMPLES = ('{ place = "a" }',)
ORDER_NOT_TESTED = "the order of the others was given, not tested"


def faults(values: KeyValues, names: Sequence[str]) -> Iterator[Fault]:
    """Agents that the file does not have; an order that leaves some out."""
    if values["place"] not in names:
        yield ("place",), unknown_agent_message(values["place"], names)
        return
    order = values["order"]
    for item, name in enumerate(order):
        if name not in names:
            yield ("order", item), unknown_agent_message(name, names)
        elif name == values["place"] or name in order[:item]:
            again = "is the newcomer" if name == values["place"] else "is there twice"
            yield (
                ("order", item),
                f"order must name each of the others once, {quote(name)} {again}",
            )
    missing = [name for name in names if name != values["place"] and name not in order]
    if order and missing:
        yield (
            ("order",),
            f"order must name each of the others once, {quote(missing[0])} is missing",
        )


def matches(values: KeyValues, names: Sequence[str]) -> Matches:
    """The newcomer and each of the others."""
    one = names.index(values["place"])
    others = (other for other in range(len(names)) if other != one)
    return tuple((min(one, other), max(one, other)) for other in others)


@dataclass(frozen=True)
class PlacementRace:
    """The race after some rounds; the newcomer is below the first `low` of `order`.

    It is above all from the place `high` on; `level_with` is one that it need not be told apart
    from.
    """

    names: Sequence[str]
    newcomer: int
    order: Sequence[int]
    state: Race
    low: int
    high: int
    level_with: int | None = None

    @property
    def pivot(self) -> int:
        """The agent in the middle of the places left."""
        return self.order[(self.low + self.high) // 2]

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The newcomer against the agent in the middle of the places left."""
        if self.low == self.high or self.level_with is not None:
            return ()
        return meetings_for(self.state, [(self.newcomer, self.pivot)])

    def after(self, points: Sequence[Points]) -> "PlacementRace":
        """The race after the next round."""
        state, pivot, one = (
            add_results(self.state, self.meetings, points),
            self.pivot,
            self.newcomer,
        )
        middle = (self.low + self.high) // 2
        if state.above[one, pivot]:
            return replace(self, state=state, high=middle)
        if state.above[pivot, one]:
            return replace(self, state=state, low=middle + 1)
        return replace(self, state=state, level_with=pivot if state.alike[one, pivot] else None)

    @property
    def standing(self) -> TournamentStanding:
        """The places that are left, and whom the newcomer met."""
        over, place = not self.meetings, self._place()
        word = "placed" if over and place else IN
        rows = [StandingRow(self.newcomer, word, "the newcomer", place)]
        for at, other in enumerate(self.order):
            met = tuple(int(n) for n in self.state.counts[self.newcomer, other])
            state = IN if self._side(at) == "open" else OUT
            why = f"not met; {self._side(at)}"
            if sum(met):
                why = f"{beaten(self.names[self.newcomer], met)}; {self._side(at)}"
            rows.append(StandingRow(other, state, why, self._place_of(at), None, None, met))
        return TournamentStanding(
            "place", self.state.rounds, over, tuple(rows), self._answer(over), (ORDER_NOT_TESTED,)
        )

    def _place(self) -> int | None:
        """Return the newcomer's place, that of the one it is level with; None while it is open."""
        if self.level_with is not None:
            return list(self.order).index(self.level_with) + 1
        return self.low + 1 if self.low == self.high else None

    def _place_of(self, at: int) -> int | None:
        """The place of one of the others beside the newcomer; None while that is open."""
        place = self._place()
        if place is not None:
            return at + 1 if at < place - 1 or self._side(at) == "level" else at + 2
        return at + 1 if at < self.low else at + 2 if at >= self.high else None

    def _side(self, at: int) -> str:
        level = None if self.level_with is None else list(self.order).index(self.level_with)
        if at == level:
            return "level"
        if at < (self.low if level is None else level):
            return "above the newcomer"
        if at >= (self.high if level is None else level):
            return "below the newcomer"
        return "open"

    def _answer(self, over: bool) -> str:
        name, of = self.names[self.newcomer], len(self.order) + 1
        if not over:
            return f"{name}: place {self.low + 1} to {self.high + 1} of {of}"
        after = rounds_text(self.state.rounds)
        sure = error_text(self.state, comparisons_needed(len(self.order)))
        if self.level_with is not None:
            within = f"within {self.state.indifference:g} Elo"
            return f"{name}: level with {self.names[self.level_with]} ({within}), {sure}"
        if self.low < self.high:
            open_places = f"place {self.low + 1} to {self.high + 1} of {of}"
            left = f"not decided against {self.names[self.pivot]} after {after}"
            return f"{name}: {open_places}, {left}: {exhausted_text(self.state)}"
        return f"{name}: place {self.low + 1} of {of}{self._between()}, {sure}"

    def _between(self) -> str:
        above = f"below {self.names[self.order[self.low - 1]]}" if self.low else ""
        below = f"above {self.names[self.order[self.low]]}" if self.low < len(self.order) else ""
        return f", {' and '.join(filter(None, [above, below]))}" if above or below else ""


def begin(values: KeyValues, entrants: Participants) -> PlacementRace:
    """The race before its first round."""
    names = entrants.names
    newcomer = names.index(values["place"])
    others = [names.index(name) for name in values["order"]]
    order = others or [place for place in range(len(names)) if place != newcomer]
    level = math.log(comparisons_needed(len(order)) / values["delta"])
    state = race(len(names), level, entrants.limit, values["indifference"])
    return PlacementRace(names, newcomer, order, state, 0, len(order))


def comparisons_needed(others: int) -> int:
    """Return from how many agents the newcomer must be separated on the way to its place."""
    return max(1, math.ceil(math.log2(others + 1)))
