"""Games in one compiled call are those of a plain loop: moves, margins, nodes, move by move."""

import random
from functools import cache

import pytest

from agents.core import AgentFailure, AgentSpec
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, build, is_external
from agents.search.compiled_agent import CompiledAgent
from games import Game, IllegalMove, game
from tests.agents.given import (
    LATER,
    OF_EVERY_FAMILY,
    VARIANTS,
    agent_of,
    few,
    slow_if_wide,
    spec_of,
    written,
)
from tests.agents.whole_games import SHORTEST_ROOM, PlayedGame, play_games

# Small enough for many pairs of kinds; one has swaps, the other passes.
SMALL = ("kalah-manchester(3,2)", "othello(4)")


@cache
def compiled_kinds(name: str) -> tuple[str, ...]:
    """The kinds and variants whose agents play inside the loop."""
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
    """Random openings of no, one, two, ... moves."""
    dice, found = random.Random(of.name), []
    for length in range(number):
        position, moves = of.start(), []
        while len(moves) < length and not of.over(position):
            moves.append(dice.choice(of.legal(position)))
            position = of.play(position, moves[-1])
        found.append(moves)
    return found


def plain_game(of: Game, agents, opening: list[int], seeds: tuple[int, int]) -> PlayedGame:
    """The game as everyone may play it, asking each agent in turn."""
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
    """Both ways give the same games."""
    of = game(name)
    agents = agent_of(first, of), agent_of(second, of)
    openings = openings_of(of, number)
    seeds = [(100 + place, 200 + place) for place in range(number)]
    expected = [plain_game(of, agents, *each) for each in zip(openings, seeds, strict=True)]
    assert play_games(of, *agents, openings, seeds) == expected
    return expected


@pytest.mark.parametrize("name", SMALL)
def test_pairs_of_kinds_play_the_same_games(name):
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
def test_every_kind_plays_the_same_games_in_every_family(name, step):
    kinds = compiled_kinds(name)
    for place, kind in enumerate(kinds[:: few(1, 6)]):
        assert_same_games(name, kind, kinds[(place + step) % len(kinds)], few(2, 1))


def test_all_policies_and_searches_are_compiled():
    left = {kind for kind in AGENTS if is_external(AgentSpec(kind))}
    left.add("perfect")  # it asks the solver, move by move
    assert set(compiled_kinds("kalah(6,4)")) == {*AGENTS, *VARIANTS} - left


# ------------------------------------------------------------------ many at once


@pytest.mark.parametrize("name", ["kalah(6,4)", "othello(6)"])
def test_games_do_not_depend_on_what_is_played_with_them(name):
    of = game(name)
    agents = agent_of("alphabeta", of, epsilon=0.3, random_ties=True), agent_of("random", of)
    number = few(12, 3)
    openings = openings_of(of, number)
    seeds = [(place, place) for place in range(number)]
    together = play_games(of, *agents, openings, seeds)
    alone = [play_games(of, *agents, [o], [s])[0] for o, s in zip(openings, seeds, strict=True)]
    backwards = play_games(of, *agents, openings[::-1], seeds[::-1])
    assert together == alone == backwards[::-1]


def test_a_game_that_is_long_gets_more_room():
    of = game("owari(7,16)")
    agents = build(spec_of("first"), of), build(spec_of("first"), of)
    (played,) = play_games(of, *agents, [[]], [(1, 2)])
    assert len(played.moves) > SHORTEST_ROOM
    assert played == plain_game(of, agents, [], (1, 2))


def test_no_games_are_no_games():
    of = game("kalah(6,4)")
    assert play_games(of, agent_of("random", of), agent_of("first", of), [], []) == []


# ------------------------------------------------------------------- what is wrong


def test_an_illegal_opening_is_refused():
    of = game("kalah(6,4)")
    with pytest.raises(IllegalMove, match="move 0 is not legal"):
        play_games(of, agent_of("random", of), agent_of("first", of), [[0, 0, 0]], [(1, 2)])


def test_one_agent_cannot_be_both_players():
    of = game("kalah(6,4)")
    agent = agent_of("random", of)
    with pytest.raises(ValueError, match="two agents"):
        play_games(of, agent, agent, [[]], [(1, 2)])


@pytest.mark.parametrize("seat", [0, 1])
def test_an_evaluation_that_raises_is_blamed_with_its_position(tmp_path, seat):
    of = game("kalah(6,4)")
    spec = spec_of("alphabeta", evaluate=str(written(tmp_path, LATER)))
    agents = [agent_of("random", of), agent_of("random", of)]
    agents[seat] = build(spec, of)
    seeds = [(place, place + 7) for place in range(5)]
    with pytest.raises(AgentFailure) as plainly:
        for each in seeds:
            plain_game(of, agents, [2, 5], each)
    with pytest.raises(AgentFailure) as failed:
        play_games(of, *agents, [[2, 5]] * 5, seeds)
    assert failed.value.kind == "raised"
    assert failed.value.position == plainly.value.position
    assert str(failed.value) == str(plainly.value)
