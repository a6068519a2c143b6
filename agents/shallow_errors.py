"""How far shallow searches are from deep ones, as a game's pack has it: what ProbCut rests on."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from games import Game


class ShallowError(NamedTuple):
    """A search to `depth` less one to `shallow`: its mean and standard deviation, in points."""

    depth: int
    shallow: int
    shift: float
    error: float


def shallow_errors(of: Game) -> tuple[ShallowError, ...]:
    """The errors that were measured with the shipped weights of this game; none if none were."""
    measured = of.defaults.probcut.get(of.name) if of.has("defaults") else None
    return tuple(ShallowError(*row) for row in measured["searches"]) if measured else ()


def usual_probcut(of: Game) -> float:
    """How many errors beyond the bound were best in play; 0 where ProbCut was no gain."""
    measured = of.defaults.probcut.get(of.name) if of.has("defaults") else None
    return float(measured["errors"]) if measured else 0.0


def cuts(errors: Iterable[ShallowError], probcut: float) -> Iterator[tuple[int, int, float, float]]:
    """Depth, shallow depth, and the points that it must be above the window or below it."""
    for depth, shallow, shift, error in errors:
        yield depth, shallow, max(probcut * error - shift, 0.0), max(probcut * error + shift, 0.0)
