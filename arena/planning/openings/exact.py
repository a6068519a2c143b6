"""Random openings by their result or margin under perfect play."""

from collections.abc import Iterator

from arena.planning.openings.exact_lines import (
    MORE,
    RANDOM_PLIES,
    openings_by_value,
    solvable_problems,
)
from arena.planning.openings.openings import Openings
from arena.planning.openings_spec import OpeningsSpec
from games import Game
from games.base.schema import Fault, Key, KeyValues
from games.base.text import did_you_mean, format_value
from games.solving.solver import WORDS, sign

__all__ = ["EXAMPLES", "KEYS", "MORE", "WORD", "count", "faults", "openings"]

KEYS = (
    Key(
        "exact",
        "any",
        "the result for side 0 under perfect play, or the largest margin of either side",
    ),
    RANDOM_PLIES,
)
WORD = False
EXAMPLES = ('{ exact = "draw" }', "{ exact = 2 }")
RESULTS = ("draw", "win", "loss")
MOST_MARGIN = 100


def count(_: KeyValues) -> int | None:
    """How many there are is known only after solving them."""
    return None


def faults(spec: OpeningsSpec, of: Game | None) -> Iterator[Fault]:
    """A value that is no result or margin; openings that cannot be solved."""
    written = spec.values["exact"]
    if written in RESULTS or is_margin(written):
        yield from solvable_problems(of, spec, largest_margin(spec))
        return
    near = did_you_mean(written, RESULTS)
    allowed = f'"draw", "win", "loss" or a whole number from 0 to {MOST_MARGIN}'
    yield ("exact",), f"exact must be {allowed}, got {format_value(written)}{near}"


def is_margin(written: object) -> bool:
    """Return whether a margin is written, not a result."""
    return type(written) is int and 0 <= written <= MOST_MARGIN


def openings(of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Enough for so many pairs, or all that are known."""
    written, most = spec.values["exact"], largest_margin(spec)

    def wanted(value: int) -> bool:
        return bool(WORDS[sign(value)] == written if written in RESULTS else abs(value) <= written)

    return openings_by_value(of, spec, pairs, seed, wanted, most)


def largest_margin(spec: OpeningsSpec) -> int | None:
    """The largest margin that is asked for; None if there is no limit."""
    written: int | str = spec.values["exact"]
    if isinstance(written, int):
        return written
    return 0 if written == "draw" else None
