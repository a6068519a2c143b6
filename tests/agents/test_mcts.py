"""Monte Carlo tree search against a naive twin, the solver and plain positions."""

import numpy as np
import pytest

from agents.core import AgentSpec, Limit
from agents.registry import build
from agents.search import mcts
from games import game
from tests.agents.helpers import OF_EVERY_FAMILY, is_wide, spread
from tests.agents.naive.mcts import Search

OWN = "tests/games/own/mnk.py:mnk(3,3,3)"


def agent(name, **options):
    made = build(AgentSpec("mcts", options), game(name))
    made.start(7)
    return made


@pytest.mark.parametrize("name", [n for n in OF_EVERY_FAMILY if not is_wide(n)])
@pytest.mark.parametrize("exploration", [0.0, 1.4])
def test_it_visits_what_the_naive_twin_visits(name, exploration):
    of = game(name)
    for position in [each for each in spread(name, 3, 6) if of.legal(each)]:
        if of.legal(position) == (of.pass_move,):
            continue
        made = agent(name, nodes=120, exploration=exploration)
        choice = made.choose(position)
        twin = Search(of, 7, exploration).run(position, 120)
        values = made.move_values(position)
        assert {m: visits for m, (_, visits) in values.items()} == {
            m: child.visits for m, child in twin.children.items()
        }
        for move, (value, visits) in values.items():
            assert value == pytest.approx(2 * twin.children[move].points / visits - 1)
        assert choice.move == max(
            twin.children, key=lambda m: (twin.children[m].visits, twin.children[m].points)
        )
        assert choice.nodes == 120


def test_it_finds_a_win_in_one():
    of = game(OWN)
    position = of.replay("1 4 2 5")[-1]  # 3 completes the first row
    assert of.move_text(position, agent(OWN, nodes=400).choose(position).move) == "3"


def test_it_finds_the_best_move_of_a_small_game():
    # Exact margins of kalah(2,2): hole 1 loses by more than hole 2.
    of = game("kalah(2,2)")
    assert agent("kalah(2,2)", nodes=4000).choose(of.start()).move == 1


def test_a_forced_pass_is_played_and_does_not_end_the_search():
    of = game("othello(4)")
    rng = np.random.default_rng(3)
    for _ in range(40):
        position = of.start()
        while not of.over(position):
            legal = of.legal(position)
            if legal == (of.pass_move,):
                assert agent("othello(4)", nodes=50).choose(position).move == of.pass_move
                return
            position = of.play(position, int(rng.choice(legal)))
    pytest.fail("no game had a pass")


def test_a_full_tree_collects_statistics_only(monkeypatch):
    monkeypatch.setattr(mcts, "MAX_NODES", 50)
    made = agent("kalah(3,2)", nodes=500)
    made.choose(game("kalah(3,2)").start())
    assert made.tree.shape[0] == 51
    assert made.tree[0, mcts.VISITS] == 500


def test_the_clock_ends_a_search_and_nodes_bound_it():
    made = agent("kalah(4,3)", seconds=0.05)
    assert made.choose(game("kalah(4,3)").start()).nodes >= 16
    assert made.choose(game("kalah(4,3)").start(), Limit(nodes=30)).nodes == 30
    assert made.choose(game("kalah(4,3)").start(), Limit(nodes=30, seconds=9.0)).nodes == 30


def test_the_same_seed_gives_the_same_moves():
    of = game("owari(4,3)")
    first, second = agent(of.name, nodes=200), agent(of.name, nodes=200)
    for position in [each for each in spread(of.name, 4, 4) if of.legal(each)]:
        assert first.choose(position) == second.choose(position)
