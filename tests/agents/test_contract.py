"""What every agent promises: one contract, run for every kind in every game that it plays."""

import json
import math
import pickle
import subprocess
import sys
from functools import cache

import pytest

from agents.core import GameOver, Limit
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, build, kind_of, varies
from games import game
from tests.agents.given import (
    GAMES,
    OF_EVERY_FAMILY,
    ROOT,
    agent_of,
    few,
    forced_passes,
    is_wide,
    kinds_and_games,
    played,
    positions,
    slow_if_wide,
    spec_of,
    spread,
)

# A rule that another game of the family has is a number at run time: the search is the same.
every_kind_and_game = pytest.mark.parametrize(("kind", "name"), slow_if_wide(kinds_and_games()))
every_search_and_game = pytest.mark.parametrize(
    ("kind", "name"),
    slow_if_wide(pair for pair in kinds_and_games() if kind_of(spec_of(pair[0])).option("depth")),
)
NARROW = [name for name in OF_EVERY_FAMILY if not is_wide(name)]
# What draws lots, beside the kinds that always do.
WITH_CHANCE = {"epsilon": 0.6, "random_ties": True}


def slow_if_long(pairs: list[tuple[str, str]]) -> list:
    """As `slow_if_wide`; whole games of what thinks longest are slow but in the first family."""
    first = OF_EVERY_FAMILY[0]
    cases = zip(pairs, slow_if_wide(pairs), strict=True)
    return [
        pytest.param(*pair, marks=pytest.mark.slow)
        if pair[0] == "perfect" and pair[1] != first
        else case
        for pair, case in cases
    ]


@cache
def agent(kind: str, name: str, **changes):
    """One agent for many tests: what ran before must not matter."""
    return agent_of(kind, game(name), **changes)


def some_positions(name: str) -> tuple:
    """From the start to the end of random games."""
    return spread(name, few(12, 4))


# ------------------------------------------------------------------------ moves


@every_kind_and_game
def test_a_choice_is_a_legal_move(kind, name):
    of = game(name)
    for position in some_positions(name):
        choice = agent(kind, name).choose(position)
        assert type(choice.move) is int
        assert choice.move in of.legal(position)


@every_kind_and_game
def test_a_choice_says_what_it_rests_on(kind, name):
    of = game(name)
    most = max(sum(of.raw_score(p)) for p in positions(name, 0))
    for position in some_positions(name):
        choice = agent(kind, name).choose(position)
        assert choice.nodes >= 0
        assert choice.depth >= 0
        if choice.line:
            assert choice.line[0] == choice.move
            of.write(choice.line, position)  # raises if a move of it is illegal
        if choice.value is not None:
            assert math.isfinite(choice.value)
        if choice.exact:
            assert choice.value == int(choice.value)
            assert abs(choice.value) <= max(most, 100)


@every_kind_and_game
def test_there_is_no_move_in_a_finished_game(kind, name):
    of = game(name)
    last = positions(name, 0)[-1]
    with pytest.raises(GameOver) as refused:
        agent(kind, name).choose(last)
    assert of.text(last) in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("kind", "name"),
    slow_if_wide(pair for pair in kinds_and_games(games=GAMES) if "othello" in pair[1]),
)
def test_a_forced_pass_is_answered_by_the_pass(kind, name):
    of = game(name)
    for position in forced_passes(name, 0 if "adjacent" in name else few(4, 1)):
        choice = agent(kind, name).choose(position)
        assert choice.move == of.pass_move
        assert choice.line[:1] in ((), (of.pass_move,))


# ---------------------------------------------------------------- the same again


@cache
def game_of(kind: str, name: str, seed: int) -> list[int]:
    """The moves of a fresh agent."""
    return played(agent_of(kind, game(name)), game(name), seed, few(40, 6))


@pytest.mark.parametrize(("kind", "name"), slow_if_long(kinds_and_games("human")))
def test_the_same_seed_is_the_same_game_whatever_ran_before(kind, name):
    of = game(name)
    fresh = game_of(kind, name, 7)
    used = agent_of(kind, of)
    played(used, of, 8, few(12, 3))
    for position in spread(name, 3, seed=1):
        used.choose(position)
    assert played(used, of, 7, few(40, 6)) == fresh


