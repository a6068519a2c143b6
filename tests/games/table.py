"""Games to test with, asked of the table: a new game enters every test by its line in `GAMES`."""

from collections.abc import Iterable
from contextlib import suppress

from games import NAMES, GameError, game


def in_sizes(*arguments: str) -> list[str]:
    """The canonical names of every game in all those sizes that it takes."""
    made = {}
    for text in (name + size for name in NAMES for size in arguments):
        with suppress(GameError):
            made[game(text).name] = True
    return list(made)


def one_of_each(attribute: str, *sizes: str) -> list[str]:
    """A game of each `family_name` or `pack`, in the first of the sizes that fits."""
    found: dict[str, str] = {}
    for name in in_sizes(*sizes, ""):
        found.setdefault(getattr(game(name), attribute), name)
    return list(found.values())


def each_preset(*sizes: str) -> list[str]:
    """Every name of the table, in the first of the sizes that it takes; else as it is."""
    return [next(_taken(name, (*sizes, ""))) for name in NAMES]


def _taken(name: str, sizes: Iterable[str]) -> Iterable[str]:
    for size in sizes:
        with suppress(GameError):
            yield game(name + size).name
