"""The table of openings, and openings for a plan."""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.planning.openings.openings import Openings, OpeningsError, first_openings
from arena.planning.plan import OpeningsSpec
from games import Game
from games.base.schema import Key, KeyValues, Problem

# The name of a method of drawing openings -> its `OpeningMethod`.
OPENINGS: Mapping[str, str] = {
    "none": "arena.planning.openings.listed:NONE",
    "random": "arena.planning.openings.random:RANDOM",
    "enumerate": "arena.planning.openings.listed:ENUMERATE",
    "list": "arena.planning.openings.listed:LIST",
    "exact": "arena.planning.openings.exact:EXACT",
    "plies": "arena.planning.openings.random:SEVERAL_LENGTHS",
}
COMMON_KEYS = (
    Key(
        "balance",
        "float",
        "the largest value of an opening in a shallow search, for either side",
        low=0,
    ),
    Key("repeat", "bool", "play openings again if there are too few", False),
)


@dataclass(frozen=True, kw_only=True)
class OpeningMethod:
    """A method of drawing openings."""

    keys: Sequence[Key]  # the first one selects the method in a file
    examples: Sequence[str]
    more: str  # how a user gets more of them
    # Returns openings for this many pairs, or all there are: (game, spec, pairs, seed).
    openings: Callable[[Game, OpeningsSpec, int, int], Openings]
    # Yields values that are wrong or do not fit the game; None: the game is not known.
    problems: Callable[[OpeningsSpec, Game | None], Iterable[Problem]] = lambda _, __: ()
    # Returns the number of openings; None if it is known only after drawing them.
    count: Callable[[KeyValues], int | None] = lambda _: None
    name_suffices: bool = False  # whether a file may write the name alone


def opening_method(name: str) -> OpeningMethod:
    """Return the entry of `OPENINGS`."""
    module, _, attribute = OPENINGS[name].partition(":")
    method: OpeningMethod = getattr(importlib.import_module(module), attribute)
    return method


def make_openings(game: Game, spec: OpeningsSpec, pairs: int, seed: int) -> Openings:
    """Return openings for `pairs` pairs; OpeningsError gives their number if there are too few."""
    openings = opening_method(spec.method).openings(game, spec, pairs, seed)
    if len(openings) == 0:
        raise OpeningsError(f"no opening is left to play: {advice_for_more(spec)}")
    if len(openings) < pairs and not spec.repeat:
        raise OpeningsError(
            f"pairs must be at most {len(openings)}, the distinct openings of {game.name} with "
            f"{openings_text(spec)}, got {pairs}; {advice_for_more(spec)}"
        )
    return first_openings(openings, pairs)


def openings_text(spec: OpeningsSpec) -> str:
    """Return the openings as an experiment file writes them."""
    name, value = next(iter(spec.values.items()), (spec.method, ""))
    text = name if name in ("none", "list") else f"{name} = {value}"
    if spec.method == "plies":
        text = f"random_plies = {list(value)}"
    return text if spec.balance is None else f"{text}, balance = {spec.balance:g}"


def advice_for_more(spec: OpeningsSpec) -> str:
    """Return what a user can do about too few openings."""
    balance = "" if spec.balance is None else ", a wider balance"
    return (
        f"set fewer pairs, {opening_method(spec.method).more}{balance}, or repeat = true "
        "if an agent varies its play"
    )
