"""What a kind of agents declares: its options, its needs, why it varies, whose code it runs."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from agents.core import Agent, AgentSpec, Settings
from games import Game
from games.keys import Key

Reason = Callable[[Settings], str | None]  # of the options that a spec sets

# Begins an agent of a spec for a game behind the wall, on `agents.wall.bot_terms.Terms`: they are
# above this module.
Behind = Callable[[AgentSpec, Game, Any], Agent]

# Why a kind varies whose code is not ours and may do anything.
UNKNOWN = "its answers are known only by asking it"


def none(_: Settings) -> str | None:
    """The answer of a kind that declares nothing: it never varies, it runs our code only."""
    return None


def no_refusal(_: Game) -> str | None:
    """The answer of a kind that plays every game whose pack has what it needs."""
    return None


def all_fit(_: Settings, __: Game) -> tuple[str, str] | None:
    """The answer of a kind whose options make sense in every game."""
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """What the name of a kind refers to; everything but `build` may be left out."""

    build: Callable[[AgentSpec, Game], Agent]
    options: tuple[Key, ...] = ()
    needs: tuple[str, ...] = ()  # parts of a game's pack without which it cannot play
    varies: Reason = none  # why it may answer the same position differently
    users_code: Reason = none  # which code of a user's runs in it
    behind: Behind | None = None  # None: its `build` runs behind the wall where a user's code does
    refusal: Callable[[Game], str | None] = no_refusal  # why it does not play a game
    # An option that has no effect in a game, with the reason.
    unfit: Callable[[Settings, Game], tuple[str, str] | None] = all_fit

    def option(self, name: str) -> Key | None:
        """The option of this name, if the kind has it."""
        return next((each for each in self.options if each.name == name), None)

    @property
    def required(self) -> tuple[str, ...]:
        """The options without which there is no agent."""
        return tuple(each.name for each in self.options if each.required)

    def missing(self, options: Collection[str], of: Game) -> list[str]:
        """The parts that an agent with these options needs and the game's pack does not have."""
        replaced = {part for each in self.options if each.name in options for part in each.replaces}
        return [part for part in self.needs if part not in replaced and not of.has(part)]


def settings(options: tuple[Key, ...], spec: AgentSpec, of: Game) -> Settings:
    """The value of every option: the spec's, else the default where it holds, else None."""
    values = dict(spec.options)
    for each in options:
        if each.name not in values:
            holds = all(values.get(name) is None for name in each.beside)
            default = each.default if holds else None
            values[each.name] = default(of) if callable(default) else default
    return values
