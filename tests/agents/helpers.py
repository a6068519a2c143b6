"""Games of every family, positions, and one agent of each kind for tests."""

import io
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from agents.core import Agent, AgentSpec
from agents.kinds.human import Dialogue, HumanAgent
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, build, kind_of, kinds_for
from games import Game, Position, game
from games.base.schema import Key
from games.kernels.jit import INTERPRETED
from tests.games.table import each_preset, one_of_each

ROOT = Path(__file__).parents[2]
BOTS = ROOT / "tests" / "scripts"

OF_EVERY_FAMILY = tuple(one_of_each("family_name", "(6)", "(9,3)", "(10)"))
GAMES = tuple(dict.fromkeys([*each_preset("(6)"), *OF_EVERY_FAMILY, *one_of_each("pack")]))
MOST_PLIES = 2000

# A user's file for each option, by the name that the option loads.
SCRIPTS = {"choose": str(BOTS / "by_lot.py"), "evaluate": str(BOTS / "either_game.py")}
# What is fast enough here, for kinds that have it by default.
SHALLOW = {"depth": 2, "nodes": 300}


def required_options(kind: str) -> dict[str, object]:
    """Return the options that a kind needs to be built and to be fast."""
    options = kind_of(kind).options
    limits = {
        each.name: SHALLOW[each.name] for each in options if each.name in SHALLOW and each.default
    }
    return limits | {each.name: SCRIPTS[each.default_function] for each in options if each.required}


def variant(option: Key) -> object:
    """A value that makes another player of a kind; None if the option only limits or adjusts."""
    if option.type == "bool" and option.default is False:
        return True
    if option.type == "float" and option.high == 1:
        return 0.3
    if option.name == "endgame":
        return 8
    return (
        SCRIPTS.get(option.default_function)
        if option.type == "file" and not option.required
        else None
    )


# Each option that makes another player, in the last kind that has it: tried where the kind is.
VARIANTS = {
    f"{option.name} of {kind}": (kind, {**required_options(kind), option.name: variant(option)})
    for kind, option in {
        option.name: (kind, option)
        for kind in AGENTS
        if kind not in PROTOCOLS
        for option in kind_of(kind).options
    }.values()
    if variant(option) is not None
}


def few(compiled: int, interpreted: int) -> int:
    """How many to try: interpreted kernels are a thousand times slower."""
    return interpreted if INTERPRETED else compiled


def spec_of(kind: str, **changes) -> AgentSpec:
    """A spec from which the kind, or the variant, can be built."""
    kind, options = VARIANTS[kind] if kind in VARIANTS else (kind, required_options(kind))
    return AgentSpec(kind, **{**options, **changes})


def agent_of(kind: str, of: Game, **changes) -> Agent:
    """Return a new agent of the kind; a person answers with every move in turn."""
    if kind == "human":
        return HumanAgent(AgentSpec("human"), of, Dialogue(Patience(of), io.StringIO()))
    return build(spec_of(kind, **changes), of)


class Patience:
    """A person who answers with every existing move in turn."""

    def __init__(self, of: Game) -> None:
        texts = {of.move_text(p, move) for p in positions(of.name, 0) for move in of.legal(p)}
        self.texts, self.asked = sorted(texts), 0

    def readline(self) -> str:
        self.asked += 1
        return self.texts[self.asked % len(self.texts)] + "\n"

    def isatty(self) -> bool:
        return False


@cache
def playing(name: str) -> tuple[str, ...]:
    """The kinds that play the game; files of tests ask again and again while they are collected."""
    return kinds_for(game(name))


def kinds_and_games(*left_out: str, games=OF_EVERY_FAMILY) -> list[tuple[str, str]]:
    """Return every kind and variant with every game that it plays, except programs."""
    return [
        (kind, name)
        for kind in (*AGENTS, *VARIANTS)
        if kind not in (*left_out, *PROTOCOLS)
        for name in games
        if spec_of(kind).kind in playing(name)
    ]


def slow_if_wide(cases: Iterable[str | tuple[str, str]]) -> list:
    """Return cases as parameters; those with several words per side are slow.

    Compiling a search for wide states takes up to half a minute and tests the same code.
    """
    found = []
    for case in cases:
        values = (case,) if isinstance(case, str) else case
        found.append(pytest.param(*values, marks=[pytest.mark.slow] * is_wide(values[-1])))
    return found


def is_wide(name: str) -> bool:
    """Return whether a side has more than one word in the state of the game."""
    return isinstance(game(name).start().state[0], tuple)


@cache
def positions(name: str, seed: int) -> tuple[Position, ...]:
    """Every position of a random game, the finished one last."""
    of, dice = game(name), random.Random(f"{name} {seed}")
    found = [of.start()]
    while not of.over(found[-1]) and len(found) < MOST_PLIES:
        found.append(of.play(found[-1], dice.choice(of.legal(found[-1]))))
    return tuple(found)


@cache
def spread(name: str, number: int, seed: int = 0) -> tuple[Position, ...]:
    """Unfinished positions from the start to the end of random games, evenly spread."""
    found: list[Position] = []
    for one in range(4):
        found += positions(name, 100 * seed + one)[:-1]
    step = max(1, len(found) // number)
    return tuple(found[::step][:number])


@cache
def pass_positions(name: str, number: int) -> tuple[Position, ...]:
    """Positions whose only move is the pass."""
    of, found, seed = game(name), [], 0
    while of.pass_move is not None and len(found) < number and seed < 500:
        found += [p for p in positions(name, seed) if of.legal(p) == (of.pass_move,)]
        seed += 1
    return tuple(found[:number])


def play_moves(agent: Agent, of: Game, seed: int, plies: int = 40) -> list[int]:
    """The moves of an agent that plays both sides, up to a length."""
    agent.start(seed)
    position, moves = of.start(), []
    while not of.over(position) and len(moves) < plies:
        moves.append(agent.choose(position).move)
        position = of.play(position, moves[-1])
    return moves


IMPORTS = """from games.sowing.features import held, in_play, pot
from games.kernels.family import turned

"""
# Raises once a pot holds four beans.
LATER = """def evaluate(rules, position):
    return helper(pot(rules, position))

def helper(beans):
    if beans > 3:
        raise ValueError("more than I can bear")
    return 1.0 * beans
"""


def write_bot(directory: Path, text: str) -> Path:
    """Write a user's file with the usual imports."""
    path = directory / "mine.py"
    path.write_text(f"{IMPORTS}\n{text}\n")
    return path
