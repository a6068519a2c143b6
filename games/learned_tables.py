"""The layout of learned tables: the entries that a position looks up."""

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

if TYPE_CHECKING:  # weight files are read without a compiler
    from games.kernels.jit import Kernel

Entries = NDArray[np.int64]
MOST_ENTRIES = 1 << 21  # of a phase: 4 MB of weights


@dataclass(frozen=True, slots=True)
class TableGroup:
    """A table with its lookups: a pattern of squares, a hole, a pair of holes."""

    name: str
    description: str  # the squares, or a description of the lookups
    entries: int
    lookups: int  # in one position


@dataclass(frozen=True)
class TableLayout:
    """The tables of one kind for one game; the entries of a phase are contiguous."""

    kind: str
    groups: tuple[TableGroup, ...]

    @cached_property
    def entries(self) -> int:
        """Return the entries of a phase."""
        return sum(group.entries for group in self.groups)

    @cached_property
    def lookups(self) -> int:
        """Return the number of entries that one position looks up."""
        return sum(group.lookups for group in self.groups)

    @cached_property
    def starts(self) -> dict[str, int]:
        """Return the first entry of each group."""
        ends = np.cumsum([0, *(group.entries for group in self.groups)])
        return {group.name: int(start) for group, start in zip(self.groups, ends, strict=False)}

    def to_json(self) -> dict[str, object]:
        """Return the layout for weight files: everything that cannot be derived."""
        groups = {group.name: group.description for group in self.groups}
        return {"kind": self.kind, "groups": groups}

    @cached_property
    def digest(self) -> str:
        """Return the name of the layout in the compile cache."""
        content = json.dumps([self.to_json(), self.entries, self.lookups])
        return hashlib.blake2b(content.encode(), digest_size=6).hexdigest()


class TableKind:
    """A kind of tables; every entry of a package's TABLES names the module of one.

    `layout(rules, own)` returns the layout for a game; `own` are a user's groups, if any.
    `lookups(layout)` returns the kernel (rules, position, base) that sums
    `look(rules, index, place)` over all lookups, where an index is `base` plus the entry.
    `known_score(rules, position)` is the score so far, which counts in addition to the tables.
    `same(layout)` returns, for every entry, the first of those that share its weight.
    """

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.known_score: Kernel = module.known_score

    def layout(self, rules: object, own: Mapping[str, str] | None = None) -> TableLayout:
        """Return the layout; raise a GameError if the game or the user's groups do not fit."""
        layout: TableLayout = self.module.layout(rules, own)
        if layout.entries > MOST_ENTRIES:
            raise GameError(
                f"tables have at most {MOST_ENTRIES:,} entries in all, "
                f"these have {layout.entries:,}"
            )
        return layout

    def lookups(self, layout: TableLayout) -> "Kernel":
        """Return the lookup kernel."""
        kernel: Kernel = self.module.lookups(layout)
        return kernel

    def shared_entries(self, layout: TableLayout) -> Entries:
        """Return for every entry the first of those that share its weight."""
        if not hasattr(self.module, "same"):
            return np.arange(layout.entries)
        entries: Entries = self.module.same(layout)
        return entries


def look(rules: object, index: np.int64, place: np.int64 | int) -> np.int64:
    """Return the weight at `index` for lookup number `place`; bound when kernels are compiled."""
    raise NotImplementedError


def ternary(rules: object, squares: np.uint64) -> np.int64:
    """Return the base-3 number whose digits are the bits of `squares`, at most ten; bound, too."""
    raise NotImplementedError
