"""The options of `[tune]` read as axes: numbers and choices of a kind, or of a bot's own table."""

import re
from collections.abc import Iterator, Mapping, Sequence

from agents import AgentSpec, kind_of
from agents.bot_options import bot_options
from agents.kinds import Kind, settings
from agents.spec_faults import no_option
from arena.reading.problems import Problems
from arena.tuning.space import WEIGHTS, Axis
from arena.tuning.tune_table import say_of_tune
from arena.tuning.written_range import RangeTable, range_fault, written_range
from games import Game
from games.keys import Key
from games.names import listed, shown

NUMBERS = ("int", "float", "bool")
MORE_IS_BETTER = ("nodes", "seconds", "think_seconds", "table_bits", "database_beans")
# With more of these a search is better and slower, unless what it may look at is fixed.
AT_EQUAL_NODES = ("depth", "endgame")
SAME_MOVES = ("compile", "trusted", "new_process_per_game", "port")


def tunable(kind: Kind) -> list[str]:
    """The options of a kind that can be tuned, as `[tune.options]` names them."""
    return [
        f"{key.name}.NAME" if key.type == "table" else key.name
        for key in kind.options
        if key.name != WEIGHTS and not refusal(key) and not without_nodes(kind, key)
    ]


def without_nodes(kind: Kind, key: Key) -> bool:
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
            say_of_tune(problems, message, "options", name)
        elif key is not None and key.type == "table":
            axes += inner_axes(name, value, spec, problems)
        elif key is not None:
            seed = settings(kind.options, spec, of).get(name)
            try:
                axes.append(option_axis(key, value, seed))
            except ValueError as error:
                say_of_tune(problems, str(error), "options", name)
    return axes


def option_fault(key: Key | None, name: str, spec: AgentSpec, of: Game) -> str:
    """Why a kind's option is not tuned; empty if it can be."""
    names = tunable(kind_of(spec))
    others = f"these can be: {listed(names)}" if names else "none of its options can be"
    if key is None:
        weight = of.has("features") and name in of.features and kind_of(spec).option(WEIGHTS)
        unknown = no_option(spec.kind, name, [each.name for each in kind_of(spec).options])
        return f"{name} is a weight: tune it in [tune.weights]" if weight else unknown
    if name == WEIGHTS:
        return "weights have a table of their own, [tune.weights]"
    if why := refusal(key):
        return f"{name} is not tuned: {why}; {others}"
    if without_nodes(kind_of(spec), key):
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
    written = written_range(key.name, value)
    each_value = written.choices or written.range
    for each in each_value:
        whole = int(each) if key.type == "int" and float(each).is_integer() else each
        for _, message in key.faults(whole):
            raise ValueError(message)
    if seed is None:
        raise ValueError(f"{key.name}: give the agent a value of its own, where the search begins")
    whole_numbers = written._replace(integer=written.integer or key.type == "int")
    return axis_of(key.name, (key.name,), whole_numbers, seed)


def inner_axes(name: str, table: object, spec: AgentSpec, problems: Problems) -> Iterator[Axis]:
    """An axis for each entry of a bot's own table, such as the arguments of its class."""
    if not isinstance(table, Mapping):
        message = f"{name} is a table: write {name} = {{ ... }}, got {shown(table)}"
        say_of_tune(problems, message, "options", name)
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
            written = written_range(whole, value)
            written = written._replace(integer=written.integer or whole_numbers(value, own[inner]))
            yield axis_of(whole, (name, inner), written, own[inner])
        except ValueError as error:
            say_of_tune(problems, str(error), "options", name)


def whole_numbers(value: object, seed: object) -> bool:
    """Whether the ends of a range and the agent's own value are all written as whole numbers.

    Nothing else says what a program takes, and many would stop at 1.5.
    """
    ends = value.get("range", ()) if isinstance(value, Mapping) else value
    return isinstance(ends, Sequence) and all(type(each) is int for each in (*ends, seed))


def axis_of(name: str, path: tuple[str, ...], written: RangeTable, seed: object) -> Axis:
    """The axis of a range or of choices, in which the seed value must lie."""
    if written.phases != 1:
        raise ValueError(f"{name} has no phases: only weights of features have")
    if written.choices:
        if not any(type(seed) is type(each) and seed == each for each in written.choices):
            raise ValueError(f"{name} is {shown(seed)} in the agent, which is none of its choices")
        return Axis(name, 0.0, len(written.choices) - 1.0, choices=written.choices, path=path)
    if isinstance(seed, bool) or not isinstance(seed, int | float):
        bare = f"{seed} without quotes there, or " if isinstance(seed, str) and plain(seed) else ""
        raise ValueError(
            f"{name} is {shown(seed)} in the agent, no number: write {bare}{{ choices = [...] }}"
        )
    if fault := range_fault(name, written, (float(seed),)):
        raise ValueError(fault)
    low, high = written.range
    return Axis(name, low, high, written.log, written.integer, path=path)


def plain(text: str) -> bool:
    """Whether a text is a number as files hold it."""
    return re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", text, re.ASCII) is not None


def tables_of(axes: Sequence[Axis], spec: AgentSpec) -> dict[str, Mapping[str, object]]:
    """The whole tables of the agent of which a part is tuned."""
    names = {axis.place[0] for axis in axes if len(axis.place) == 2 and axis.place[0] != WEIGHTS}
    return {name: spec.options[name] for name in sorted(names)}
