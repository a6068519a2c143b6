"""Agents that their matches do not separate."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.analysis.win_rates import ONLY_FORFEITS
from arena.report.data import ReportData
from arena.report.figure import listed, strong
from arena.report.html import Html, join, name_of, tag
from arena.report.numbers import score_of

LANE = 8  # pixels
MOST_NAMED = 5  # agents of a run


class UnsettledGroup(NamedTuple):
    """Neighbours in the ratings, from one place to another, none of whom is told apart."""

    first: int
    last: int


def is_settled(report: ReportData, one: str, other: str) -> bool:
    """Return whether the match of two agents is settled.

    Agents that never met, or whose games were all forfeited, count as told apart, and so do bots
    that the run excluded.
    """
    row = report.pairs.get((one, other))
    if row is None or row.why == ONLY_FORFEITS:
        return True
    excluded = not report.excluded_names.isdisjoint((one, other))
    return excluded or score_of(row).settled is not None


def unsettled_groups(report: ReportData) -> list[UnsettledGroup]:
    """The longest runs of neighbours whose matches are all unsettled, in order."""
    names, found = report.agents, list[UnsettledGroup]()
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and not any(
            is_settled(report, names[last + 1], names[each]) for each in range(first, last + 1)
        ):
            last += 1
        if last > first and (not found or found[-1].last < last):
            found.append(UnsettledGroup(first, last))
    return found


def names_of(report: ReportData, run: UnsettledGroup) -> tuple[str, ...]:
    """The agents of a run."""
    return report.agents[run.first : run.last + 1]


def group_html(report: ReportData, run: UnsettledGroup) -> Html:
    """The agents of a run in a sentence; many of them as their places."""
    names = names_of(report, run)
    if len(names) > MOST_NAMED:
        first, last = (report.ratings[place].rank for place in run)
        return strong(f"places {first} to {last}")
    return listed([strong(name_of(name)) for name in names])


def lanes(found: Sequence[UnsettledGroup]) -> list[int]:
    """A lane for each bracket, so that none crosses another."""
    chosen: list[int] = []
    for place, run in enumerate(found):
        taken = {chosen[earlier] for earlier in range(place) if found[earlier].last >= run.first}
        chosen.append(min(set(range(len(found))) - taken))
    return chosen


def brackets(found: Sequence[UnsettledGroup], place: int, height: int) -> Html:
    """The pieces of all brackets beside the row at this place."""
    parts = []
    for run, lane in zip(found, lanes(found), strict=True):
        if run.first <= place <= run.last:
            x = LANE * lane + 2
            top = height / 2 - 5 if place == run.first else 0
            bottom = height / 2 + 5 if place == run.last else height
            turn = f"M{x + 4} {top:g}H{x}" if place == run.first else f"M{x} {top:g}"
            end = f"V{bottom:g}H{x + 4}" if place == run.last else f"V{bottom:g}"
            parts.append(tag("path", d=f"{turn}{end}", class_="bracket"))
    return join(parts)
