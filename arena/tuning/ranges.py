"""The ranges of weights and options in a file, and what can be tuned."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from agents.core import AgentSpec, Weights
from agents.evaluation.weights import LARGEST, read_declared_weights
from agents.options import bot_options
from agents.registry import AGENTS, Kind, kind_of, option_values
from arena.config.toml_file import Problems
from arena.tuning.space import WEIGHTS, Axis, Space, Value
from arena.tuning.table import TuneTable, report_tune_problem
from games import Game
from games.base.schema import Key, KeyValues, default_values, table_problems, unknown_key_message
from games.base.text import did_you_mean, format_value, join_names, quote

MOST_PHASES = 8
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
# More of these is better and slower, unless the number of nodes is fixed.
AT_EQUAL_NODES = ("depth", "endgame")
SAME_MOVES = ("compile", "process")


def has_weights(spec: AgentSpec) -> bool:
    """Return whether the kind of an agent has weights."""
    return spec.kind in AGENTS and kind_of(spec).option("weights") is not None


def plays_by_learned_tables(spec: AgentSpec, game: Game) -> bool:
    """Return whether an agent uses learned tables in place of weights of features."""
    if spec.options.get("evaluate"):
        return False
    return isinstance(option_values(kind_of(spec).options, spec, game)["weights"], str)


class StartWeights(NamedTuple):
    """The weights of an agent before tuning and the names that weights may have (None: any)."""

    weights: Weights
    names: Sequence[str] | None
    single: bool  # whether there are no phases
    options: Sequence[str]  # the names of the agent's options


def start_weights(spec: AgentSpec, game: Game) -> StartWeights:
    """Return the weights of an agent before tuning."""
    keys = kind_of(spec).options
    names: Sequence[str] | None = game.features
    if evaluate := spec.options.get("evaluate"):
        declared = read_declared_weights(evaluate) or {}
        names = tuple(declared) or None
        weights = {**declared, **spec.options.get("weights", {})}
    else:
        weights = option_values(keys, spec, game)["weights"]
    return StartWeights(weights, names, bool(evaluate), [key.name for key in keys])


class RangeSpec(NamedTuple):
    """A range as written; or choices, and then no range."""

    range: tuple[float, ...]
    choices: tuple[Value, ...]
    log: bool
    integer: bool
    phases: int


def parse_range(name: str, value: object, or_number: bool = False) -> RangeSpec:
    """Return the range of a value; a ValueError describes the problem.

    `or_number` mentions in the message that a number is allowed as well.
    """
    table = value if isinstance(value, dict) else {"range": value}
    if value and isinstance(value, dict) and (fault := _table_fault(value)):
        raise ValueError(f"{name}: {fault}")
    ranged = _parse_range_table(table)
    if ranged is None:
        raise ValueError(
            f"{name} must be {'a number, ' if or_number else ''}a range like [0.5, 5.0], "
            f"{{ range = [0.5, 5.0], log = true }} or {{ choices = [1, 2, 4] }}, "
            f"got {format_value(value)}"
        )
    return ranged


def _table_fault(table: KeyValues) -> str:
    for _, message in table_problems(table, RANGE):
        return message
    if "choices" not in table:
        return "" if "range" in table else "range is missing, as in { range = [0.5, 5.0] }"
    if len(table) > 1:
        return f"choices stand alone, without {next(name for name in table if name != 'choices')}"
    return "" if are_choices(table["choices"]) else CHOICES


def _parse_range_table(table: KeyValues) -> RangeSpec | None:
    values = {**default_values(RANGE), **table}
    if "choices" in table:
        return RangeSpec((), tuple(values["choices"]), False, False, 1)
    if list(RANGE[0].problems(values["range"])):
        return None
    numbers = tuple(map(float, values["range"]))
    return RangeSpec(numbers, (), values["log"], values["integer"], values["phases"])


def are_choices(choices: object) -> bool:
    """Return whether a value is a list of different numbers or texts."""
    if not isinstance(choices, list | tuple) or not 2 <= len(choices) <= MOST_CHOICES:
        return False
    return all(map(is_value, choices)) and len(set(choices)) == len(choices)


def is_value(value: object) -> bool:
    """Return whether a value is text, true, false or a finite number."""
    return isinstance(value, str | bool) or is_number(value)


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a finite number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def range_fault(name: str, ranged: RangeSpec, seeds: Sequence[float]) -> str:
    """Return why a range cannot be used with the values before tuning; empty if it can."""
    if len(ranged.range) != 2:
        return f"{name} needs a lowest and a highest value, got {format_value(ranged.range)}"
    low, high = ranged.range
    room, whole = f"[{low:g}, {high:g}]", all(number.is_integer() for number in ranged.range)
    outside = [seed for seed in seeds if not low <= seed <= high]
    broken = [seed for seed in seeds if not float(seed).is_integer()]
    wrong = {
        f"{name} has an empty range: the lowest value comes first, got {room}": not low < high,
        f"{name} has a log range, which must start above 0, got {room}": ranged.log and low <= 0,
        f"{name} is a whole number, so its range must end in whole numbers, got {room}": (
            ranged.integer and not whole
        ),
        f"{name} leaves no room for the seed weight: it is {_first_number(outside)} in the agent, "
        f"outside {room}; widen the range, or give the agent other weights": low < high
        and bool(outside),
        f"{name} is a whole number, but the seed weight is {_first_number(broken)}": (
            ranged.integer and bool(broken)
        ),
    }
    return next((message for message, holds in wrong.items() if holds), "")


def _first_number(numbers: Sequence[float]) -> str:
    return f"{numbers[0]:g}" if numbers else ""


def tunable_options(kind: Kind) -> list[str]:
    """Return the options of a kind that can be tuned, as `[tune.options]` names them."""
    return [
        f"{key.name}.NAME" if key.type == "table" else key.name
        for key in kind.options
        if key.name != WEIGHTS and not untunable_reason(key) and not needs_node_limit(kind, key)
    ]


def needs_node_limit(kind: Kind, key: Key) -> bool:
    """Return whether more of an option is always better, as a kind has no limit in nodes."""
    return key.name in AT_EQUAL_NODES and (
        kind.option("nodes") is None or kind.host_bot is not None
    )


def untunable_reason(key: Key) -> str:
    """Return why no range of an option can be tuned; empty if one can."""
    if key.name in MORE_IS_BETTER:
        return "more of it is always better, and slower"
    if key.name in {each.name for each in bot_options()}:
        return "it says what a bot may use, not how it plays"
    if key.name in SAME_MOVES:
        return "it does not change any move"
    if key.type in NUMBERS or key.type == "table" or key.choices:
        return ""
    return f"it is {key.describe_allowed()}, which has no range"


def parse_options(
    table: Mapping[str, object], spec: AgentSpec, game: Game, problems: Problems
) -> list[Axis]:
    """Return the axes of all options with a range or choices, and report problems."""
    kind, axes = kind_of(spec), list[Axis]()
    for name, value in table.items():
        key = kind.option(name)
        if message := option_fault(key, name, spec, game):
            report_tune_problem(problems, message, "options", name)
        elif key is not None and key.type == "table":
            axes += table_axes(name, value, spec, problems)
        elif key is not None:
            seed = option_values(kind.options, spec, game).get(name)
            try:
                axes.append(option_axis(key, value, seed))
            except ValueError as error:
                report_tune_problem(problems, str(error), "options", name)
    return axes


def option_fault(key: Key | None, name: str, spec: AgentSpec, game: Game) -> str:
    """Return why an option of an agent cannot be tuned; empty if it can."""
    names = tunable_options(kind_of(spec))
    others = f"these can be: {join_names(names)}" if names else "none of its options can be"
    if key is None:
        weight = (
            game.has_part("features") and name in game.features and kind_of(spec).option(WEIGHTS)
        )
        unknown, _ = unknown_key_message(name, [each.name for each in kind_of(spec).options])
        return f"{name} is a weight: tune it in [tune.weights]" if weight else unknown
    if name == WEIGHTS:
        return "weights belong in [tune.weights]"
    if why := untunable_reason(key):
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
    """Return the axis of an option; a ValueError describes the problem."""
    if key.type == "bool" and not isinstance(value, dict):
        value = {"choices": value}
    written = parse_range(key.name, value)
    each_value = written.choices or written.range
    for each in each_value:
        whole = int(each) if key.type == "int" and float(each).is_integer() else each
        for _, message in key.problems(whole):
            raise ValueError(message)
    if seed is None:
        raise ValueError(f"{key.name}: give the agent a value, where the search begins")
    whole_numbers = written._replace(integer=written.integer or key.type == "int")
    return make_axis(key.name, (key.name,), whole_numbers, seed)


def table_axes(name: str, table: object, spec: AgentSpec, problems: Problems) -> Iterator[Axis]:
    """Yield an axis for each entry of a bot's table, such as the arguments of its class."""
    if not isinstance(table, Mapping):
        message = f"{name} is a table: write {name} = {{ ... }}, got {format_value(table)}"
        report_tune_problem(problems, message, "options", name)
        return
    own = spec.options.get(name, {})
    for inner, value in table.items():
        whole = f"{name}.{inner}"
        try:
            if inner not in own:
                has = join_names(list(own)) if own else "nothing"
                raise ValueError(
                    f"{whole}: the search begins at the agent's own value, and its {name} table "
                    f"has {has}; add {inner} there"
                )
            written = parse_range(whole, value)
            written = written._replace(
                integer=written.integer or are_whole_numbers(value, own[inner])
            )
            yield make_axis(whole, (name, inner), written, own[inner])
        except ValueError as error:
            report_tune_problem(problems, str(error), "options", name)


