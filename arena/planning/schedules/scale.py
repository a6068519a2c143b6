"""The rating of a newcomer on a scale: each round chooses the most informative anchor."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from arena.planning.rounds import (
    IN,
    Meeting,
    Participants,
    Points,
    StandingRow,
    TournamentStanding,
)
from arena.planning.schedules.race import QUARTERS, score_text
from arena.planning.schedules.registry import Matches, ScheduleMethod, unknown_agent_message
from arena.stats.counts import Ints
from arena.stats.estimate import Estimate, EstimateKind, no_estimate
from arena.stats.placement import Anchors, half_width, next_anchor, next_pairs, placement
from games.base.schema import Key, KeyValues, Problem

WIDTH = 25.0  # Elo, half of the interval
NOTE = "ratings are relative to random = 0 and to the openings of the scale"


def scale_problems(values: KeyValues, names: Sequence[str]) -> Iterator[Problem]:
    """Yield a newcomer that the file does not define."""
    if values["scale"] not in names:
        yield ("scale",), unknown_agent_message(values["scale"], names)


def scale_matches(values: KeyValues, names: Sequence[str]) -> Matches:
    """Return the matches of the newcomer against each anchor."""
    one = names.index(values["scale"])
    others = (other for other in range(len(names)) if other != one)
    return tuple((min(one, other), max(one, other)) for other in others)


@dataclass(frozen=True)
class Placement:
    """The placement after some rounds; `counts` has the newcomer's pairs by anchor and score."""

    names: Sequence[str]
    newcomer: int
    places: Sequence[int]  # of the anchors, the weakest first
    anchors: Anchors
    counts: Ints
    most: int  # pairs
    game: str
    rounds: int = 0

    @cached_property
    def found(self) -> Estimate:
        """The rating of the newcomer."""
        return placement(self.anchors, self.counts)

    @cached_property
    def meetings(self) -> tuple[Meeting, ...]:
        """The newcomer against the anchor that tells most; each pair has its own opening."""
        pairs = next_pairs(self.counts, self.most, WIDTH, self.found)
        if pairs < 1:
            return ()
        one = self.newcomer
        other = self.places[next_anchor(self.anchors, self.counts, pairs)]
        return (Meeting(min(one, other), max(one, other), pairs, int(self.counts.sum())),)

    def after_round(self, points: Sequence[Points]) -> "Placement":
        """Return the placement after the next round."""
        (meeting,), (own,), counts = self.meetings, points, self.counts.copy()
        is_second = meeting.b == self.newcomer
        anchor = self.places.index(meeting.a if is_second else meeting.b)
        counts[anchor] += np.bincount(QUARTERS - own if is_second else own, minlength=QUARTERS + 1)
        return replace(self, counts=counts, rounds=self.rounds + 1)

    @property
    def standing(self) -> TournamentStanding:
        """The newcomer and the anchors with their ratings on the scale."""
        over = not self.meetings
        rows = [
            StandingRow(self.newcomer, "placed" if over else IN, "the newcomer", elo=self.found)
        ]
        errors = np.sqrt(np.diag(self.anchors.covariance))
        for at, place in enumerate(self.places):
            counts, elo = tuple(self.counts[at].tolist()), float(self.anchors.elo[at])
            score = score_text(self.names[self.newcomer], counts) if any(counts) else "not met"
            known = no_estimate(f"{elo:g} by definition", elo)
            if errors[at]:
                ends = elo - 1.96 * float(errors[at]), elo + 1.96 * float(errors[at])
                known = Estimate(elo, *ends, 0.95, EstimateKind.FIXED)
            why = f"{elo:,.0f} Elo; {score}"
            rows.append(StandingRow(place, "anchor", why, counts=counts, elo=known))
        notes = (NOTE, *self._width_note()) if over else (NOTE,)
        return TournamentStanding("scale", self.rounds, over, tuple(rows), self._answer(), notes)

    def _answer(self) -> str:
        found = self.found
        if found.low is None and found.high is None:
            return f"{self.names[self.newcomer]}: not placed yet"
        if found.value is not None and found.low is not None and found.high is not None:
            ends = f"[{math.floor(found.low):,}, {math.ceil(found.high):,}]"
            elo = f"{found.value:,.0f} Elo on the scale of {self.game} {ends}"
        elif found.low is not None:
            elo = f"at least {found.low:,.0f} Elo on the scale of {self.game}: {found.reason}"
        else:
            elo = f"at most {found.high:,.0f} Elo on the scale of {self.game}: {found.reason}"
        return f"{self.names[self.newcomer]}: {elo}, {self._neighbours()}"

    def _name(self, at: int) -> str:
        return f"{self.names[self.places[at]]} ({self.anchors.elo[at]:,.0f})"

    def _neighbours(self) -> str:
        """Return the anchors around the rating; beyond the scale it is an extrapolation."""
        value = self.found.value
        if value is None:
            value = np.inf if self.found.high is None else -np.inf
        above = int(np.searchsorted(self.anchors.elo, value))
        if above == 0:
            return f"below {self._name(0)}, the weakest anchor"
        if above == len(self.places):
            return f"above {self._name(-1)}, the strongest anchor"
        return f"between {self._name(above - 1)} and {self._name(above)}"

    def _width_note(self) -> Iterator[str]:
        """Yield how many pairs would narrow an interval that is too wide."""
        half, total = half_width(self.found), int(self.counts.sum())
        if half is None:
            yield f"the scale does not reach this agent, so {total:,} pairs give a bound only"
        elif half > WIDTH:
            needed = int(np.ceil(total * (half / WIDTH) ** 2 / 10)) * 10
            yield (
                f"the interval is ±{half:.0f} Elo after {total:,} pairs; about {needed:,} pairs "
                f"would give ±{WIDTH:.0f}"
            )


def start_placement(values: KeyValues, participants: Participants) -> Placement:
    """Return the placement before its first round."""
    names, elo = participants.names, np.array(values["elo"], np.float64)
    newcomer = names.index(values["scale"])
    places = [place for place in range(len(names)) if place != newcomer]
    covariance = np.array(values["covariance"], np.float64).reshape(len(elo), len(elo))
    counts = np.zeros((len(elo), QUARTERS + 1), np.int64)
    anchors, most = Anchors(elo, covariance), participants.max_pairs
    return Placement(names, newcomer, places, anchors, counts, most, values["game"])


SCALE = ScheduleMethod(
    keys=(Key("scale", "text", "the newcomer, which is rated on the scale of the game"),),
    examples=('{ scale = "a" }',),
    matches=scale_matches,
    problems=scale_problems,
    begin=start_placement,
)
