"""What is wrong with an experiment file, as lines that say where, what and what was meant."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from arena.reading.toml_lines import Place, line_numbers
from games.names import did_you_mean, listed, quoted, shown
from games.terminal import Mistake

NEAR = 0.5  # how alike two words must be


class ExperimentError(Mistake):
    """The user's file is wrong: every problem in a line of its own, before the first game."""

    has_place = True

    def __init__(self, problems: Sequence[str]) -> None:
        """`problems` are whole lines, in the order of the file."""
        super().__init__("\n".join(problems))
        self.problems = list(problems)

    def __reduce__(self) -> tuple[Any, tuple[list[str]]]:
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
            raise ExperimentError(list(dict.fromkeys(line for _, line in self.found)))

    def add_schema(self, model: type[BaseModel]) -> None:
        """Everything in the file that does not fit the model of its tables."""
        try:
            model.model_validate(self.source.tables)
        except ValidationError as error:
            meant: set[Place] = set()
            # Missing keys last: one that was only misspelt is not reported twice.
            for each in sorted(error.errors(), key=lambda each: each["type"] == "missing"):
                self._add(model, each["type"], each["loc"], each, meant)

    def _add(
        self, model: type[BaseModel], kind: str, place: Place, error: Any, meant: set[Place]
    ) -> None:
        if kind == "extra_forbidden":
            self._add_unknown(model, place, meant)
        elif kind == "missing" and place not in meant:
            self.say(place, f"{place[-1]} is missing{EXAMPLES.get(str(place[-1]), '')}")
        elif kind == "value_error":
            table = place if isinstance(error["input"], dict | BaseModel) else table_of(place)
            self.say(place, str(error["ctx"]["error"]), table)
        elif kind != "missing":
            got = f"got {shown(error['input'])}"
            told = f"{key_name(place)} must be {wanted(kind, error)}, {got}{hint(error)}"
            self.say(place, told)

    def _add_unknown(self, model: type[BaseModel], place: Place, meant: set[Place]) -> None:
        """An unknown key, and what was meant by it: a key that is not there yet."""
        *table, key = place
        written: Any = self.source.tables
        for part in table:
            written = written[part]
        top = names_at(model, ()) if table else ()
        message, likely = unknown_key(str(key), names_at(model, table), written, top)
        if likely:
            meant.add((*table, likely))
        self.say(place, message)


def unknown_key(
    key: str, names: Sequence[str], written: Iterable[str], top: Iterable[str]
) -> tuple[str, str | None]:
    """What to say of a key that a table cannot have, and which of its `names` was meant.

    `written` are the keys that the table has, `top` those that stand above all tables.
    """
    message = f"unknown key {quoted(key)}"
    if key in top:
        return f"{message}; it belongs above the first [table] of the file", None
    free = [name for name in names if name not in written]
    if likely := closest(key, free) or closest(key, names):
        return f'{message}; did you mean "{likely}"?', likely
    return f"{message} (there are {listed(names)})", None


EXAMPLES = {
    "game": ', as in game = "kalah(6,4)"',
    "agents": ", as in [agents.smart]",
    "kind": ', as in kind = "smart"',
    "that": ', as in that = "smart beats bad"',
}

WANTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "tuple_type": "a list in [ ]",
    "dict_type": "a table",
    "model_type": "a table",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "a name that a directory can have",
    "string_too_long": "at most {max_length} characters long",
}


def wanted(kind: str, error: Any) -> str:
    """What a value must be, from pydantic's kind of error and its context."""
    context = {key: plainly(value) for key, value in error.get("ctx", {}).items()}
    return WANTED[kind].format(**context) if kind in WANTED else str(error["msg"])


def plainly(value: Any) -> str:
    """A bound of a range, or Python's list of choices as TOML writes it."""
    if isinstance(value, int | float):
        return f"{int(value):,}" if value == int(value) else str(value)
    return str(value).replace("True", "true").replace("'", '"')


def hint(error: Any) -> str:
    """The nearest of the choices, or how a list of tables is written."""
    if error["loc"] == ("checks",) and isinstance(error["input"], dict):
        return "; write [[checks]] with two brackets"
    expected = plainly(error.get("ctx", {}).get("expected", ""))
    return near(error["input"], re.findall(r'"(.*?)"', expected))


def names_at(model: type[BaseModel], place: Iterable[str | int]) -> list[str]:
    """The keys that the table at `place` may have."""
    for part in place:
        for name, key in model.model_fields.items():
            if part == (key.alias or name):
                model = model_inside(key.annotation) or model
    return [key.alias or name for name, key in model.model_fields.items()]


def model_inside(annotation: Any) -> type[BaseModel] | None:
    """The model of a table, of a dict's tables or of a list's tables."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(model_inside, get_args(annotation))), None)


def key_name(place: Place) -> str:
    """A key as a message calls it; list items are counted from 1."""
    if isinstance(place[-1], int):
        return f"item {place[-1] + 1} of {place[-2]}"
    return str(place[-1])


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


def near(given: Any, names: Iterable[str]) -> str:
    """`; did you mean "..."?` if `given` is a word near one of `names`."""
    return did_you_mean(given, names) if isinstance(given, str) else ""


def closest(word: Any, names: Iterable[str]) -> str | None:
    """The nearest of `names`, if one is near."""
    return next(iter(get_close_matches(str(word), list(names), 1, NEAR)), None)