def are_whole_numbers(value: object, seed: object) -> bool:
    """Return whether both ends of a range and the agent's value are whole numbers.

    Only the spelling shows what a program accepts, and many fail at 1.5.
    """
    ends = value.get("range", ()) if isinstance(value, Mapping) else value
    return isinstance(ends, Sequence) and all(type(each) is int for each in (*ends, seed))


def make_axis(name: str, path: tuple[str, ...], written: RangeSpec, seed: object) -> Axis:
    """Return the axis of a range or of choices that contain the seed value."""
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
    """Return whether a text spells a number."""
    return re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", text, re.ASCII) is not None


def partly_tuned_tables(axes: Sequence[Axis], spec: AgentSpec) -> dict[str, Mapping[str, object]]:
    """Return the agent's tables of which only a part is tuned."""
    names = {axis.place[0] for axis in axes if len(axis.place) == 2 and axis.place[0] != WEIGHTS}
    return {name: spec.options[name] for name in sorted(names)}


def parse_space(
    table: TuneTable, spec: AgentSpec, game: Game, problems: Problems
) -> tuple[Space, dict[str, Value]]:
    """Return the space and the values before tuning, and report problems."""
    axes, fixed, seeds = list[Axis](), dict[str, tuple[float, ...]](), dict[str, Value]()
    before = len(problems.found)
    if has_weights(spec) and not plays_by_learned_tables(spec, game):
        start = start_weights(spec, game)
        for name, value in table.weights.items():
            axes += parse_weight_axes(name, value, start, problems)
        fixed = constant_weights(table, start.weights)
        seeds = {axis.name: seed_value(axis, axes, start.weights) for axis in axes}
    axes += (options := parse_options(table.options, spec, game, problems))
    seeds |= {axis.name: option_seed(axis, spec, game) for axis in options}
    if not axes and len(problems.found) == before:
        report_tune_problem(problems, no_range_message(spec), "weights")
    for name in sorted({axis.name for axis in axes if [a.name for a in axes].count(axis.name) > 1}):
        report_tune_problem(
            problems, f"{name} is a weight and an option: tune one of them", "options", name
        )
    return Space(tuple(axes), fixed, partly_tuned_tables(axes, spec)), seeds


