"""The faults of a spec, option by option: one line each that says what would be right."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agents.core import AgentSpec, Settings, SpecError
from agents.evaluations.declared_weights import declared_weights
from agents.evaluations.learned_weights import learned_for, read_learned
from agents.evaluations.weight_files import checked_weights
from agents.kinds import Kind, settings
from agents.shallow_errors import shallow_errors
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
        else:
            yield from (((option.name,), message) for _, message in option.faults(value))
    yield from weight_faults(kind, spec.options, of)
    if fault := cut_fault(kind, spec, of):
        yield ("probcut",), fault


def normal(kind: Kind, spec: AgentSpec, of: Game | None) -> AgentSpec:
    """The one form of a spec without faults: what means the same is written the same.

    An option that changes no setting is left out, unless the game is not known.
    """
    for each in kind.options:
        value = spec.options.get(each.name)
        if value is None:
            continue
        if each.type == "float":
            spec = spec.changed(**{each.name: float(value)})
        elif each.type == "weights" and not isinstance(value, str):
            spec = spec.changed(**{each.name: checked_weights(value, list(value))})
        shorter = spec.changed(**{each.name: None})
        if of and settings(kind.options, shorter, of) == settings(kind.options, spec, of):
            spec = shorter
    return spec


def no_option(kind: str, name: str, names: Sequence[str]) -> str:
    """The line that says a kind has no such option, and which ones it has."""
    has = f"it has {listed(names)}" if names else "it has none"
    return f"{kind} has no option {name} ({has}){did_you_mean(name, names)}"


def weight_faults(kind: Kind, options: Settings, of: Game | None) -> Iterator[Fault]:
    """Everything wrong with weights, whether they are a table or a file of learned ones."""
    for name in (each.name for each in kind.options if each.type == "weights"):
        weights, known = options.get(name), weight_names(options, of)
        if isinstance(weights, str) and (fault := learned_fault(weights, options, of)):
            yield (name,), fault
        for weight, value in weights.items() if isinstance(weights, Mapping) else ():
            try:
                checked_weights({weight: value}, [weight] if known is None else known)
            except SpecError as error:
                yield (name, weight), str(error)


def learned_fault(path: str, options: Settings, of: Game | None) -> str | None:
    """Why an agent cannot play by a file of learned tables; None if it can."""
    if options.get("evaluate"):
        return f"{path}: these weights are for tables, an evaluation of your own has none"
    try:
        if of is None:
            read_learned(Path(path))
        else:
            learned_for(Path(path), of)
    except SpecError as error:
        return str(error)
    return None


def cut_fault(kind: Kind, spec: AgentSpec, of: Game | None) -> str | None:
    """Why there is no ProbCut: it rests on measured errors of searches with learned tables."""
    wanted = spec.options.get("probcut")
    if of is None or not isinstance(wanted, int | float) or not wanted:
        return None
    if not isinstance(settings(kind.options, spec, of)["weights"], str):
        return "probcut needs the weights of learned tables: for others no errors were measured"
    if shallow_errors(of):
        return None
    measured = listed(of.defaults.probcut) if of.has("defaults") else ""
    return (
        f"the errors of shallow searches were not measured for {of.name} "
        f"({f'they were for {measured}' if measured else 'they were for no game of its pack'})"
    )


def weight_names(options: Settings, of: Game | None) -> Sequence[str] | None:
    """The names that weights may have; None if only running the user's file could tell."""
    if evaluate := options.get("evaluate"):
        declared = declared_weights(evaluate)
        return None if declared is None else tuple(declared)
    return of.features if of else None
