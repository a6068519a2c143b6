"""Values of all legal moves, against the naive searches and evaluations."""

import subprocess
import sys

import pytest

from agents.core import AgentSpec, HostSettings, Limit
from agents.create import create_agent
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from agents.search.context import UNIT
from agents.search.explanation import choice_rule, feature_terms, move_values, static_value
from games import game
from games.kernels.jit import INTERPRETED
from tests.agents.helpers import BOTS, OF_EVERY_FAMILY, ROOT, few, slow_if_wide, spread
from tests.agents.naive import search
from tests.agents.naive_scores import naive_score, weights_for, with_phases
from tests.agents.programs import sandbox

DEPTH = 3
compiled_only = pytest.mark.skipif(INTERPRETED, reason="a thousand times slower")
WITH_FEATURES = slow_if_wide(name for name in OF_EVERY_FAMILY if game(name).has_part("features"))


def by_plies(of, position, move, evaluate):
    return search.move_value(of, position, move, DEPTH, evaluate)


def by_turns(of, position, move, evaluate):
    player = of.mover(position)
    end, _ = search.end_of_turn(of, of.play(position, move), player, evaluate)
    return search.turn_value(of, end, DEPTH - 1, player, evaluate)


SEARCHES = {
    "minimax": (AgentSpec("minimax", depth=DEPTH), by_plies),
    "collapsed": (AgentSpec("minimax", depth=DEPTH, collapse_turns=True), by_turns),
    "alphabeta": (AgentSpec("alphabeta", depth=DEPTH), by_plies),
}


@pytest.mark.parametrize(
    ("name", "of_name"),
    [(name, "kalah(4,3)") for name in SEARCHES]
    + [(name, "othello(4)") for name in ("minimax", "alphabeta")],
)
def test_move_values_match_naive_search(name, of_name):
    of, (spec, naive) = game(of_name), SEARCHES[name]
    weights = weights_for(of)
    agent, evaluate = build(spec.replace(weights=weights), of), naive_score(of, weights)
    for position in spread(of_name, few(6, 1)):
        choice = agent.choose(position)
        moves = list(move_values(agent, of, position, choice))
        if len(moves) == 1:
            continue
        values = [naive(of, position, each.move, evaluate) for each in moves]
        assert [each.rank for each in moves] == values
        assert [each.move for each in moves] == search.in_board_order(of, position)
        # The choice is the first of the best, and every line begins with its move.
        assert choice.move == moves[values.index(max(values))].move
        assert all(each.line[0] == each.move for each in moves)
        equal = f"of {values.count(max(values))} equal moves the first on the board"
        assert (equal in choice_rule(agent, moves, choice)) == (values.count(max(values)) > 1)


def test_budget_evaluates_all_moves_to_reached_depth():
    of = game("kalah(6,4)")
    smart, deep = build(AgentSpec("smart", nodes=2000), of), AgentSpec("smart")
    choice = smart.choose(of.start())
    moves = list(move_values(smart, of, of.start(), choice))
    same = build(deep.replace(nodes=None, depth=choice.depth), of)
    for each in moves:
        assert each.depth == choice.depth
    assert max(each.value for each in moves) == same.choose(of.start()).value == choice.value
    assert smart.choose(of.start()) == choice  # looking on has changed nothing


def assert_the_rows_agree_with_the_choice(agent, of, position, limit=None):
    choice = agent.choose(position, limit)
    moves = list(move_values(agent, of, position, choice))
    if len(moves) == 1:
        return
    assert {each.depth for each in moves} == {max(1, choice.depth)}
    rule = choice_rule(agent, moves, choice)
    if not choice.depth:
        assert "when its limit ended its first search" in rule
        return
    ranked = [each for each in moves if each.rank is not None]
    best = max(ranked, key=lambda each: each.rank)
    assert (best.move, best.value) == (choice.move, choice.value)
    assert all(each.value == best.value for each in moves if each.bound)
    own = agent.limit if isinstance(agent, CompiledAgent) else Limit(depth=6)
    if (limit or own).depth is not None:  # only a budget leaves moves that it did not value
        assert not any(each.bound for each in moves)
    equal = [each for each in ranked if each.rank == best.rank]
    assert (f"of {len(equal)} equal moves the first on the board" in rule) == (len(equal) > 1)
    assert rule.startswith("the highest value")


SEARCHED_GAMES = ("kalah(6,4)", "owari(6,4)", "othello(8)")
LIMITED = {
    "depth": AgentSpec("alphabeta", depth=4),
    "nodes": AgentSpec("alphabeta", nodes=300),
    "few nodes": AgentSpec("minimax", depth=3, nodes=20),
    "nodes of plain minimax": AgentSpec("minimax", nodes=500),
    "seconds": AgentSpec("smart", seconds=0.01),
    "smart": AgentSpec("smart"),  # of Othello it cuts by shallow searches
    "classic": AgentSpec("smart_classic", nodes=2000),
}


@compiled_only
@pytest.mark.parametrize("of_name", SEARCHED_GAMES)
@pytest.mark.parametrize("name", LIMITED)
def test_values_agree_with_choice(name, of_name):
    of = game(of_name)
    agent = build(LIMITED[name], of)
    for position in spread(of_name, 60):
        assert_the_rows_agree_with_the_choice(agent, of, position)


