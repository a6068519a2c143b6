"""The faults of a spec, option by option: one line each that says what would be right."""

from collections.abc import Iterator, Sequence

from agents.core import AgentSpec, Settings, SpecError
from agents.evaluations.declared_weights import declared_weights
from agents.evaluations.weight_files import checked_weights
from agents.kinds import Kind
from games import Game
from games.names import did_you_mean, listed

Fault = tuple[tuple[str, ...], str]  # the option, or the option and the weight; the line


def faults(kind: Kind, spec: AgentSpec, of: Game | None) -> Iterator[Fault]:
    """Everything wrong with the options of a spec; `of` is None if the game is not known."""
    for name in spec.options:
        if kind.option(name) is None:
            yield (name,), no_option(spec.kind, name, [each.name for each in kind.options])
    for option in kind.options:
        value = spec.options.get(option.name)
        if value is None:
            if option.required:
                yield (option.name,), f"{option.name} is missing{option.example}"
        elif messages := [message for _, message in option.faults(value)]:
            yield from (((option.name,), message) for message in messages)
        elif option.type == "weights":
            yield from _weight_faults(option.name, spec.options, of)


def normal(kind: Kind, spec: AgentSpec) -> AgentSpec:
    """The one form of a spec without faults: what means the same is written the same."""
    changed: dict[str, object] = {}
    for option in kind.options:
        value = spec.options.get(option.name)
        if value is not None and option.type == "float":
            changed[option.name] = float(value)
        elif value is not None and option.type == "weights":
            changed[option.name] = checked_weights(value, list(value))
    return spec.changed(**changed)


def no_option(kind: str, name: str, names: Sequence[str]) -> str:
    """The line that says a kind has no such option, and which ones it has."""
    has = f"it has {listed(names)}" if names else "it has none"
    return f"{kind} has no option {name} ({has}){did_you_mean(name, names)}"


def _weight_faults(name: str, options: Settings, of: Game | None) -> Iterator[Fault]:
    known = weight_names(options, of)
    for weight, value in options[name].items():
        try:
            checked_weights({weight: value}, [weight] if known is None else known)
        except SpecError as error:
            yield (name, weight), str(error)


def weight_names(options: Settings, of: Game | None) -> Sequence[str] | None:
    """The names that weights may have; None if only running the user's file could tell."""
    if evaluate := options.get("evaluate"):
        declared = declared_weights(evaluate)
        return None if declared is None else tuple(declared)
    return of.features if of else None
