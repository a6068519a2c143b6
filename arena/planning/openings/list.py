"""Openings written out, in the moves that players write."""

from collections.abc import Iterator

from arena.planning.openings.openings import Openings, OpeningsError, finite_openings
from arena.planning.plan import OpeningsSpec
from games import Game, MoveError, Position
from games.base.schema import Fault, Key, KeyValues
from games.base.text import quote

KEYS = (Key("list", "texts", "openings as players write them"),)
WORD = False
EXAMPLES = ('{ list = ["3 1", "2"] }',)
MORE = "a longer list"


def count(values: KeyValues) -> int | None:
    """The number of listed openings."""
    return len(values["list"])


def faults(spec: OpeningsSpec, of: Game | None) -> Iterator[Fault]:
    """An empty list, text that is not a move, openings listed twice."""
    if not spec.values["list"]:
        yield ("list",), "list must hold at least one opening, got []"
    if of is None:
        return
    seen: dict[tuple[str, ...], int] = {}
    for item, line in enumerate(spec.values["list"]):
        words = of.notation.split(line)
        for word in words:
            if not is_move_text(of, word):
                yield (
                    ("list", item),
                    f"opening {item + 1}: {quote(word)} is not a move of {of.name}",
                )
        first = seen.setdefault(tuple(words), item)
        if first != item and not spec.repeat:
            message = f"opening {item + 1} is the same as opening {first + 1}"
            yield ("list", item), f"{message}, got {quote(line)} twice"


def is_move_text(of: Game, word: str) -> bool:
    """Whether the word is a move of either side; whether it is legal depends on the position."""
    sides = (Position(None, 0), Position(None, 1))
    return any(of.notation.parse_move(side, word) is not None for side in sides)


def openings(of: Game, spec: OpeningsSpec, _: int, __: int) -> Openings:
    """The listed openings, or those of them that are balanced."""
    return finite_openings(of, read(of, spec.values["list"]), spec.balance)


def read(of: Game, texts: tuple[str, ...]) -> list[tuple[int, ...]]:
    """The lines that players wrote; OpeningsError gives the place and ply of an illegal move."""
    lines: dict[Position, tuple[int, ...]] = {}
    for place, text in enumerate(texts, 1):
        try:
            positions = of.replay(text)
        except MoveError as error:
            raise OpeningsError(f"openings.list, line {place}: {error}") from None
        if of.over(positions[-1]):
            raise OpeningsError(f'openings.list, line {place}: "{text}" is a finished game')
        words = of.notation.split(text)
        moves = [of.parse_move(p, word) for p, word in zip(positions, words, strict=False)]
        lines.setdefault(positions[-1], tuple(moves))
    return list(lines.values())
