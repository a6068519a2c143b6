"""The parameters of Othello games, with the names by which they are written."""

from collections.abc import Sequence
from dataclasses import dataclass

from games.names import choice, settings, whole

SIZES = range(4, 17, 2)
BITBOARD_SIZE = 8  # boards up to this size fit one 64-bit word a side
NEIGHBOURS = {"4": 4, "8": 8}


@dataclass(frozen=True, slots=True)
class OthelloRules:
    """Board size; how many neighbours make a square playable: 4, 8, or 0 by the standard rule."""

    size: int = 8
    adjacency: int = 0

    @property
    def cells(self) -> int:
        """Squares on the board."""
        return self.size * self.size


def read_rules(preset: str, arguments: Sequence[str]) -> OthelloRules:
    """The rules that the name means; only the adjacent variant has an adjacency."""
    adjacent = preset == "othello-adjacent"
    known = ("size", "adjacency") if adjacent else ("size",)
    given = settings(preset, arguments, ("size",), known)
    size = whole(preset, "size", given.get("size", "8"), SIZES)
    if not adjacent:
        return OthelloRules(size)
    word = choice(preset, "adjacency", given.get("adjacency", "8"), NEIGHBOURS)
    return OthelloRules(size, NEIGHBOURS[word])


def rules_name(preset: str, rules: OthelloRules) -> str:
    """The canonical name, which `read_rules` reads back."""
    more = ",adjacency=4" if rules.adjacency == 4 else ""
    return f"{preset}({rules.size}{more})"
