"""ProbCut is off by default, cuts by its rule, and changes no exact value."""

import numpy as np
import pytest

from agents.core import AgentSpec, Limit
from agents.evaluation.weights import ShallowError, cut_margins, default_weights, shallow_errors
from agents.kinds.alphabeta import OPTIONS, create_alphabeta
from agents.registry import build
from agents.search.context import (
    CHECK_AT,
    CUT_WORDS,
    CUTS,
    DEADLINE,
    DEEPEST_CUT,
    NODES,
    SALT,
    SHALLOWEST_CUT,
    SOLVE,
    STOPPED,
    UNLIMITED,
    set_cuts,
)
from games import game
from tests.agents.helpers import few, positions, spread
from tests.agents.naive.search import cut_value
from tests.agents.naive_scores import naive_score, weights_for

NAMES = ("kalah(4,3)", pytest.param("othello(6)", marks=pytest.mark.slow))
LEFT = {"kalah(4,3)": 8, "othello(6)": 6}  # where the game is solved
every_game = pytest.mark.parametrize("name", NAMES)
# No margin: every shallow search that passes the bound cuts.
BOLD = [(depth, 1 + depth % 2, 0.0, 0.0) for depth in range(SHALLOWEST_CUT, DEEPEST_CUT + 1)]


def searcher(name, **options):
    return build(AgentSpec("alphabeta", weights=weights_for(game(name)), **options), game(name))


def search_value(agent, position, depth, alpha):
    """Return the result of a null-window search above `alpha`."""
    ctx = agent.context
    ctx[NODES] = ctx[STOPPED] = 0
    ctx[CHECK_AT] = ctx[DEADLINE] = UNLIMITED
    ctx[SALT] += 2  # no table of earlier questions
    window = np.int64(alpha), np.int64(alpha + 1)
    return agent.kernels.value_within(ctx, position.state, np.int64(depth), np.int64(0), *window)


def words(agent):
    return agent.context[CUTS : CUTS + CUT_WORDS * (DEEPEST_CUT - SHALLOWEST_CUT + 1)]


@every_game
def test_cuts_match_naive_rule(name):
    agent, of = searcher(name, depth=3), game(name)
    evaluate, changed = naive_score(of, weights_for(of)), 0
    set_cuts(agent.context, [(3, 1, 0.5, 0.25)])
    for place, position in enumerate(spread(name, few(5, 2))):
        value = cut_value(of, position, 3, evaluate, None, 0)
        for alpha in (value - 2000, value - 400, value - 1, value, value + 300, value + 1500):
            expected = cut_value(of, position, 3, evaluate, (1, 500, 250), alpha)
            assert (search_value(agent, position, 3, alpha) > alpha) == (expected > alpha), place
            changed += (expected > alpha) != (value > alpha)
    assert changed or few(5, 2) == 2  # some answers are wrong: the price of ProbCut


@every_game
def test_exact_values_stay_exact(name):
    bold = searcher(name, nodes=5000, endgame=LEFT[name])
    plain = searcher(name, nodes=5000, endgame=LEFT[name])
    solver, early = searcher(name, nodes=10**9, endgame=256), 0
    set_cuts(bold.context, BOLD)
    for seed in range(few(6, 2)):
        for position in positions(name, seed)[:-1][-10 :: few(2, 4)]:
            choice, usual = bold.choose(position), plain.choose(position)
            solved = usual.depth == SOLVE
            if choice.exact:
                assert choice.value == solver.choose(position).value
            if usual.exact and solved:
                assert (choice.exact, choice.move) == (True, usual.move)
            early += choice.exact and not solved
    assert early or few(6, 2) == 2  # and some are exact before the game is solved on purpose


@every_game
def test_solving_ignores_cuts(name):
    plain, bold = searcher(name, depth=3), searcher(name, depth=3)
    set_cuts(bold.context, BOLD)
    position = positions(name, 3)[:-1][-8]
    found = [search_value(each, position, SOLVE, 0) for each in (plain, bold)]
    assert found[0] == found[1]
    assert plain.context[NODES] == bold.context[NODES]


def test_only_smart_with_tables_and_budget_cuts():
    of = game("othello")
    assert shallow_errors(of)
    tables = default_weights(of)
    assert not words(build(AgentSpec("alphabeta", nodes=10, weights=tables), of)).any()
    assert words(
        create_alphabeta(AgentSpec("alphabeta", nodes=10, weights=tables), of, OPTIONS, 1.0)
    ).any()
    smart = build(AgentSpec("smart", nodes=10), of)
    assert words(smart).any()
    # A depth is searched just as it is; the points of features are no discs.
    smart._set_limit(Limit(depth=1))
    assert not words(smart).any()
    assert not words(build(AgentSpec("smart", depth=4), of)).any()
    assert not words(build(AgentSpec("smart", weights={"disc": 1}), of)).any()


def test_margins_are_not_negative():
    (row,) = cut_margins([ShallowError(3, 1, shift=2.0, error=1.0)], probcut=0.5)
    assert row == (3, 1, 0.0, 2.5)