@pytest.mark.parametrize(("kind", "name"), slow_if_long(kinds_and_games("human")))
def test_what_is_left_to_chance_comes_from_the_seed(kind, name):
    of = game(name)
    known = kind_of(spec_of(kind))
    changes = {key: WITH_CHANCE[key] for key in WITH_CHANCE if known.option(key)}
    games = [played(agent_of(kind, of, **changes), of, seed, few(16, 12)) for seed in (1, 1, 2)]
    assert games[0] == games[1]
    if varies(spec_of(kind, **changes)):
        assert games[0] != games[2]


@pytest.mark.parametrize(
    ("kind", "name"),
    slow_if_long([pair for pair in kinds_and_games() if varies(spec_of(pair[0])) is None]),
)
def test_an_agent_that_declares_no_chance_plays_the_same_for_every_seed(kind, name):
    of = game(name)
    first, second = (played(agent(kind, name), of, seed, few(16, 6)) for seed in (1, 2))
    assert first == second


ELSEWHERE = """
import json, pickle, sys
from agents.registry import build
from games import game

def moves_of(spec, of, plies):
    agent, position, moves = build(spec, of), of.start(), []
    agent.start(7)
    while not of.over(position) and len(moves) < plies:
        moves.append(agent.choose(position).move)
        position = of.play(position, moves[-1])
    return moves

name, plies, specs = pickle.loads(bytes.fromhex(sys.argv[1]))
print(json.dumps([moves_of(spec, game(name), plies) for spec in specs]))
"""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * bool(i)) for i, n in enumerate(NARROW)]
)
def test_another_process_plays_the_same_games(name):
    kinds = [kind for kind, _ in kinds_and_games("human", games=(name,))]
    asked = pickle.dumps((name, few(40, 6), list(map(spec_of, kinds))))
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, asked.hex()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [game_of(kind, name, 7) for kind in kinds]


def test_an_agent_is_pickled_by_its_spec():
    for kind, name in kinds_and_games("human", games=OF_EVERY_FAMILY[:1]):
        spec = spec_of(kind)
        assert pickle.loads(pickle.dumps(spec)) == spec
        assert build(spec, game(name)).spec == spec


# ----------------------------------------------------------------------- limits


@every_search_and_game
def test_a_depth_is_kept_exactly(kind, name):
    for depth in range(1, few(4, 2)):
        for position in spread(name, few(8, 2)):
            choice = agent(kind, name).choose(position, Limit(depth=depth))
            solved = choice.exact and (choice.depth < depth or spec_of(kind).options.get("endgame"))
            by_lot = spec_of(kind).options.get("epsilon") and choice.value is None
            assert choice.depth == depth or solved or by_lot


@every_search_and_game
def test_a_node_budget_is_passed_by_no_more_than_the_children_of_one_node(kind, name):
    of = game(name)
    most = max(len(of.legal(p)) for seed in range(4) for p in positions(name, seed))
    for nodes in (1, 2, 7, 50, 400)[: few(5, 3)]:
        for position in spread(name, few(12, 2)):
            choice = agent(kind, name).choose(position, Limit(nodes=nodes))
            # The node at which the limit is noticed may be asked twice.
            assert choice.nodes <= nodes + most + 2


@every_search_and_game
def test_a_time_ends_a_search_that_nothing_else_ends(kind, name):
    choice = agent(kind, name).choose(game(name).start(), Limit(seconds=0.002, nodes=50_000_000))
    assert choice.nodes < 50_000_000
    assert not choice.exact


@every_search_and_game
def test_there_is_a_move_at_any_limit_however_small(kind, name):
    of = game(name)
    for limit in (Limit(nodes=1), Limit(seconds=0.001), Limit(nodes=1, seconds=0.001)):
        for position in some_positions(name)[:: 1 if limit.nodes else 6]:
            assert agent(kind, name).choose(position, limit).move in of.legal(position)


@every_search_and_game
def test_a_limit_of_one_move_is_forgotten_after_it(kind, name):
    position, fresh, asked = spread(name, 3)[1], agent_of(kind, game(name)), agent(kind, name)
    fresh.start(5)
    before = fresh.choose(position)
    asked.choose(position, Limit(nodes=1))
    asked.start(5)
    assert asked.choose(position) == before


def test_every_kind_is_tried_in_every_game_it_plays():
    assert {kind for kind, _ in kinds_and_games()} >= set(AGENTS) - set(PROTOCOLS)
    assert {name for _, name in kinds_and_games()} == set(OF_EVERY_FAMILY)
