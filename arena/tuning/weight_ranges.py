"""What `[tune]` tunes read as a space: ranges to search, numbers that stay."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agents import AgentSpec, kind_of
from agents.core import Weights
from agents.evaluations.weight_files import LARGEST
from agents.kinds import settings
from arena.reading.problems import Problems, near
from arena.tuning.constraints import broken, constraint_of
from arena.tuning.option_ranges import read_options, tables_of, tunable
from arena.tuning.space import WEIGHTS, Axis, Space, Value
from arena.tuning.start_weights import by_tables, has_weights, seed_weights
from arena.tuning.tune_table import TuneTable, say_of_tune
from arena.tuning.written_range import RangeTable, is_number, range_fault, written_range
from games import Game
from games.names import listed, quoted, shown


class StartWeights(NamedTuple):
    """An agent's weights before tuning, and the names its weights may have; None if any."""

    weights: Weights
    names: Sequence[str] | None
    single: bool  # whether there are no phases
    options: Sequence[str] = ()  # what else the agent has


def read_space(
    table: TuneTable, spec: AgentSpec, of: Game, problems: Problems
) -> tuple[Space, dict[str, Value]]:
    """The space to search and where in it the agent is now; what is wrong is said."""
    axes, fixed, seeds = list[Axis](), dict[str, tuple[float, ...]](), dict[str, Value]()
    before = len(problems.found)
    if has_weights(spec) and not by_tables(spec, of):
        names, weights = seed_weights(spec, of)
        start = StartWeights(weights, names, single="evaluate" in spec.options)
        start = start._replace(options=[key.name for key in kind_of(spec).options])
        for name, value in table.weights.items():
            axes += read_axes(name, value, start, problems)
        fixed = fixed_weights(table, weights)
        seeds = {axis.name: seed_value(axis, axes, weights) for axis in axes}
    axes += (options := read_options(table.options, spec, of, problems))
    seeds |= {axis.name: option_seed(axis, spec, of) for axis in options}
    if not axes and len(problems.found) == before:
        say_of_tune(problems, nothing_ranged(spec), "weights")
    for name in sorted({axis.name for axis in axes if [a.name for a in axes].count(axis.name) > 1}):
        say_of_tune(
            problems, f"{name} is a weight and an option: tune one of them", "options", name
        )
    space = Space(tuple(axes), fixed, tables_of(axes, spec))
    return constrained(space, table.constraints, seeds, problems), seeds


def nothing_ranged(spec: AgentSpec) -> str:
    """What is missing where nothing is tuned."""
    if has_weights(spec):
        return "no weight has a range, as in weights = { pot = [0.5, 5.0] }"
    names = listed(tunable(kind_of(spec)))
    return f"no option has a range: write [tune.options]; these can be tuned: {names}"


def fixed_weights(table: TuneTable, weights: Weights) -> dict[str, tuple[float, ...]]:
    """The weights that stay: the agent's own, and those that are written as a number."""
    numbers = {name: float(value) for name, value in table.weights.items() if is_number(value)}
    fixed = {name: values for name, values in weights.items() if name not in table.weights}
    return fixed | {name: (number,) for name, number in numbers.items()}


def constrained(
    space: Space, texts: Sequence[str], seeds: dict[str, Value], problems: Problems
) -> Space:
    """The space with its constraints, which must hold where the search begins."""
    constraints = []
    for text in texts:
        try:
            constraints.append(constraint_of(text, space.axes))
        except ValueError as error:
            say_of_tune(problems, f"constraints: {error}", "constraints")
    for message in broken(constraints, space.axes, seeds):
        say_of_tune(problems, message, "constraints")
    return space._replace(constraints=tuple(constraints))


def seed_value(axis: Axis, axes: Sequence[Axis], weights: Weights) -> float:
    """The weight of an axis before tuning, in its phase; one that the agent does not have is 0."""
    phases = [each for each in axes if each.place == axis.place]
    values = weights.get(axis.place[1], (0.0,))
    return values[phases.index(axis) * len(values) // len(phases)]


def option_seed(axis: Axis, spec: AgentSpec, of: Game) -> Value:
    """The option of an axis before tuning."""
    if len(axis.place) == 2:
        inner: Value = spec.options[axis.place[0]][axis.place[1]]
        return inner
    found: Value = settings(kind_of(spec).options, spec, of)[axis.place[0]]
    return found


def read_axes(name: str, value: object, start: StartWeights, problems: Problems) -> Iterator[Axis]:
    """The range of one weight, one for each phase; none if it is a number, or wrong."""
    if start.names is not None and name not in start.names:
        known = f"there are {listed(start.names)}"
        message = f"unknown weight {quoted(name)} ({known}){near(name, start.names)}"
        if name in start.options:
            message = f"{name} is no weight but an option: tune it in [tune.options]"
        say_of_tune(problems, message, "weights", name)
        return
    if is_number(value):
        return
    try:
        ranged = written_range(name, value, or_number=True)
        if fault := weight_fault(name, ranged, start):
            raise ValueError(fault)
    except ValueError as error:
        say_of_tune(problems, str(error), "weights", name)
        return
    low, high = ranged.range
    plain = Axis(name, low, high, ranged.log, ranged.integer)
    several = (
        plain._replace(name=f"{name}.{phase}", path=(WEIGHTS, name))
        for phase in range(1, ranged.phases + 1)
    )
    yield from [plain] if ranged.phases == 1 else several


def weight_fault(name: str, ranged: RangeTable, start: StartWeights) -> str:
    """Why a weight has no such range; empty if it has."""
    seeds = start.weights.get(name, (0.0,))
    if ranged.choices:
        return f"{name} is a weight, which has a range: write [lowest, highest]"
    if ranged.phases > 1 and start.single:
        return f"{name} has no phases: an evaluation of your own has one number a weight"
    if ranged.phases % len(seeds):
        return (
            f"{name} has {len(seeds)} phases in the agent: write phases = {len(seeds)}, or a "
            f"multiple of it, got {ranged.phases}"
        )
    if max(map(abs, ranged.range), default=0.0) > LARGEST:
        return f"{name} must lie within ±{LARGEST:g}, got {shown(ranged.range)}"
    return range_fault(name, ranged, seeds)
