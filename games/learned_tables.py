"""The layout of learned tables: which entries a position looks up."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from games.base.text import GameError

if TYPE_CHECKING:  # files of weights are read without a compiler
    from games.kernels.jit import Kernel

Entries = NDArray[np.int64]
MOST_ENTRIES = 1 << 21  # of a phase: 4 MB of weights


@dataclass(frozen=True, slots=True)
class TableGroup:
    """A table and what looks it up: a pattern with its squares, a hole, a pair of holes."""

    name: str
    words: str  # the squares; what else is looked up, in words
    entries: int
    lookups: int  # in one position


@dataclass(frozen=True)
class TableLayout:
    """The tables of one kind for one game; all of them have one phase's entries in a row."""

    kind: str
    groups: tuple[TableGroup, ...]

    @cached_property
    def entries(self) -> int:
        """The entries of a phase."""
        return sum(each.entries for each in self.groups)

    @cached_property
    def lookups(self) -> int:
        """How many entries one position looks up."""
        return sum(each.lookups for each in self.groups)

    @cached_property
    def starts(self) -> dict[str, int]:
        """Where each group begins."""
        ends = np.cumsum([0, *(each.entries for each in self.groups)])
        return {each.name: int(start) for each, start in zip(self.groups, ends, strict=False)}

    def to_json(self) -> dict[str, object]:
        """The layout as a file of weights holds it: what cannot be worked out again."""
        return {"kind": self.kind, "groups": {each.name: each.words for each in self.groups}}

    @cached_property
    def digest(self) -> str:
        """Names the layout in the compile cache."""
        content = json.dumps([self.to_json(), self.entries, self.lookups])
        return hashlib.blake2b(content.encode(), digest_size=6).hexdigest()


class LookedUp:
    """What a kind of tables has in its module; every entry of a pack's TABLES is such a one.

    `layout(rules, own)` is the layout for a game; `own` are groups of a user's, if there are any.
    `lookups(layout)` is the function (rules, position, base) that sums `look(rules, index, place)`
    over everything that is looked up; its index is `base` and the entry.
    `known(rules, position)` is what counts beside the tables: the score so far.
    `same(layout)` has for every entry the first of those that share its weight.
    """

    def __init__(self, module: ModuleType) -> None:
        """Nothing is bound to a family of states yet."""
        self.module = module
        self.known: Kernel = module.known

    def layout(self, rules: object, own: Mapping[str, str] | None = None) -> TableLayout:
        """The layout; GameError where the game or the user's groups do not fit."""
        made: TableLayout = self.module.layout(rules, own)
        if made.entries > MOST_ENTRIES:
            raise GameError(
                f"tables have at most {MOST_ENTRIES:,} entries in all, these have {made.entries:,}"
            )
        return made

    def lookups(self, layout: TableLayout) -> "Kernel":
        """The function that looks a position up."""
        made: Kernel = self.module.lookups(layout)
        return made

    def same(self, layout: TableLayout) -> Entries:
        """For every entry the first of those that share its weight."""
        if not hasattr(self.module, "same"):
            return np.arange(layout.entries)
        found: Entries = self.module.same(layout)
        return found


def look(rules: object, index: np.int64, place: np.int64 | int) -> np.int64:
    """The weight at `index`; `place` counts the lookups. Bound when kernels are made."""
    raise NotImplementedError


def ternary(rules: object, squares: np.uint64) -> np.int64:
    """The base-3 number whose digits are the bits of `squares`, which are at most ten. Bound."""
    raise NotImplementedError
