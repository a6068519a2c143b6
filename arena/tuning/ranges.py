"""Ranges of weights and options."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from agents.core import AgentSpec, Weights
from agents.evaluation.weights import LARGEST, declared_weights
from agents.options import bot_options
from agents.registry import AGENTS, Kind, kind_of, option_values
from arena.config.toml_file import Problems
from arena.tuning.space import WEIGHTS, Axis, Space, Value
from arena.tuning.table import TuneTable, report_tune_problem
from games import Game
from games.base.schema import Key, KeyValues, default_values, table_faults, unknown_key_message
from games.base.text import did_you_mean, format_value, listed, quote

MOST_PHASES = 8  # of a weight
MOST_CHOICES = 50
CHOICES = f"choices must be 2 to {MOST_CHOICES} different numbers or texts"
RANGE = (
    Key("range", "numbers", "the lowest and the highest value"),
    Key("choices", "any", "all values that it may have, instead of a range"),
    Key("log", "bool", "whether it is searched by orders of magnitude", False),
    Key("integer", "bool", "whether only whole numbers are used", False),
    Key("phases", "int", "into how many parts of the game a weight is cut", 1, 1, MOST_PHASES),
)
NUMBERS = ("int", "float", "bool")
MORE_IS_BETTER = ("nodes", "seconds", "table_bits")
# With more of these a search is better and slower, unless what it may look at is fixed.
AT_EQUAL_NODES = ("depth", "endgame")
SAME_MOVES = ("compile", "process")


def has_weights(spec: AgentSpec) -> bool:
    """Whether the kind of the agent plays by weights."""
    return spec.kind in AGENTS and kind_of(spec).option("weights") is not None


def plays_by_learned_tables(spec: AgentSpec, of: Game) -> bool:
    """Whether the agent plays by tables that were learned, not by weights of features."""
    if spec.options.get("evaluate"):
        return False
    return isinstance(option_values(kind_of(spec).options, spec, of)["weights"], str)


def seed_weights(spec: AgentSpec, of: Game) -> tuple[Sequence[str] | None, Weights]:
    """The names that weights may have, None if any; the agent's weights before tuning."""
    if evaluate := spec.options.get("evaluate"):
        declared = declared_weights(evaluate) or {}
        return (tuple(declared) or None), {**declared, **spec.options.get("weights", {})}
    return of.features, option_values(kind_of(spec).options, spec, of)["weights"]


class RangeSpec(NamedTuple):
    """A range, written out; or choices, and then no range."""

    range: tuple[float, ...]
    choices: tuple[Value, ...]
    log: bool
    integer: bool
    phases: int


def parse_range(name: str, value: object, or_number: bool = False) -> RangeSpec:
    """The range that is written; a ValueError says why there is none.

    `or_number`: whether a number could stand there as well.
    """
    table = value if isinstance(value, dict) else {"range": value}
    if value and isinstance(value, dict) and (fault := _table_fault(value)):
        raise ValueError(f"{name}: {fault}")
    ranged = _ranged(table)
    if ranged is None:
        raise ValueError(
            f"{name} must be {'a number, ' if or_number else ''}a range like [0.5, 5.0], "
            f"{{ range = [0.5, 5.0], log = true }} or {{ choices = [1, 2, 4] }}, "
            f"got {format_value(value)}"
        )
    return ranged


def _table_fault(table: KeyValues) -> str:
    """What is wrong with one key of a table, or with two together; empty if it is no key."""
    for _, message in table_faults(table, RANGE):
        return message
    if "choices" not in table:
        return "" if "range" in table else "range is missing, as in { range = [0.5, 5.0] }"
    if len(table) > 1:
        return f"choices stand alone, without {next(name for name in table if name != 'choices')}"
    return "" if fits(table["choices"]) else CHOICES


def _ranged(table: KeyValues) -> RangeSpec | None:
    """The range in a table without faults; None if there are no numbers in it."""
    values = {**default_values(RANGE), **table}
    if "choices" in table:
        return RangeSpec((), tuple(values["choices"]), False, False, 1)
    if list(RANGE[0].faults(values["range"])):
        return None
    numbers = tuple(map(float, values["range"]))
    return RangeSpec(numbers, (), values["log"], values["integer"], values["phases"])


def fits(choices: object) -> bool:
    """Whether it is a list of several numbers or texts, none of them twice."""
    if not isinstance(choices, list | tuple) or not 2 <= len(choices) <= MOST_CHOICES:
        return False
    return all(map(is_value, choices)) and len(set(choices)) == len(choices)


