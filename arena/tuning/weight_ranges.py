"""The range of one tuned weight, as it is written."""

from typing import Annotated

from pydantic import Field

from agents.core import Weights
from arena.reading.file_tables import Table
from arena.tuning.start_weights import seed_of
from games.names import shown


class RangeTable(Table):
    """One weight's range, written out."""

    range: Annotated[tuple[float, ...], Field(strict=False)]
    log: bool = False
    integer: bool = False


def range_problem(name: str, ranged: RangeTable, seeds: Weights) -> str:
    """Why a range cannot be used; empty if it can."""
    if len(ranged.range) != 2:
        return f"{name} needs a lowest and a highest value, got {shown(ranged.range)}"
    low, high = ranged.range
    seed, room = seed_of(name, seeds), f"[{low:g}, {high:g}]"
    whole = all(number.is_integer() for number in ranged.range)
    wrong = {
        f"{name} has an empty range: the lowest value comes first, got {room}": not low < high,
        f"{name} has a log range, which must lie above 0, got {room}": ranged.log and low <= 0,
        f"{name} is a whole number, so its range must end in such, got {room}": (
            ranged.integer and not whole
        ),
        f"{name} has a weight for each phase of the game; only single numbers are tuned": (
            len(seeds.get(name, (0.0,))) > 1
        ),
        f"{name} leaves no room for the seed weight: it is {seed:g} in the agent, outside "
        f"{room}; widen the range, or give the agent other weights": (
            low < high and not low <= seed <= high
        ),
        f"{name} is a whole number, but the seed weight is {seed:g}": (
            ranged.integer and not seed.is_integer()
        ),
    }
    return next((told for told, holds in wrong.items() if holds), "")
