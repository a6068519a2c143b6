"""Values tried in turn."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from agents.registry import AGENTS, kind_of
from arena.config.experiment import Experiment, experiment_in
from arena.config.toml_file import ExperimentError, Problems, Source, read, read_again
from games.base.text import quoted, shown

MOST_CELLS = 1000
EVERY = "*"  # in place of an agent's name: all that have this option
SWEEP = "sweep"
LABEL = "--set "


class SweepAxis(NamedTuple):
    """A key with the values that it takes; `keys` are all that take them together."""

    name: str  # as it is written
    keys: tuple[str, ...]
    values: tuple[object, ...]


class SweepCell(NamedTuple):
    """One combination: the value of each axis, and the experiment with these."""

    number: int
    values: tuple[object, ...]
    overrides: tuple[str, ...]
    experiment: Experiment

    def words(self, axes: Sequence[SweepAxis]) -> str:
        """The combination in words."""
        pairs = zip(axes, self.values, strict=True)
        return ", ".join(f"{axis.name} = {toml_value(value)}" for axis, value in pairs)


class SweepPlan(NamedTuple):
    """What a file with a sweep asks for."""

    name: str
    axes: tuple[SweepAxis, ...]
    cells: tuple[SweepCell, ...]


def load_any(path: Path, overrides: Sequence[str] = ()) -> Experiment | SweepPlan:
    """The experiment in a file, or its sweep; an ExperimentError says all that is wrong.

    The file is read once: it may be a pipe.
    """
    return either_in(*read(path, overrides), overrides)


def either_in(
    source: Source, problems: Problems, overrides: Sequence[str]
) -> Experiment | SweepPlan:
    """The experiment of tables that were read with these overrides, or their sweep."""
    if SWEEP not in source.tables:
        return experiment_in(source, problems)
    axes = tuple(read_axes(source, problems))
    count = 1
    for axis in axes:
        count *= max(1, len(axis.values))
    if count > MOST_CELLS:
        message = f"{SWEEP} may have at most {MOST_CELLS:,} combinations, got {count:,}"
        problems.say((SWEEP,), message, (SWEEP,))
    problems.raise_if_any()
    cells = tuple(cells_of(source, tuple(overrides), axes))
    return SweepPlan(experiment_in(source, problems).name, axes, cells)


def read_axes(source: Source, problems: Problems) -> Iterator[SweepAxis]:
    """The axes in the order of the file."""
    table = source.tables[SWEEP]
    leaves = dict(flattened(table)) if isinstance(table, dict) else {}
    if not leaves:
        message = f'{SWEEP} must name keys with lists of values, as in "agents.mine.nodes" = [300]'
        problems.say((SWEEP,), message, (SWEEP,))
    for name, values in leaves.items():
        place = (SWEEP, name)
        if not isinstance(values, list) or not values:
            problems.say(place, f"{name} must be a list of values, got {shown(values)}", (SWEEP,))
            continue
        if len({toml_value(each) for each in values}) < len(values):
            problems.say(place, f"{name} has a value twice", (SWEEP,))
        keys = tuple(keys_of(name, source.tables))
        if not keys:
            problems.say(place, f"{name}: no agent has this option", (SWEEP,))
        yield SweepAxis(name, keys, tuple(values))


def flattened(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """The keys of nested tables with dots, as people write them without quotes."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def keys_of(name: str, tables: Mapping[str, object]) -> Iterator[str]:
    """The keys that take a value together: several with commas, or those of all agents."""
    for each in (part.strip() for part in name.split(",")):
        head, dot, option = each.partition(f".{EVERY}.")
        if not dot or head != "agents":
            yield each
            continue
        agents = tables.get("agents")
        for agent, table in agents.items() if isinstance(agents, dict) else ():
            kind = table.get("kind") if isinstance(table, dict) else None
            if isinstance(kind, str) and kind in AGENTS and kind_of(kind).option(option):
                yield f"agents.{agent}.{option}"


def cells_of(
    source: Source, overrides: tuple[str, ...], axes: Sequence[SweepAxis]
) -> Iterator[SweepCell]:
    """The experiment of every combination, the last axis changing first."""
    for number, values in enumerate(product(*(axis.values for axis in axes)), 1):
        changes = tuple(
            f"{key}={toml_value(value)}"
            for axis, value in zip(axes, values, strict=True)
            for key in axis.keys
        )
        try:
            tables = read_again(source.path, source.text, overrides + changes)
            experiment = experiment_in(*tables)
        except ExperimentError as error:
            lines = [line.replace(LABEL, f"{source.path}: [{SWEEP}] ") for line in error.problems]
            raise ExperimentError(lines) from None
        yield SweepCell(number, values, overrides + changes, experiment)


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        pairs = (f"{quoted_key(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def quoted_key(key: str) -> str:
    """A key as TOML writes it."""
    return key if key.replace("_", "").isalnum() else quoted(key)
