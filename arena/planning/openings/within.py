"""Random openings whose exact margin is near 0, so that games start even."""

from collections.abc import Iterator

from arena.planning.openings.exact_lines import (
    MORE,
    RANDOM_PLIES,
    exact_faults,
    exact_openings,
)
from arena.planning.openings.openings import Openings
from arena.planning.openings_spec import OpeningsSpec
from games import Game
from games.base.schema import Fault, Key, KeyValues

__all__ = ["EXAMPLES", "KEYS", "MORE", "WORD", "count", "faults", "openings"]

KEYS = (
    Key(
        "within",
        "int",
        "random openings whose margin under perfect play is at most so much",
        low=0,
        high=100,
    ),
    RANDOM_PLIES,
)
WORD = False
EXAMPLES = ("{ within = 2 }",)


def count(_: KeyValues) -> int | None:
    """How many there are is known only after solving them."""
    return None


def faults(spec: OpeningsSpec, of: Game | None) -> Iterator[Fault]:
    """Openings that cannot be solved."""
    return exact_faults(of, spec, spec.values["within"])


def openings(of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Enough for so many pairs, or all that are known."""
    most = spec.values["within"]
    return exact_openings(of, spec, pairs, seed, lambda value: abs(value) <= most, most)