def no_range_message(spec: AgentSpec) -> str:
    """Return the message that nothing is tuned."""
    if has_weights(spec):
        return "no weight has a range, as in weights = { pot = [0.5, 5.0] }"
    names = join_names(tunable_options(kind_of(spec)))
    return f"no option has a range: write [tune.options]; these can be tuned: {names}"


def constant_weights(table: TuneTable, weights: Weights) -> dict[str, tuple[float, ...]]:
    """Return the weights that are not tuned: those of the agent and those of the file."""
    numbers = {name: float(value) for name, value in table.weights.items() if is_number(value)}
    fixed = {name: values for name, values in weights.items() if name not in table.weights}
    return fixed | {name: (number,) for name, number in numbers.items()}


def seed_value(axis: Axis, axes: Sequence[Axis], weights: Weights) -> float:
    """Return the weight of an axis before tuning, in its phase; 0 if the agent has none."""
    phases = [each for each in axes if each.place == axis.place]
    values = weights.get(axis.place[1], (0.0,))
    return values[phases.index(axis) * len(values) // len(phases)]


def option_seed(axis: Axis, spec: AgentSpec, game: Game) -> Value:
    """Return the option of an axis before tuning."""
    value: Any = option_values(kind_of(spec).options, spec, game)
    for name in axis.place:
        value = value[name]
    found: Value = value
    return found


def parse_weight_axes(
    name: str, value: object, start: StartWeights, problems: Problems
) -> Iterator[Axis]:
    """Yield the axis of each phase of a weight; none if it is a number or wrong."""
    if start.names is not None and name not in start.names:
        known = f"there are {join_names(start.names)}"
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
    """Return why a weight cannot have a range; empty if it can."""
    seeds = start.weights.get(name, (0.0,))
    if ranged.choices:
        return f"{name} is a weight, which has a range: write [lowest, highest]"
    if ranged.phases > 1 and start.single:
        return f"{name} has no phases: your evaluation has one number for each weight"
    if ranged.phases % len(seeds):
        return (
            f"{name} has {len(seeds)} phases in the agent: write phases = {len(seeds)}, or a "
            f"multiple of it, got {ranged.phases}"
        )
    if max(map(abs, ranged.range), default=0.0) > LARGEST:
        return f"{name} must lie within ±{LARGEST:g}, got {format_value(ranged.range)}"
    return range_fault(name, ranged, seeds)
