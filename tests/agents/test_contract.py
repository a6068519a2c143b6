"""The contract of agents, run for every kind in every game that it plays."""

import json
import math
import pickle
import subprocess
import sys
from functools import cache

import pytest

from agents.core import GameOver, Limit
from agents.protocols import PROTOCOLS
from agents.registry import AGENTS, build, kind_of, randomness_reason
from games import game
from tests.agents.helpers import (
    GAMES,
    OF_EVERY_FAMILY,
    ROOT,
    agent_of,
    few,
    is_wide,
    kinds_and_games,
    pass_positions,
    play_moves,
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
# Options that make random choices.
WITH_CHANCE = {"epsilon": 0.6, "random_ties": True}


def slow_if_long(pairs: list[tuple[str, str]]) -> list:
    """As `slow_if_wide`; whole games of `perfect` are slow except in the first family."""
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
    """Return one agent for many tests: earlier calls must not matter."""
    return agent_of(kind, game(name), **changes)


def some_positions(name: str) -> tuple:
    return spread(name, few(12, 4))


@every_kind_and_game
def test_choice_is_legal(kind, name):
    of = game(name)
    for position in some_positions(name):
        choice = agent(kind, name).choose(position)
        assert type(choice.move) is int
        assert choice.move in of.legal(position)


@every_kind_and_game
def test_choice_fields_are_consistent(kind, name):
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
def test_finished_game_raises_game_over(kind, name):
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
def test_forced_pass_is_played(kind, name):
    of = game(name)
    for position in pass_positions(name, 0 if "adjacent" in name else few(4, 1)):
        choice = agent(kind, name).choose(position)
        assert choice.move == of.pass_move
        assert choice.line[:1] in ((), (of.pass_move,))


@cache
def game_of(kind: str, name: str, seed: int) -> list[int]:
    return play_moves(agent_of(kind, game(name)), game(name), seed, few(40, 6))


@pytest.mark.parametrize(("kind", "name"), slow_if_long(kinds_and_games("human")))
def test_equal_seeds_give_equal_games(kind, name):
    of = game(name)
    fresh = game_of(kind, name, 7)
    used = agent_of(kind, of)
    play_moves(used, of, 8, few(12, 3))
    for position in spread(name, 3, seed=1):
        used.choose(position)
    assert play_moves(used, of, 7, few(40, 6)) == fresh


@pytest.mark.parametrize(("kind", "name"), slow_if_long(kinds_and_games("human")))
def test_random_choices_derive_from_seed(kind, name):
    of = game(name)
    known = kind_of(spec_of(kind))
    changes = {key: WITH_CHANCE[key] for key in WITH_CHANCE if known.option(key)}
    games = [play_moves(agent_of(kind, of, **changes), of, seed, few(16, 12)) for seed in (1, 1, 2)]
    assert games[0] == games[1]
    if randomness_reason(spec_of(kind, **changes)):
        assert games[0] != games[2]


@pytest.mark.parametrize(
    ("kind", "name"),
    slow_if_long(
        [pair for pair in kinds_and_games() if randomness_reason(spec_of(pair[0])) is None]
    ),
)
def test_deterministic_agent_ignores_seed(kind, name):
    of = game(name)
    first, second = (play_moves(agent(kind, name), of, seed, few(16, 6)) for seed in (1, 2))
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
def test_other_process_plays_equal_games(name):
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


def test_spec_is_picklable():
    for kind, name in kinds_and_games("human", games=OF_EVERY_FAMILY[:1]):
        spec = spec_of(kind)
        assert pickle.loads(pickle.dumps(spec)) == spec
        assert build(spec, game(name)).spec == spec


@every_search_and_game
def test_depth_limit_is_exact(kind, name):
    for depth in range(1, few(4, 2)):
        for position in spread(name, few(8, 2)):
            choice = agent(kind, name).choose(position, Limit(depth=depth))
            solved = choice.exact and (choice.depth < depth or spec_of(kind).options.get("endgame"))
            by_lot = spec_of(kind).options.get("epsilon") and choice.value is None
            assert choice.depth == depth or solved or by_lot


@every_search_and_game
def test_node_limit_overshoots_by_one_node_at_most(kind, name):
    of = game(name)
    most = max(len(of.legal(p)) for seed in range(4) for p in positions(name, seed))
    for nodes in (1, 2, 7, 50, 400)[: few(5, 3)]:
        for position in spread(name, few(12, 2)):
            choice = agent(kind, name).choose(position, Limit(nodes=nodes))
            # The limit may be checked twice at one node.
            assert choice.nodes <= nodes + most + 2


@every_search_and_game
def test_time_limit_stops_search(kind, name):
    choice = agent(kind, name).choose(game(name).start(), Limit(seconds=0.002, nodes=50_000_000))
    assert choice.nodes < 50_000_000
    assert not choice.exact


@every_search_and_game
def test_tiny_limits_give_legal_moves(kind, name):
    of = game(name)
    for limit in (Limit(nodes=1), Limit(seconds=0.001), Limit(nodes=1, seconds=0.001)):
        for position in some_positions(name)[:: 1 if limit.nodes else 6]:
            assert agent(kind, name).choose(position, limit).move in of.legal(position)


@every_search_and_game
def test_limit_of_one_move_does_not_persist(kind, name):
    position, fresh, asked = spread(name, 3)[1], agent_of(kind, game(name)), agent(kind, name)
    fresh.start(5)
    before = fresh.choose(position)
    asked.choose(position, Limit(nodes=1))
    asked.start(5)
    assert asked.choose(position) == before


def test_contract_covers_all_kinds_and_games():
    assert {kind for kind, _ in kinds_and_games()} >= set(AGENTS) - set(PROTOCOLS)
    assert {name for _, name in kinds_and_games()} == set(OF_EVERY_FAMILY)
