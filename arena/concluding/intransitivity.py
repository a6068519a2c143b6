"""What survives where one number an agent does not describe the results: cycles, their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.concluding.win_rates import WinRate
from arena.stats.intervals import lower_bound
from arena.stats.maximin import maximin, payoffs
from arena.stats.misfit import Misfit, misfit
from arena.stats.ratings import Pool
from arena.stats.results import Results, among

# The share of wrong lines that is accepted in the terminal, and of wrong names among the unbeaten.
SAID_BELOW = 0.01
WRONG = 0.05
SMALLEST_SHARE = 0.01  # of the mixture, in print
SMALLEST_CYCLE = 3


@dataclass(frozen=True, slots=True)
class WithoutRating:
    """How one agent stands without any rating.

    `share` is its part of the mixture that nobody beats on the mean; `unbeaten`: no opponent is
    shown to be stronger; `beats_all`: it is shown to be stronger than every other agent.
    """

    share: float
    unbeaten: bool
    beats_all: bool


def misfit_of(results: Results, pool: Pool, seed: int) -> Misfit | None:
    """The test of one group with ratings, its triple by the places of all agents."""
    if len(pool.members) < SMALLEST_CYCLE:
        return None
    found = misfit(among(results, np.array(pool.members)), pool.fitted, seed=seed)
    if found is None:
        return None
    one, two, three = (pool.members[place] for place in found.triple)
    return found._replace(triple=(one, two, three))


def standings_without_ratings(
    names: Sequence[str], rates: Sequence[WinRate]
) -> Mapping[str, WithoutRating]:
    """How every agent stands by its direct matches alone."""
    place = {name: number for number, name in enumerate(names)}
    size = len(names)
    points, pairings = np.zeros((size, size)), np.zeros((size, size))
    for rate in rates:
        found = rate.row.like.spread
        cell = place[rate.agent], place[rate.opponent]
        points[cell], pairings[cell] = found.mean * found.pairings, found.pairings
    shares = maximin(payoffs(points, pairings)) if pairings.any() else np.zeros(size)
    above = _above(place, rates)
    met = pairings > 0.0
    return {
        name: WithoutRating(
            share=float(shares[at]),
            unbeaten=bool(met[at].any() and not above[:, at].any()),
            beats_all=bool(size > 1 and above[at].sum() == size - 1),
        )
        for name, at in place.items()
    }


def _above(place: Mapping[str, int], rates: Sequence[WinRate]) -> np.ndarray:
    """Who is shown to be above whom, so surely that all of it is right in 95 %."""
    size = len(place)
    above = np.zeros((size, size), np.bool_)
    for rate in rates:
        found = rate.row.like.spread
        if found.mean > 0.5 and lower_bound(found, 1.0 - WRONG / (size * (size - 1))) > 0.5:
            above[place[rate.agent], place[rate.opponent]] = True
    return above


def misfit_text(
    found: Misfit | None, names: Sequence[str], standing: Mapping[str, WithoutRating]
) -> str:
    """One line where ratings do not describe a group; empty where they do."""
    if found is None or found.p >= SAID_BELOW:
        return ""
    a, b, c = (names[place] for place in found.triple)
    text = (
        f"one number an agent does not describe these results (p = {found.p:.3f}): "
        f"{a} beats {b}, {b} beats {c}, {c} beats {a} more than ratings allow"
    )
    mixture = [(name, each.share) for name, each in standing.items()]
    kept = [each for each in mixture if each[1] >= SMALLEST_SHARE]
    parts = sorted(kept, key=lambda each: -round(each[1], 2))
    mixed = ", ".join(f"{name} {100 * share:.0f} %" for name, share in parts)
    return f"{text}; nobody beats on the mean: {mixed}"
