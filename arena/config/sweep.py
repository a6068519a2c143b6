"""Read sweeps: one experiment for each combination of values."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from agents.registry import AGENTS, kind_of
from arena.config.experiment import Experiment, build_experiment
from arena.config.toml_file import (
    ExperimentError,
    Problems,
    Source,
    apply_overrides,
    read_experiment_file,
)
from games.base.files import format_toml
from games.base.text import format_value

MOST_CELLS = 1000
ALL_AGENTS = "*"  # in place of a name: all agents with this option
SWEEP = "sweep"
LABEL = "--set "


class SweepAxis(NamedTuple):
    """A key with its values; `keys` are all keys that take the same value."""

    name: str
    keys: tuple[str, ...]
    values: tuple[object, ...]


class SweepCell(NamedTuple):
    """One combination: the value of each axis, and its experiment."""

    number: int
    values: tuple[object, ...]
    overrides: tuple[str, ...]
    experiment: Experiment

    def words(self, axes: Sequence[SweepAxis]) -> str:
        """Return the combination as text."""
        pairs = zip(axes, self.values, strict=True)
        return ", ".join(f"{axis.name} = {format_toml(value)}" for axis, value in pairs)


class SweepPlan(NamedTuple):
    """The axes of a sweep and its experiments."""

    name: str
    axes: tuple[SweepAxis, ...]
    cells: tuple[SweepCell, ...]


def load_experiment_or_sweep(path: Path, overrides: Sequence[str] = ()) -> Experiment | SweepPlan:
    """Return the experiment in a file, or its sweep; an ExperimentError lists all problems.

    The file is read once because it may be a pipe.
    """
    return build_experiment_or_sweep(*read_experiment_file(path, overrides), overrides)


def build_experiment_or_sweep(
    source: Source, problems: Problems, overrides: Sequence[str]
) -> Experiment | SweepPlan:
    """Return the experiment or the sweep of tables, to which `overrides` are applied already."""
    if SWEEP not in source.tables:
        return build_experiment(source, problems)
    axes = tuple(read_axes(source, problems))
    count = 1
    for axis in axes:
        count *= max(1, len(axis.values))
    if count > MOST_CELLS:
        message = f"{SWEEP} may have at most {MOST_CELLS:,} combinations, got {count:,}"
        problems.add((SWEEP,), message, (SWEEP,))
    problems.raise_if_any()
    cells = tuple(make_cells(source, tuple(overrides), axes))
    return SweepPlan(build_experiment(source, problems).name, axes, cells)


def read_axes(source: Source, problems: Problems) -> Iterator[SweepAxis]:
    """Yield the axes in the order of the file; report wrong ones."""
    table = source.tables[SWEEP]
    leaves = dict(flatten_keys(table)) if isinstance(table, dict) else {}
    if not leaves:
        message = f'{SWEEP} must name keys with lists of values, as in "agents.mine.nodes" = [300]'
        problems.add((SWEEP,), message, (SWEEP,))
    for name, values in leaves.items():
        place = (SWEEP, name)
        if not isinstance(values, list) or not values:
            problems.add(
                place, f"{name} must be a list of values, got {format_value(values)}", (SWEEP,)
            )
            continue
        if len({format_toml(each) for each in values}) < len(values):
            problems.add(place, f"{name} has a value twice", (SWEEP,))
        keys = tuple(axis_keys(name, source.tables))
        if not keys:
            problems.add(place, f"{name}: no agent has this option", (SWEEP,))
        yield SweepAxis(name, keys, tuple(values))


def flatten_keys(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Yield the keys of nested tables joined by dots, with their values."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flatten_keys(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def axis_keys(name: str, tables: Mapping[str, object]) -> Iterator[str]:
    """Yield the keys that an axis sets: several with commas, or those of all agents."""
    for each in (part.strip() for part in name.split(",")):
        head, dot, option = each.partition(f".{ALL_AGENTS}.")
        if not dot or head != "agents":
            yield each
            continue
        agents = tables.get("agents")
        for agent, table in agents.items() if isinstance(agents, dict) else ():
            kind = table.get("kind") if isinstance(table, dict) else None
            if isinstance(kind, str) and kind in AGENTS and kind_of(kind).option(option):
                yield f"agents.{agent}.{option}"


def make_cells(
    source: Source, overrides: tuple[str, ...], axes: Sequence[SweepAxis]
) -> Iterator[SweepCell]:
    """Yield the experiment of every combination; the last axis changes fastest."""
    for number, values in enumerate(product(*(axis.values for axis in axes)), 1):
        changes = tuple(
            f"{key}={format_toml(value)}"
            for axis, value in zip(axes, values, strict=True)
            for key in axis.keys
        )
        try:
            own = replace(source, tables=deepcopy(source.tables))
            experiment = build_experiment(*apply_overrides(own, overrides + changes))
        except ExperimentError as error:
            lines = [line.replace(LABEL, f"{source.path}: [{SWEEP}] ") for line in error.problems]
            raise ExperimentError(lines) from None
        yield SweepCell(number, values, overrides + changes, experiment)