def is_value(value: object) -> bool:
    """Whether it is text, true, false or a finite number."""
    return isinstance(value, str | bool) or is_number(value)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def range_fault(name: str, ranged: RangeSpec, seeds: Sequence[float]) -> str:
    """Why a range cannot be used, with the values before tuning; empty if it can."""
    if len(ranged.range) != 2:
        return f"{name} needs a lowest and a highest value, got {format_value(ranged.range)}"
    low, high = ranged.range
    room, whole = f"[{low:g}, {high:g}]", all(number.is_integer() for number in ranged.range)
    outside = [seed for seed in seeds if not low <= seed <= high]
    broken = [seed for seed in seeds if not float(seed).is_integer()]
    wrong = {
        f"{name} has an empty range: the lowest value comes first, got {room}": not low < high,
        f"{name} has a log range, which must lie above 0, got {room}": ranged.log and low <= 0,
        f"{name} is a whole number, so its range must end in whole numbers, got {room}": (
            ranged.integer and not whole
        ),
        f"{name} leaves no room for the seed weight: it is {_first(outside)} in the agent, outside "
        f"{room}; widen the range, or give the agent other weights": low < high and bool(outside),
        f"{name} is a whole number, but the seed weight is {_first(broken)}": (
            ranged.integer and bool(broken)
        ),
    }
    return next((message for message, holds in wrong.items() if holds), "")


def _first(numbers: Sequence[float]) -> str:
    return f"{numbers[0]:g}" if numbers else ""


def tunable_options(kind: Kind) -> list[str]:
    """The options of a kind that can be tuned, as `[tune.options]` names them."""
    return [
        f"{key.name}.NAME" if key.type == "table" else key.name
        for key in kind.options
        if key.name != WEIGHTS and not refusal(key) and not needs_node_limit(kind, key)
    ]


def needs_node_limit(kind: Kind, key: Key) -> bool:
    """Whether more of an option is always better, as the kind cannot be given equal nodes."""
    return key.name in AT_EQUAL_NODES and (kind.option("nodes") is None or kind.behind is not None)


def refusal(key: Key) -> str:
    """Why an option is not tuned, whatever its range; empty if it can be."""
    if key.name in MORE_IS_BETTER:
        return "more of it is always better, and slower"
    if key.name in {each.name for each in bot_options()}:
        return "it says what a bot may use, not how it plays"
    if key.name in SAME_MOVES:
        return "it does not change any move"
    if key.type in NUMBERS or key.type == "table" or key.choices:
        return ""
    return f"it is {key.allowed()}, which has no range"


def read_options(
    table: Mapping[str, object], spec: AgentSpec, of: Game, problems: Problems
) -> list[Axis]:
    """An axis for every option with a range or choices; what is wrong is said."""
    kind, axes = kind_of(spec), list[Axis]()
    for name, value in table.items():
        key = kind.option(name)
        if message := option_fault(key, name, spec, of):
            report_tune_problem(problems, message, "options", name)
        elif key is not None and key.type == "table":
            axes += table_axes(name, value, spec, problems)
        elif key is not None:
            seed = option_values(kind.options, spec, of).get(name)
            try:
                axes.append(option_axis(key, value, seed))
            except ValueError as error:
                report_tune_problem(problems, str(error), "options", name)
    return axes


def option_fault(key: Key | None, name: str, spec: AgentSpec, of: Game) -> str:
    """Why a kind's option is not tuned; empty if it can be."""
    names = tunable_options(kind_of(spec))
    others = f"these can be: {listed(names)}" if names else "none of its options can be"
    if key is None:
        weight = of.has("features") and name in of.features and kind_of(spec).option(WEIGHTS)
        unknown, _ = unknown_key_message(name, [each.name for each in kind_of(spec).options])
        return f"{name} is a weight: tune it in [tune.weights]" if weight else unknown
    if name == WEIGHTS:
        return "weights have a table of their own, [tune.weights]"
    if why := refusal(key):
        return f"{name} is not tuned: {why}; {others}"
    if needs_node_limit(kind_of(spec), key):
        return f"{name} is not tuned: more of it is always better, and slower; {others}"
    if name in AT_EQUAL_NODES and "nodes" not in spec.options:
        return (
            f"{name} is tuned at equal nodes only, else more of it is always better: "
            "give the agent nodes as well"
        )
    return ""


def option_axis(key: Key, value: object, seed: object) -> Axis:
    """The axis of one option of a kind; a ValueError says why there is none."""
    if key.type == "bool" and not isinstance(value, dict):
        value = {"choices": value}
    written = parse_range(key.name, value)
    each_value = written.choices or written.range
    for each in each_value:
        whole = int(each) if key.type == "int" and float(each).is_integer() else each
        for _, message in key.faults(whole):
            raise ValueError(message)
    if seed is None:
        raise ValueError(f"{key.name}: give the agent a value of its own, where the search begins")
    whole_numbers = written._replace(integer=written.integer or key.type == "int")
    return axis_of(key.name, (key.name,), whole_numbers, seed)


