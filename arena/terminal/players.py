"""Set up the two players."""

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
from arena.terminal.human_game import Hints, HumanGame, Player
from games import Game, Position
from games.base.errors import printable
from games.base.text import GameError, listed, quote
from games.core import words_of

ASK = "ask"


@dataclass(frozen=True, slots=True)
class GameSetup:
    """Two players as the command line names them, with their limits."""

    first: str  # a kind or a user's file; ASK: a person, who says which of both moves first
    second: str
    limits: Mapping[str, float | str]  # of agents that search, by option; a depth may be ASK
    names: Sequence[str] = ()  # empty: made from the kinds, people at a terminal are asked
    seed: int | None = None  # None: a new one
    wall: Sandbox = field(default_factory=Sandbox)
    start: str | None = None  # a position in one line; None: that of the game
    hints: bool = False  # whether people see what moves are worth
    side: str | None = None  # of the board, of whoever moves first; None: as the game has it

    @property
    def kinds(self) -> tuple[str, str]:
        """The kinds of both, as they are built."""
        return "human" if self.first == ASK else self.first, self.second


def terminal_game(of: Game, invited: GameSetup, dialogue: Dialogue) -> HumanGame:
    """The game between both, ready to begin; Quit if a person quits."""
    start = first_position(of, invited)
    limits = dict(invited.limits)
    if limits.get("depth") == ASK:
        limits["depth"] = chosen_depth(dialogue)
    players = make_players(of, invited, limits, dialogue)
    seed = random.SystemRandom().getrandbits(32) if invited.seed is None else invited.seed
    for place, player in enumerate(players):
        player.agent.start(random.Random(f"{seed} {place}").getrandbits(63))
    dialogue.say(f"{of.name}: {players[0].name} against {players[1].name}, seed {seed}")
    if start is not None:
        reject_followers(players)
    seconds = float(limits["seconds"]) if "seconds" in limits else None
    hints = Hints(of) if invited.hints else None
    at_terminal = dialogue.source.isatty()
    return HumanGame(of, players, dialogue, at_terminal, seconds, seed, start, hints)


def first_position(of: Game, invited: GameSetup) -> Position | None:
    """The position to begin from; None for that of the game."""
    start = None if invited.start is None else parse_start(of, invited.start)
    if invited.side is None:
        return start
    sides = words_of(of).sides
    named = {side.lower(): place for place, side in enumerate(sides)}
    if invited.side.lower() not in named:
        raise GameError(f"--side must be one of {listed(sides)}, got {quote(invited.side)}")
    usual = of.start() if start is None else start
    if named[invited.side.lower()] == usual.side:
        return start
    turned = usual._replace(swapped=not usual.swapped)
    if of.text(turned) == of.text(usual):
        raise GameError(
            f"in {of.name} {sides[usual.side]} begins here by the rules: leave out --side"
        )
    return turned


def parse_start(of: Game, text: str) -> Position:
    """The position that a game is to begin from; a UserError if it is over there."""
    position = of.parse(text)
    if of.over(position):
        raise GameError(f"{of.name}: the game is over in {quote(of.text(position))}")
    return position


def reject_followers(players: Sequence[Player]) -> None:
    """Refuse players who are told every move from the start: they would not know the board."""
    for player in players:
        if isinstance(player.agent, GameFollower):
            raise SpecError(f"{player.name} follows the game move by move: it cannot begin later")


def make_players(
    of: Game, invited: GameSetup, limits: Mapping[str, float | str], dialogue: Dialogue
) -> tuple[Player, Player]:
    """The two players in the order in which they move."""
    specs = [spec_from_text(kind, limits, resolve_version) for kind in invited.kinds]
    agents = [create_agent(spec, of, HostSettings(invited.wall)) for spec in specs]
    refuse_idle_limit(specs, limits)
    names = player_names(invited, dialogue)
    for place, spec in enumerate(specs):
        if spec.kind == "human":
            agents[place] = HumanAgent(spec, of, dialogue, names[place], draws=False)
    first, second = (Player(*both) for both in zip(names, agents, strict=True))
    if invited.first == ASK and second_begins(first.name, second.name, dialogue):
        return second, first
    return first, second


def refuse_idle_limit(specs: Sequence[AgentSpec], limits: Mapping[str, float | str]) -> None:
    """Refuse a limit that applies to no player."""
    for name in limits:
        if not any(kind_of(spec).option(name) for spec in specs):
            kinds = " and ".join(spec.kind for spec in specs)
            raise SpecError(f"--{name} is for agents that search; {kinds} do not")


def player_names(invited: GameSetup, dialogue: Dialogue) -> list[str]:
    """The names of the invitation, or those that people type, or names made from the kinds."""
    if invited.names:
        return list(invited.names)
    kinds = invited.kinds
    names = [printable(kind.removesuffix(":evaluate").rpartition("/")[2]) for kind in kinds]
    if names[0] == names[1]:
        names = [f"{name} {place}" for place, name in enumerate(names, 1)]
    if dialogue.source.isatty():
        for place, kind in enumerate(kinds):
            if kind == "human":
                names[place] = dialogue.ask(f"Name of {names[place]}: ") or names[place]
    return names


def second_begins(first: str, second: str, dialogue: Dialogue) -> bool:
    """Ask who moves first until the answer names one of the two."""
    while True:
        answer = dialogue.ask(f"Who moves first, {first} or {second}? ").lower()
        meant = [name for name in (first, second) if answer and name.lower().startswith(answer)]
        exact = [name for name in meant if name.lower() == answer] or meant
        if answer == "quit":
            raise Quit
        if len(exact) == 1:
            return exact[0] == second
        dialogue.say(f"{quote(answer)} is neither: write {first} or {second}")


def chosen_depth(dialogue: Dialogue) -> int:
    """Ask how far computers look ahead until the answer is a number."""
    while True:
        answer = dialogue.ask("How many moves should the computer look ahead? ")
        if answer.lower() == "quit":
            raise Quit
        if depth := parse_level(answer):
            return depth
        dialogue.say(f"{quote(answer)} is not a number from 1 to 100")
