"""The problems of an experiment file: a line each, with the place, the problem, a hint."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from arena.reading.toml_lines import Place, line_numbers
from games.names import did_you_mean
from games.terminal import Mistake, printable

MOST_LINES = 30  # of problems
LONGEST_LINE = 600
MOST_CHARACTERS = 3_600  # of all lines together


class ExperimentError(Mistake):
    """The user's file is wrong: every problem in a line of its own, before the first game."""

    has_place = several_lines = True

    def __init__(self, problems: Sequence[str]) -> None:
        """`problems` are whole lines, in the order of the file."""
        self.problems = [printable(line, LONGEST_LINE) for line in problems[:MOST_LINES]]
        if len(problems) > MOST_LINES:
            self.problems.append(f"... and {len(problems) - MOST_LINES:,} more like these")
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type["ExperimentError"], tuple[list[str]]]:
        """Errors cross process boundaries with all their lines."""
        return type(self), (self.problems,)


@dataclass(frozen=True)
class Source:
    """An experiment file as it was read, with the values that the command line changed."""

    path: Path
    text: str
    tables: dict[str, Any]
    changed: Mapping[Place, str] = field(default_factory=dict)  # place -> its `--set` text


class Problems:
    """The problems found so far in one file."""

    def __init__(self, source: Source) -> None:
        """Lines are looked up only when there is a problem."""
        self.source = source
        self.found: list[tuple[float, str]] = []

    def say(self, place: Place, told: str, table: Place | None = None) -> None:
        """A problem with the key at `place`, which stands in `table`."""
        label = label_of(table_of(place) if table is None else table)
        line, where = self._where(place)
        self.found.append((line, f"{where}: [{label}] {told}"))

    def say_of_set(self, override: str, told: str) -> None:
        """A problem with a `--set` that cannot be put in place."""
        self.found.append((math.inf, f"--set {override}: {told}"))

    def _where(self, place: Place) -> tuple[float, str]:
        heads = [place[:end] for end in range(len(place), 0, -1)]
        for changed, text in self.source.changed.items():
            made = any(changed[: len(h)] == h for h in heads if h not in self.numbers)
            if made or changed in heads:
                return math.inf, f"--set {text}"
        line = next((self.numbers[head] for head in heads if head in self.numbers), 1)
        return line, f"{self.source.path}:{line}"

    @cached_property
    def numbers(self) -> dict[Place, int]:
        """The line of every place in the file."""
        return line_numbers(self.source.text)

    def raise_if_any(self) -> None:
        """Raise all problems, in the order of the file."""
        if self.found:
            self.found.sort(key=lambda entry: entry[0])
            raise ExperimentError(fitting(list(dict.fromkeys(line for _, line in self.found))))


def fitting(lines: list[str]) -> list[str]:
    """The first lines, as many as anybody reads, and how many more there are."""
    ends = accumulate(min(len(line), LONGEST_LINE) + 1 for line in lines)
    shown = max(1, sum(end <= MOST_CHARACTERS for end in ends))
    left = len(lines) - shown
    return [*lines[:shown], f"... and {left:,} more like these"] if left else lines


def table_of(place: Place) -> Place:
    """The table in which a key stands, or the key whose list holds an item."""
    while place and isinstance(place[-1], int):
        place = place[:-1]
    return place[:-1]


def label_of(table: Place) -> str:
    """The table as its header is written: `agents.smart`, `[checks]` for each of a list."""
    if not table:
        return "top level"
    parts = [part for part in table if isinstance(part, str)]
    names = ".".join(
        part if re.fullmatch(r"[\w-]+", part) else json.dumps(part, ensure_ascii=False)
        for part in parts
    )
    return f"[{names}]" if len(parts) < len(table) else names


def near(given: object, names: Iterable[str]) -> str:
    """`; did you mean "..."?` if `given` is a word near one of `names`."""
    return did_you_mean(given, names) if isinstance(given, str) else ""
