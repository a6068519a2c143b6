"""Weights of features: files, defaults, declarations, ProbCut errors."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agents.core import SpecError, Weights
from agents.evaluation.learned_weights import FEATURES, SUFFIX, other_game, read_learned
from agents.user_files import split_reference
from games import Game
from games.base.files import parsed_toml, read_limited
from games.base.text import did_you_mean, format_value, listed, quote

# Whatever may be in such a file: no Python, nothing at all, or far too much.
UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    MemoryError,
)
MOST_PHASES = 8
LARGEST = 100_000.0


def declared_weights(reference: str) -> Weights | None:
    """The weights that the file of `path.py:evaluate` declares; None if they are no literals."""
    try:
        body = ast.parse(read_limited(split_reference(reference, "evaluate")[0])).body
        for node in body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "WEIGHTS":
                declared = ast.literal_eval(node.value)
                return {str(name): (float(value),) for name, value in declared.items()}
    except UNREADABLE:
        pass  # it is reported when the agent is built
    return None


def read_weights(path: Path, of: Game | None = None) -> Mapping[str, object] | str:
    """The `[weights]` table of a TOML file, unchecked; of learned tables their whole path.

    `of` is the game, if it is known: feature weights learned from another one are refused.
    """
    if path.suffix == SUFFIX:
        read = read_learned(path)
        if read.kind != FEATURES:
            return str(path.absolute())
        if of is not None and read.game.partition("(")[0] != of.name.partition("(")[0]:
            raise other_game(path, read, of)
        return read.by_feature()
    try:
        tables = parsed_toml(read_limited(path).decode())
    except OSError as error:
        raise SpecError(f"{path}: weights file cannot be read: {error.strerror}") from None
    except ValueError as error:  # no TOML, no text, or too much of it
        raise SpecError(f"{path}: not valid TOML: {error}") from None
    weights = tables.get("weights", tables)
    if not isinstance(weights, dict):
        raise SpecError(f"{path}: [weights] must be a table of names and numbers")
    if not weights:
        raise SpecError(f"{path}: there are no weights in this file")
    return weights


def checked_weights(table: Mapping[str, object], known: Sequence[str]) -> Weights:
    """Every weight as one number a phase; a SpecError names the first bad one."""
    weights: dict[str, tuple[float, ...]] = {}
    for name, value in table.items():
        if name not in known:
            names = f"it has {listed(known)}" if known else "it has none"
            raise SpecError(
                f"this agent has no weight {quote(name)} ({names}){did_you_mean(name, known)}"
            )
        values = value if isinstance(value, list | tuple) else (value,)
        if not 1 <= len(values) <= MOST_PHASES:
            raise SpecError(f"weight {name} must have 1 to {MOST_PHASES} phases, got {len(values)}")
        for number in values:
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise SpecError(f"weight {name} must be a number, got {format_value(number)}")
            if not abs(number) <= LARGEST:
                raise SpecError(
                    f"weight {name} must lie within ±{LARGEST:g}, got {format_value(number)}"
                )
        weights[name] = tuple(float(number) for number in values)
    return weights


def classroom_weights(of: Game) -> Weights:
    """The weights of the classroom; 1 for every feature if the pack names none."""
    classroom = of.defaults.classroom if of.has("defaults") else {}
    features = of.features if of.has("features") else ()
    return checked_weights(classroom or dict.fromkeys(features, 1.0), features)


def smart_weights(of: Game) -> Weights:
    """The best known weights, of the features that this game has."""
    weights = of.defaults.weights if of.has("defaults") else {}
    return checked_weights({k: v for k, v in weights.items() if k in of.features}, of.features)


def best_weights(of: Game) -> Weights | str:
    """The file of weights that were learned for this game, else the best weights of features."""
    learned = of.defaults.learned.get(of.name) if of.has("defaults") else None
    return smart_weights(of) if learned is None else str(learned)


def endgame_from(of: Game) -> int | None:
    """How many beans or empties are left when the endgame is solved; None if it never is."""
    return of.defaults.endgame if of.has("defaults") else None


class ShallowError(NamedTuple):
    """A search to `depth` less one to `shallow`: its mean and standard deviation, in points."""

    depth: int
    shallow: int
    shift: float
    error: float


def shallow_errors(of: Game) -> tuple[ShallowError, ...]:
    """The errors that were measured with the shipped weights of this game; none if none were."""
    measured = of.defaults.probcut.get(of.name) if of.has("defaults") else None
    return tuple(ShallowError(*row) for row in measured["searches"]) if measured else ()


def usual_probcut(of: Game) -> float:
    """How many errors beyond the bound were best in play; 0 where ProbCut was no gain."""
    measured = of.defaults.probcut.get(of.name) if of.has("defaults") else None
    return float(measured["errors"]) if measured else 0.0


def cuts(errors: Iterable[ShallowError], probcut: float) -> Iterator[tuple[int, int, float, float]]:
    """Depth, shallow depth, and the points that it must be above the window or below it."""
    for depth, shallow, shift, error in errors:
        yield depth, shallow, max(probcut * error - shift, 0.0), max(probcut * error + shift, 0.0)
