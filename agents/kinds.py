"""What a kind of agents may declare: its options, what it needs, what may differ or run in it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from agents.core import Agent, AgentSpec, Settings
from games import Game
from games.keys import Key, defaults

Reason = Callable[[Settings], str | None]  # from the options that a spec sets

# `varies` of a kind whose code is not ours and may do anything.
UNKNOWN = "what it answers is known only when it is asked"


def none(_: Settings) -> str | None:
    """What a kind answers that declares nothing: it never varies, and runs our code only."""
    return None


@dataclass(frozen=True, slots=True)
class Kind:
    """What stands behind the name of a kind; all but `build` may be left out."""

    build: Callable[[AgentSpec, Game], Agent]
    options: tuple[Key, ...] = ()
    needs: tuple[str, ...] = ()  # parts of a game's pack without which it cannot play
    varies: Reason = none  # why it may answer one position in two ways
    users_code: Reason = none  # what of a user's runs in it

    def option(self, name: str) -> Key | None:
        """The option of this name, if the kind has it."""
        return next((each for each in self.options if each.name == name), None)

    def missing(self, options: Collection[str], of: Game) -> list[str]:
        """The parts of the game's pack that agents with these options need and it does not have."""
        replaced = {part for each in self.options if each.name in options for part in each.replaces}
        return [part for part in self.needs if part not in replaced and not of.has(part)]


def settings(options: tuple[Key, ...], spec: AgentSpec, of: Game) -> Settings:
    """Every option with its value, the default for this game where the spec sets none."""
    usual = {
        name: default(of) if callable(default) else default
        for name, default in defaults(options).items()
    }
    return {**usual, **spec.options}
