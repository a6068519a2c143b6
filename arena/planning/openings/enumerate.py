"""Openings: every position after a number of moves."""

from collections.abc import Iterator

from arena.planning.openings.openings import Openings, OpeningsError, finite_openings
from arena.planning.plan import OpeningsSpec
from games import Game, Position
from games.base.schema import Fault, Key, KeyValues

MOST_LISTED = 2_000_000

KEYS = (Key("enumerate", "int", "every position after so many moves", low=1, high=12),)
WORD = False
EXAMPLES = ("{ enumerate = 2 }",)
MORE = "a larger enumerate"


def count(_: KeyValues) -> int | None:
    """None: only listing them shows how many there are."""
    return None


def faults(_: OpeningsSpec, __: Game | None) -> Iterator[Fault]:
    """Any number of plies fits."""
    yield from ()


def openings(of: Game, spec: OpeningsSpec, _: int, __: int) -> Openings:
    """All of them, or all that are balanced."""
    return finite_openings(of, enumerate_positions(of, spec.values["enumerate"]), spec.balance)


def enumerate_positions(of: Game, plies: int) -> list[tuple[int, ...]]:
    """All positions after exactly `plies` moves, each by the first line that leads to it."""
    level: dict[Position, tuple[int, ...]] = {of.start(): ()}
    for _ in range(plies):
        following: dict[Position, tuple[int, ...]] = {}
        for position, line in level.items():
            for move in of.legal(position):
                following.setdefault(of.play(position, move), (*line, move))
        level = following
        if len(level) > MOST_LISTED:
            raise OpeningsError(
                f"enumerate = {plies} gives more than {MOST_LISTED} openings; use fewer plies"
            )
    return [line for position, line in level.items() if not of.over(position)]