LIMITS = (None, Limit(depth=2), Limit(nodes=500), Limit(nodes=3), Limit(seconds=0.005))


@compiled_only
@pytest.mark.parametrize("of_name", SEARCHED_GAMES)
def test_values_of_user_evaluation_agree_with_choice(of_name):
    of = game(of_name)
    spec = AgentSpec("alphabeta", evaluate=str(BOTS / "either_game.py"))
    agent = create_agent(spec, of, HostSettings(sandbox(), 60.0, search_info=True))
    agent.start(0)
    for limit in LIMITS:
        for position in spread(of_name, 6):
            assert_the_rows_agree_with_the_choice(agent, of, position, limit)
    agent.close()


@compiled_only
def test_sandboxed_search_has_equal_values():
    of = game("kalah(6,4)")
    own = str(BOTS / "either_game.py")
    spec = AgentSpec("minimax", evaluate=own, depth=3, collapse_turns=True)
    far, near = (
        create_agent(spec, of, HostSettings(sandbox(), 60.0, search_info=True)),
        build(spec, of),
    )
    far.start(0)
    for position in spread("kalah(6,4)", 8):
        answers = [(agent, agent.choose(position)) for agent in (far, near)]
        views = [list(move_values(agent, of, position, choice)) for agent, choice in answers]
        assert answers[0][1] == answers[1][1]
        assert views[0] == views[1]
    far.close()


@compiled_only
def test_perfect_agent_shows_proof_or_search():
    of = game("kalah(4,3)")
    for nodes, proved in ((2_000_000, True), (20, False)):
        agent = build(AgentSpec("perfect", nodes=nodes), of)
        position = of.start()
        choice = agent.choose(position)
        moves = list(move_values(agent, of, position, choice))
        values = {each.move: each.value for each in moves if each.value is not None}
        assert values[choice.move] == choice.value == max(values.values())
        assert ("proved margin" in choice_rule(agent, moves, choice)) == proved
        assert ("proves nothing" in choice_rule(agent, moves, choice)) != proved


@pytest.mark.parametrize("name", WITH_FEATURES)
def test_terms_add_up_to_static_value(name):
    of = game(name)
    weights = with_phases(weights_for(of))
    agent, evaluate = build(AgentSpec("alphabeta", depth=1, weights=weights), of), naive_score
    assert isinstance(agent, CompiledAgent)
    for position in spread(name, few(4, 1)):
        total = sum(term.worth for term in feature_terms(agent, position))
        assert total == pytest.approx(static_value(agent, position), abs=0.6 / UNIT)
        assert static_value(agent, position) * UNIT == evaluate(of, weights)(position)


@pytest.mark.slow  # its features are compiled each time
def test_terms_of_user_game_add_up():
    of = game(f"{ROOT}/experiments/games/connect4.py:connect4(5,4)")
    agent, position = build(AgentSpec("alphabeta", depth=1), of), of.replay("1 2 3")[-1]
    found = list(feature_terms(agent, position))
    assert [term.name for term in found] == list(of.all_features)
    assert sum(term.worth for term in found) == static_value(agent, position)


def test_values_of_greedy():
    of = game("othello(8)")
    greedy = build(AgentSpec("greedy"), of)
    choice = greedy.choose(of.start())
    moves = list(move_values(greedy, of, of.start(), choice))
    assert [(each.own, each.theirs, each.value) for each in moves] == [(2, -1, 4)] * 4
    assert choice_rule(greedy, moves, choice).endswith("of 4 equal moves the first on the board")
    of = game("kalah(6,4)")
    greedy = build(AgentSpec("greedy", random_ties=True), of)
    moves = list(move_values(greedy, of, of.start(), greedy.choose(of.start())))
    assert [(each.own, each.value) for each in moves][:4] == [(0, 0), (0, 0), (1, 3), (1, 2)]


def test_rules_of_only_move_and_of_policy():
    of = game("kalah(1,3)")
    agent = build(AgentSpec("first"), of)
    moves = list(move_values(agent, of, of.start(), agent.choose(of.start())))
    assert choice_rule(agent, moves, agent.choose(of.start())) == "the only legal move"
    of = game("kalah(6,4)")
    last = build(AgentSpec("last"), of)
    moves = list(move_values(last, of, of.start(), last.choose(of.start())))
    assert all(each.value is None for each in moves)
    assert choice_rule(last, moves, last.choose(of.start())) == "the last move on the board"


@compiled_only
def test_second_process_explains_from_cache():
    code = (
        "from numba.core import event\n"
        "from agents.core import AgentSpec\n"
        "from agents.registry import build\n"
        "from agents.search.explanation import feature_terms\n"
        "from games import game\n"
        "class Listener(event.Listener):\n"
        "    def on_start(self, found): print(found.data['dispatcher'])\n"
        "    def on_end(self, found): pass\n"
        "event.register('numba:compile', Listener())\n"
        "of = game('kalah(4,3)')\n"
        "agent = build(AgentSpec('alphabeta', {'depth': 1, 'weights': {'pot': 1.0}}), of)\n"
        "list(feature_terms(agent, of.start()))\n"
    )
    command = [sys.executable, "-c", code]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == ""
