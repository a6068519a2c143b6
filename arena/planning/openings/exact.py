"""Random openings that perfect play draws, wins or loses for side 0, which begins the game."""

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
from games.solving.solver import WORDS, sign

__all__ = ["EXAMPLES", "KEYS", "MORE", "WORD", "count", "faults", "openings"]

KEYS = (
    Key(
        "exact",
        "text",
        "random openings with this result under perfect play, for side 0",
        choices=("draw", "win", "loss"),
    ),
    RANDOM_PLIES,
)
WORD = False
EXAMPLES = ('{ exact = "draw" }',)


def count(_: KeyValues) -> int | None:
    """How many there are is known only after solving them."""
    return None


def faults(spec: OpeningsSpec, of: Game | None) -> Iterator[Fault]:
    """Openings that cannot be solved."""
    return exact_faults(of, spec, margin(spec))


def openings(of: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Enough for so many pairs, or all that are known."""

    result: str = spec.values["exact"]
    return exact_openings(
        of, spec, pairs, seed, lambda value: WORDS[sign(value)] == result, margin(spec)
    )


def margin(spec: OpeningsSpec) -> int | None:
    """The largest margin that is asked for."""
    return 0 if spec.values["exact"] == "draw" else None
