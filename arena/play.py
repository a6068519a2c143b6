"""Play in the terminal: python -m arena.play "kalah(6,4)" --first human --second smart."""

import argparse
import random
import sys
from collections.abc import Callable
from typing import NoReturn

from agents import AGENTS, AgentFailure, AgentSpec, SpecError, build, kind_of
from agents.human import Dialogue, HumanAgent, Quit, level_of
from agents.search_options import LIMITS
from agents.search_options import limits as search_limits
from arena.showing.terminal_game import Player, Sitting
from games import Game, game
from games.names import quoted
from games.terminal import DONE, FINDING, run, say, status_of

ASK = "ask"


def player_spec(text: str, asked: argparse.Namespace) -> AgentSpec:
    """A kind's name, or a user's file: a bot, or an evaluation if it is called `evaluate`."""
    limits = {name: getattr(asked, name) for name in LIMITS if getattr(asked, name) is not None}
    if text.endswith(".py:evaluate"):
        return AgentSpec("alphabeta", evaluate=text, **limits)
    if text.endswith(".py") or ".py:" in text:
        return AgentSpec("python", file=text)
    if text == "python":
        raise SpecError("write the file of your bot instead of python: path.py or path.py:name")
    kind = kind_of(text)
    return AgentSpec(text, {name: limits[name] for name in limits if kind.option(name)})


def names_of(kinds: tuple[str, str], asked: argparse.Namespace, dialogue: Dialogue) -> list[str]:
    """Names as given, as asked for from people at a terminal, or made from kinds."""
    if asked.names:
        return list(asked.names)
    names = [kind.removesuffix(":evaluate").rpartition("/")[2] for kind in kinds]
    if names[0] == names[1]:
        names = [f"{name} {place}" for place, name in enumerate(names, 1)]
    if dialogue.source.isatty():
        for place, kind in enumerate(kinds):
            if kind == "human":
                names[place] = dialogue.ask(f"Name of {names[place]}: ") or names[place]
    return names


def seated(of: Game, asked: argparse.Namespace, dialogue: Dialogue) -> tuple[Player, Player]:
    """The two players in the order in which they move."""
    kinds = "human" if asked.first == ASK else asked.first, asked.second
    specs = [player_spec(kind, asked) for kind in kinds]
    agents = [build(spec, of) for spec in specs]
    refuse_idle_limit(specs, asked)
    names = names_of(kinds, asked, dialogue)
    for place, spec in enumerate(specs):
        if spec.kind == "human":
            agents[place] = HumanAgent(spec, of, dialogue, names[place], draws=False)
    first, second = (Player(*both) for both in zip(names, agents, strict=True))
    if asked.first == ASK and second_begins(first.name, second.name, dialogue):
        return second, first
    return first, second


def refuse_idle_limit(specs: list[AgentSpec], asked: argparse.Namespace) -> None:
    """A limit that no player would keep is a mistake."""
    for name in LIMITS:
        if getattr(asked, name) is not None and not any(
            kind_of(spec).option(name) for spec in specs
        ):
            kinds = " and ".join(spec.kind for spec in specs)
            raise SpecError(f"--{name} is for agents that search; {kinds} do not")


def second_begins(first: str, second: str, dialogue: Dialogue) -> bool:
    """Ask who moves first until the answer is one of both."""
    while True:
        answer = dialogue.ask(f"Who moves first, {first} or {second}? ").lower()
        meant = [name for name in (first, second) if answer and name.lower().startswith(answer)]
        exact = [name for name in meant if name.lower() == answer] or meant
        if answer == "quit":
            raise Quit
        if len(exact) == 1:
            return exact[0] == second
        dialogue.say(f"{quoted(answer)} is neither: write {first} or {second}")


def asked_depth(dialogue: Dialogue) -> int:
    """Ask how far computers look ahead until the answer is a number."""
    while True:
        answer = dialogue.ask("How many moves shall the computer look ahead? ")
        if answer.lower() == "quit":
            raise Quit
        if depth := level_of(answer):
            return depth
        dialogue.say(f"{quoted(answer)} is not a number from 1 to 100")


# ------------------------------------------------------------ the command line


def refuse(message: str) -> NoReturn:
    """End with one line about what is wrong with the command."""
    print(f"arena.play: {message}", file=sys.stderr)
    sys.exit(2)


def depth_or_ask(text: str) -> int | str:
    """The value of --depth."""
    if text == ASK:
        return text
    if not text.lstrip("-").isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number or ask, got {quoted(text)}")
    return int(text)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m arena.play",
        description="Play a game in the terminal: yourself, or two agents to watch. "
        "During the game: undo, level N, help, quit.",
        epilog=f"Agents: {', '.join(kind for kind in AGENTS if kind != 'python')}, "
        "path.py[:name] for your own bot, path.py:evaluate for alpha-beta with your evaluation.",
    )
    parser.error = refuse  # type: ignore[method-assign]  # one line, without the usage
    parser.add_argument("game", help='such as "kalah(6,4)", owari, "othello-adjacent(6)"')
    parser.add_argument("--first", default="human", help="who moves first; ask: you are asked")
    parser.add_argument("--second", default="smart", help="who moves second")
    limits = parser.add_mutually_exclusive_group()
    types: dict[str, Callable[[str], int | float | str]] = {
        "depth": depth_or_ask,
        "nodes": int,
        "seconds": float,
    }
    for option in search_limits():
        more = "; ask: you are asked" if option.name == "depth" else ""
        limits.add_argument(f"--{option.name}", type=types[option.name], help=option.words + more)
    parser.add_argument("--seed", type=int, help="of everything left to chance; else a new one")
    parser.add_argument("--names", nargs=2, metavar=("FIRST", "SECOND"), help="else you are asked")
    return parser


def sit_down(asked: argparse.Namespace, dialogue: Dialogue) -> Sitting:
    """The game as asked for, ready to begin."""
    of = game(asked.game)
    if asked.depth == ASK:
        asked.depth = asked_depth(dialogue)
    players = seated(of, asked, dialogue)
    seed = random.SystemRandom().getrandbits(32) if asked.seed is None else asked.seed
    for place, player in enumerate(players):
        player.agent.start(random.Random(f"{seed} {place}").getrandbits(63))
    dialogue.say(f"{of.name}: {players[0].name} against {players[1].name}, seed {seed}")
    return Sitting(of, players, dialogue, dialogue.source.isatty(), asked.seconds)


def accept_anything(*streams: object) -> None:
    """A byte that is no letter becomes a strange answer, not the end of the game."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):  # not what a test or an editor puts in its place
            stream.reconfigure(errors="backslashreplace")


def main(words: list[str] | None = None, dialogue: Dialogue | None = None) -> int:
    """Run the command; 2 when it cannot begin, 1 when a bot fails."""
    asked = arguments().parse_args(words)
    accept_anything(sys.stdin, sys.stdout)
    with_person = dialogue or Dialogue()
    return status_of("arena.play", lambda: played(asked, with_person))


def played(asked: argparse.Namespace, dialogue: Dialogue) -> int:
    """Play the game; the exit status."""
    try:
        sitting = sit_down(asked, dialogue)
    except Quit:
        return DONE
    failure = None
    try:
        sitting.play()
    except AgentFailure as error:
        failure = error
    if sitting.moves:
        dialogue.say(sitting.command())
    if failure:
        say(f"arena.play: {failure}")
    return FINDING if failure else DONE


if __name__ == "__main__":
    run(main)
