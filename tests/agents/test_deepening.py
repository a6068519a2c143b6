"""Searches within a budget: move ordering, bounds of deeper searches, late moves."""

import numpy as np
import pytest

from agents.core import AgentSpec
from agents.registry import build
from agents.search.context import DEEPER_DECIDE, NODES, VALUED
from agents.search.table import AT_LEAST, EXACTLY, answers_search
from games import game
from tests.agents.helpers import positions

NAME = "kalah(4,3)"


@pytest.mark.parametrize(
    ("depth", "deeper", "decided"),
    [(4, False, True), (4, True, True), (3, False, False), (3, True, True), (5, True, False)],
)
def test_deeper_entry_answers_only_if_allowed(depth, deeper, decided):
    for bound, alpha in ((AT_LEAST, 5), (EXACTLY, 30)):
        fact = np.int64(20 << 32 | 4 << 16 | bound << 12)  # at least or just 20, to depth 4
        assert (
            answers_search(fact, np.int64(depth), np.int64(alpha), np.int64(alpha + 1), deeper)
            == decided
        )


def test_only_budgets_use_deeper_entries():
    for limit, expected in (({"depth": 3}, 0), ({"nodes": 300}, 1), ({"seconds": 1.0}, 1)):
        agent = build(AgentSpec("alphabeta", **limit), game(NAME))
        assert agent.context[DEEPER_DECIDE] == expected


def test_best_move_of_unfinished_depth_is_played():
    late, of = 0, game("kalah(6,4)")
    for nodes in (100, 300, 1000):
        budget = build(AgentSpec("alphabeta", nodes=nodes, endgame=0), of)
        budget.context[DEEPER_DECIDE] = 0  # so that every depth is searched just as it is
        for position in [each for seed in range(4) for each in positions("kalah(6,4)", seed)[:20]]:
            choice = budget.choose(position)
            if choice.exact or not choice.depth:
                continue
            plain = build(AgentSpec("alphabeta", depth=choice.depth), of)
            finished = plain.choose_fast(position).move
            if choice.move != finished:
                late += 1
                after = [
                    plain.search_move(position, move, choice.depth + 1).score
                    for move in (choice.move, finished)
                ]
                assert after[0] >= after[1]
    assert late


def test_ordering_by_values_changes_only_nodes():
    found = []
    for valued in (0, None):
        agent = build(AgentSpec("smart", depth=7), game("othello"))
        assert agent.context[VALUED] > 0
        if valued is not None:
            agent.context[VALUED] = valued
        choices = [agent.choose_fast(each) for each in positions("othello", 4)[20:30:3]]
        found.append(([(each.move, each.value) for each in choices], agent.context[NODES]))
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]
