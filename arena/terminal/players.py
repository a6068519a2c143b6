"""Set up a game at the terminal from the command line."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents.core import AgentSpec, GameFollower, HostSettings, SpecError
from agents.create import create_agent
from agents.kinds.human import Dialogue, HumanAgent, Quit, parse_level
from agents.registry import kind_of
from agents.sandbox.sandbox import Sandbox
from agents.spec import spec_from_text
from arena.storage.versions import resolve_version
from arena.terminal.human_game import HumanGame, MoveValues, Player
from games import Game, Position
from games.base.errors import printable
from games.base.text import GameError, join_names, quote

ASK = "ask"


@dataclass(frozen=True, slots=True)
class GameSetup:
    """Two players as the command line names them, and the limits of agents."""

    first: str  # a kind or a user's file; ASK: a person, asked which player moves first
    second: str
    limits: Mapping[str, float | str]  # options of agents that search; a depth may be ASK
    names: Sequence[str] = ()  # empty: people enter theirs, other names come from the kinds
    seed: int | None = None  # None: a new one
    sandbox: Sandbox = field(default_factory=Sandbox)
    start: str | None = None  # a position in one line; None: the start of the game
    hints: bool = False  # show people the values of moves
    side: str | None = None  # the first mover's side of the board; None: the usual one

    @property
    def kinds(self) -> tuple[str, str]:
        """Return the kinds of both players."""
        return "human" if self.first == ASK else self.first, self.second


def make_terminal_game(game: Game, setup: GameSetup, dialogue: Dialogue) -> HumanGame:
    """Return the game, ready to start; raise Quit if a person quits."""
    start = first_position(game, setup)
    limits = dict(setup.limits)
    if limits.get("depth") == ASK:
        limits["depth"] = ask_depth(dialogue)
    players = make_players(game, setup, limits, dialogue)
    seed = random.SystemRandom().getrandbits(32) if setup.seed is None else setup.seed
    for place, player in enumerate(players):
        player.agent.start(random.Random(f"{seed} {place}").getrandbits(63))
    dialogue.say(f"{game.name}: {players[0].name} against {players[1].name}, seed {seed}")
    if start is not None:
        reject_followers(players)
    seconds = float(limits["seconds"]) if "seconds" in limits else None
    hints = MoveValues(game) if setup.hints else None
    at_terminal = dialogue.source.isatty()
    return HumanGame(game, players, dialogue, at_terminal, seconds, seed, start, hints)


def first_position(game: Game, setup: GameSetup) -> Position | None:
    """Return the position to start from; None for the start of the game."""
    start = None if setup.start is None else parse_start(game, setup.start)
    if setup.side is None:
        return start
    sides = game.notation.sides
    named = {side.lower(): place for place, side in enumerate(sides)}
    if setup.side.lower() not in named:
        raise GameError(f"--side must be one of {join_names(sides)}, got {quote(setup.side)}")
    usual = game.start() if start is None else start
    if named[setup.side.lower()] == usual.side:
        return start
    turned = usual._replace(swapped=not usual.swapped)
    if game.text(turned) == game.text(usual):
        raise GameError(
            f"in {game.name} {sides[usual.side]} moves first here by the rules: leave out --side"
        )
    return turned


def parse_start(game: Game, text: str) -> Position:
    """Return the position to start from; raise a GameError if the game is over there."""
    position = game.parse(text)
    if game.over(position):
        raise GameError(f"{game.name}: the game is over in {quote(game.text(position))}")
    return position


def reject_followers(players: Sequence[Player]) -> None:
    """Refuse agents that follow the game from its first move."""
    for player in players:
        if isinstance(player.agent, GameFollower):
            raise SpecError(f"{player.name} follows the game move by move: it cannot start later")


def make_players(
    game: Game, setup: GameSetup, limits: Mapping[str, float | str], dialogue: Dialogue
) -> tuple[Player, Player]:
    """Return the two players, the first mover first."""
    specs = [spec_from_text(kind, limits, resolve_version) for kind in setup.kinds]
    agents = [create_agent(spec, game, HostSettings(setup.sandbox)) for spec in specs]
    reject_unused_limits(specs, limits)
    names = player_names(setup, dialogue)
    for place, spec in enumerate(specs):
        if spec.kind == "human":
            agents[place] = HumanAgent(spec, game, dialogue, names[place], draws=False)
    first, second = (Player(*both) for both in zip(names, agents, strict=True))
    if setup.first == ASK and second_begins(first.name, second.name, dialogue):
        return second, first
    return first, second


def reject_unused_limits(specs: Sequence[AgentSpec], limits: Mapping[str, float | str]) -> None:
    """Refuse a limit that no agent has."""
    for name in limits:
        if not any(kind_of(spec).option(name) for spec in specs):
            kinds = " and ".join(spec.kind for spec in specs)
            raise SpecError(f"--{name} is for agents that search; {kinds} do not")


def player_names(setup: GameSetup, dialogue: Dialogue) -> list[str]:
    """Return the names from the command line, or from people, or made from the kinds."""
    if setup.names:
        return list(setup.names)
    kinds = setup.kinds
    names = [printable(kind.removesuffix(":evaluate").rpartition("/")[2]) for kind in kinds]
    if names[0] == names[1]:
        names = [f"{name} {place}" for place, name in enumerate(names, 1)]
    if dialogue.source.isatty():
        for place, kind in enumerate(kinds):
            if kind == "human":
                names[place] = dialogue.ask(f"Name of {names[place]}: ") or names[place]
    return names


def second_begins(first: str, second: str, dialogue: Dialogue) -> bool:
    """Ask until the answer names one of the two; return whether the second moves first."""
    while True:
        answer = dialogue.ask(f"Who moves first, {first} or {second}? ").lower()
        meant = [name for name in (first, second) if answer and name.lower().startswith(answer)]
        exact = [name for name in meant if name.lower() == answer] or meant
        if answer == "quit":
            raise Quit
        if len(exact) == 1:
            return exact[0] == second
        dialogue.say(f"{quote(answer)} is neither: write {first} or {second}")


def ask_depth(dialogue: Dialogue) -> int:
    """Ask for the search depth until the answer is a number."""
    while True:
        answer = dialogue.ask("How many moves should the computer look ahead? ")
        if answer.lower() == "quit":
            raise Quit
        if depth := parse_level(answer):
            return depth
        dialogue.say(f"{quote(answer)} is not a number from 1 to 100")