def table_axes(name: str, table: object, spec: AgentSpec, problems: Problems) -> Iterator[Axis]:
    """An axis for each entry of a bot's own table, such as the arguments of its class."""
    if not isinstance(table, Mapping):
        message = f"{name} is a table: write {name} = {{ ... }}, got {format_value(table)}"
        report_tune_problem(problems, message, "options", name)
        return
    own = spec.options.get(name, {})
    for inner, value in table.items():
        whole = f"{name}.{inner}"
        try:
            if inner not in own:
                has = listed(list(own)) if own else "nothing"
                raise ValueError(
                    f"{whole}: the search begins at the agent's own value, and its {name} table "
                    f"has {has}; add {inner} there"
                )
            written = parse_range(whole, value)
            written = written._replace(integer=written.integer or whole_numbers(value, own[inner]))
            yield axis_of(whole, (name, inner), written, own[inner])
        except ValueError as error:
            report_tune_problem(problems, str(error), "options", name)


def whole_numbers(value: object, seed: object) -> bool:
    """Whether the ends of a range and the agent's own value are all written as whole numbers.

    Nothing else says what a program takes, and many would stop at 1.5.
    """
    ends = value.get("range", ()) if isinstance(value, Mapping) else value
    return isinstance(ends, Sequence) and all(type(each) is int for each in (*ends, seed))


def axis_of(name: str, path: tuple[str, ...], written: RangeSpec, seed: object) -> Axis:
    """The axis of a range or of choices, in which the seed value must lie."""
    if written.phases != 1:
        raise ValueError(f"{name} has no phases: only weights of features have")
    if written.choices:
        if not any(type(seed) is type(each) and seed == each for each in written.choices):
            raise ValueError(
                f"{name} is {format_value(seed)} in the agent, which is none of its choices"
            )
        return Axis(name, 0.0, len(written.choices) - 1.0, choices=written.choices, path=path)
    if isinstance(seed, bool) or not isinstance(seed, int | float):
        bare = (
            f"{seed} without quotes there, or "
            if isinstance(seed, str) and is_number_text(seed)
            else ""
        )
        raise ValueError(
            f"{name} is {format_value(seed)} in the agent: write {bare}{{ choices = [...] }}"
        )
    if fault := range_fault(name, written, (float(seed),)):
        raise ValueError(fault)
    low, high = written.range
    return Axis(name, low, high, written.log, written.integer, path=path)


def is_number_text(text: str) -> bool:
    """Whether a text is a number as files hold it."""
    return re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", text, re.ASCII) is not None


def partly_tuned_tables(axes: Sequence[Axis], spec: AgentSpec) -> dict[str, Mapping[str, object]]:
    """The whole tables of the agent of which a part is tuned."""
    names = {axis.place[0] for axis in axes if len(axis.place) == 2 and axis.place[0] != WEIGHTS}
    return {name: spec.options[name] for name in sorted(names)}


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
    if has_weights(spec) and not plays_by_learned_tables(spec, of):
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
        report_tune_problem(problems, no_range_message(spec), "weights")
    for name in sorted({axis.name for axis in axes if [a.name for a in axes].count(axis.name) > 1}):
        report_tune_problem(
            problems, f"{name} is a weight and an option: tune one of them", "options", name
        )
    return Space(tuple(axes), fixed, partly_tuned_tables(axes, spec)), seeds


def no_range_message(spec: AgentSpec) -> str:
    """What is missing where nothing is tuned."""
    if has_weights(spec):
        return "no weight has a range, as in weights = { pot = [0.5, 5.0] }"
    names = listed(tunable_options(kind_of(spec)))
    return f"no option has a range: write [tune.options]; these can be tuned: {names}"


def fixed_weights(table: TuneTable, weights: Weights) -> dict[str, tuple[float, ...]]:
    """The weights that stay: the agent's own, and those that are written as a number."""
    numbers = {name: float(value) for name, value in table.weights.items() if is_number(value)}
    fixed = {name: values for name, values in weights.items() if name not in table.weights}
    return fixed | {name: (number,) for name, number in numbers.items()}


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
    found: Value = option_values(kind_of(spec).options, spec, of)[axis.place[0]]
    return found


def read_axes(name: str, value: object, start: StartWeights, problems: Problems) -> Iterator[Axis]:
    """The range of one weight, one for each phase; none if it is a number, or wrong."""
    if start.names is not None and name not in start.names:
        known = f"there are {listed(start.names)}"
        message = f"unknown weight {quote(name)} ({known}){did_you_mean(name, start.names)}"
        if name in start.options:
            message = f"{name} is no weight but an option: tune it in [tune.options]"
        report_tune_problem(problems, message, "weights", name)
        return
    if is_number(value):
        return
    try:
        ranged = parse_range(name, value, or_number=True)
        if fault := weight_fault(name, ranged, start):
            raise ValueError(fault)
    except ValueError as error:
        report_tune_problem(problems, str(error), "weights", name)
        return
    low, high = ranged.range
    plain = Axis(name, low, high, ranged.log, ranged.integer)
    several = (
        plain._replace(name=f"{name}.{phase}", path=(WEIGHTS, name))
        for phase in range(1, ranged.phases + 1)
    )
    yield from [plain] if ranged.phases == 1 else several


def weight_fault(name: str, ranged: RangeSpec, start: StartWeights) -> str:
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
        return f"{name} must lie within ±{LARGEST:g}, got {format_value(ranged.range)}"
    return range_fault(name, ranged, seeds)
