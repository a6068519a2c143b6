"""Weights of features, as files hold them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.core import SpecError, Weights
from agents.evaluations.learned_weights import FEATURES, SUFFIX, other_game, read_learned
from games import Game
from games.limited_files import parsed_toml, read_bytes
from games.names import did_you_mean, listed, quoted, shown

MOST_PHASES = 8
LARGEST = 100_000.0


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
        tables = parsed_toml(read_bytes(path).decode())
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
                f"this agent has no weight {quoted(name)} ({names}){did_you_mean(name, known)}"
            )
        values = value if isinstance(value, list | tuple) else (value,)
        if not 1 <= len(values) <= MOST_PHASES:
            raise SpecError(f"weight {name} must have 1 to {MOST_PHASES} phases, got {len(values)}")
        for number in values:
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise SpecError(f"weight {name} must be a number, got {shown(number)}")
            if not abs(number) <= LARGEST:
                raise SpecError(f"weight {name} must lie within ±{LARGEST:g}, got {shown(number)}")
        weights[name] = tuple(float(number) for number in values)
    return weights
