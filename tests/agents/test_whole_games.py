"""Games in one compiled call equal those of a plain loop."""

import random
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from agents.core import AgentSpec
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, is_external
from agents.search.compiled_agent import CompiledAgent
from agents.search.game_loop import LENGTH, MARGIN, NO_MOVE, NODES_SPENT, RESULTS
from games import Game, game
from tests.agents.helpers import (
    MOST_PLIES,
    OF_EVERY_FAMILY,
    VARIANTS,
    agent_of,
    few,
    slow_if_wide,
)

# Small enough for many pairs of kinds; one has swaps, the other passes.
SMALL = ("kalah-manchester(3,2)", "othello(4)")


class PlayedGame(NamedTuple):
    moves: tuple[int, ...]
    margin: int
    nodes: tuple[int, int]


def play_games(
    of: Game, first: CompiledAgent, second: CompiledAgent, openings: Sequence, seeds: Sequence
) -> list[PlayedGame]:
    rows = np.full((len(openings), max(map(len, openings))), NO_MOVE, np.int16)
    for row, opening in zip(rows, openings, strict=True):
        row[: len(opening)] = of.slots_of(np.array(opening, int))
    slots = np.full((len(openings), MOST_PLIES), NO_MOVE, np.int16)
    results = np.zeros((len(openings), RESULTS), np.int64)
    count = first.kernels.play_games(
        first.context, second.context, of.start().state, rows, np.array(seeds, np.uint64), slots,
        results,
    )  # fmt: skip
    assert count == len(openings)
    return [
        PlayedGame(
            tuple(of.moves_of(row[: result[LENGTH]]).tolist()),
            int(result[MARGIN]),
            (int(result[NODES_SPENT]), int(result[NODES_SPENT + 1])),
        )
        for row, result in zip(slots, results, strict=True)
    ]


@cache
def compiled_kinds(name: str) -> tuple[str, ...]:
    found = []
    for kind in (kind for kind in (*AGENTS, *VARIANTS) if kind not in PROTOCOLS):
        try:
            agent = agent_of(kind, game(name))
        except ValueError:  # does not play this game
            continue
        if isinstance(agent, CompiledAgent):
            found.append(kind)
    return tuple(found)


def openings_of(of: Game, number: int) -> list[list[int]]:
    dice, found = random.Random(of.name), []
    for length in range(number):
        position, moves = of.start(), []
        while len(moves) < length and not of.over(position):
            moves.append(dice.choice(of.legal(position)))
            position = of.play(position, moves[-1])
        found.append(moves)
    return found


def plain_game(of: Game, agents, opening: list[int], seeds: tuple[int, int]) -> PlayedGame:
    """Play a game through the interface of agents."""
    position, moves, nodes = of.start(), [], [0, 0]
    for agent, seed in zip(agents, seeds, strict=True):
        agent.start(seed)
    while not of.over(position):
        legal, mover = of.legal(position), of.mover(position)
        if len(moves) < len(opening):
            move = opening[len(moves)]
        elif legal == (of.pass_move,):
            move = of.pass_move
        else:
            choice = agents[mover].choose(position)
            move = choice.move
            nodes[mover] += choice.nodes
        moves.append(move)
        position = of.play(position, move)
    return PlayedGame(tuple(moves), of.margin(position), (nodes[0], nodes[1]))


def assert_same_games(name: str, first: str, second: str, number: int) -> list[PlayedGame]:
    of = game(name)
    agents = agent_of(first, of), agent_of(second, of)
    openings = openings_of(of, number)
    seeds = [(100 + place, 200 + place) for place in range(number)]
    expected = [plain_game(of, agents, *each) for each in zip(openings, seeds, strict=True)]
    assert play_games(of, *agents, openings, seeds) == expected
    return expected


@pytest.mark.parametrize("name", SMALL)
def test_loop_matches_plain_games_of_pairs(name):
    of, games = game(name), []
    kinds = compiled_kinds(name)
    for place, first in enumerate(kinds):
        # Each meets a third of them, as the first player and as the second.
        for second in kinds[place % 3 :: few(3, 5)]:
            games += assert_same_games(name, first, second, few(3, 2))
    special = of.swap_move if of.pass_move is None else of.pass_move
    assert any(special in played.moves for played in games)
    assert len(set(games)) > len(games) / 4


# The widest board takes a minute if it is interpreted.
@pytest.mark.parametrize("name", slow_if_wide(OF_EVERY_FAMILY[: few(len(OF_EVERY_FAMILY), -1)]))
@pytest.mark.parametrize("step", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_loop_matches_plain_games_in_every_family(name, step):
    kinds = compiled_kinds(name)
    for place, kind in enumerate(kinds[:: few(1, 6)]):
        assert_same_games(name, kind, kinds[(place + step) % len(kinds)], few(2, 1))


def test_all_built_in_kinds_are_compiled():
    left = {kind for kind in AGENTS if is_external(AgentSpec(kind))}
    left |= {"perfect", "mcts"}  # one asks the solver, one grows a tree, move by move
    assert set(compiled_kinds("kalah(6,4)")) == {*AGENTS, *VARIANTS} - left


@pytest.mark.parametrize("name", ["kalah(6,4)", "othello(6)"])
def test_games_do_not_depend_on_batch(name):
    of = game(name)
    agents = agent_of("alphabeta", of, epsilon=0.3, random_ties=True), agent_of("random", of)
    number = few(12, 3)
    openings = openings_of(of, number)
    seeds = [(place, place) for place in range(number)]
    together = play_games(of, *agents, openings, seeds)
    alone = [play_games(of, *agents, [o], [s])[0] for o, s in zip(openings, seeds, strict=True)]
    backwards = play_games(of, *agents, openings[::-1], seeds[::-1])
    assert together == alone == backwards[::-1]


def test_game_without_room_is_not_counted():
    of = game("owari(7,16)")
    first, second = agent_of("first", of), agent_of("last", of)
    slots, results = np.zeros((1, 8), np.int16), np.zeros((1, RESULTS), np.int64)
    opening, seeds = np.zeros((1, 0), np.int16), np.zeros((1, 2), np.uint64)
    start = of.start().state
    arguments = first.context, second.context, start, opening, seeds, slots, results
    assert first.kernels.play_games(*arguments) == 0
