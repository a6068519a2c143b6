"""Every game from the start."""

from collections.abc import Iterator

from arena.planning.openings.openings import Openings, from_lines
from arena.planning.plan import OpeningsSpec
from games import Game
from games.base.schema import Fault, Key, KeyValues

KEYS = (Key("none", "bool", "every game from the start", True, choices=(True,)),)
WORD = True
EXAMPLES = ('"none"',)
MORE = "openings = { random_plies = 6 }"


def count(_: KeyValues) -> int | None:
    """Just one."""
    return 1


def faults(_: OpeningsSpec, __: Game | None) -> Iterator[Fault]:
    """There are no values."""
    yield from ()


def openings(of: Game, _: OpeningsSpec, __: int, ___: int) -> Openings:
    """The start of the game."""
    return from_lines(of, [()], finite=True)
