"""Alpha-beta, minimax and their naive twins agree on every value."""

import pytest

from agents.core import Agent, AgentSpec, Limit
from agents.registry import build
from games import game
from tests.agents.helpers import (
    GAMES,
    OF_EVERY_FAMILY,
    few,
    pass_positions,
    positions,
    slow_if_wide,
    spread,
)
from tests.agents.naive import search
from tests.agents.naive_scores import deepest, naive_score, weights_for, with_phases

# The naive twins of features are written for these packs.
WITH_TWIN = [name for name in GAMES if game(name).pack in ("sowing", "othello")]
every_game = pytest.mark.parametrize("name", slow_if_wide(WITH_TWIN))
SOWING = [name for name in GAMES if game(name).pack == "sowing"]


def agent(kind: str, name: str, **changes) -> Agent:
    """Return a cached agent that weighs every feature."""
    spec = AgentSpec(kind, **{"depth": 1, "weights": weights_for(game(name)), **changes})
    key = f"{spec} {name}"
    if key not in _made:
        _made[key] = build(spec, game(name))
    return _made[key]


_made: dict[str, Agent] = {}


def near_the_end(name: str, number: int) -> list:
    plies = 7 if "othello" in name else 12
    return [positions(name, seed)[:-1][-1 - seed % plies :][0] for seed in range(number)]


def all_kinds_of_positions(name: str, number: int) -> list:
    late = near_the_end(name, number // 2)
    return [*spread(name, number), *late, *pass_positions(name, number // 8)]


# A preset of a family is another number at run time; the naive minimax below sees all of them.
every_family = pytest.mark.parametrize(
    "name",
    [
        *slow_if_wide(OF_EVERY_FAMILY),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in WITH_TWIN
            if name not in OF_EVERY_FAMILY
        ),
    ],
)


@every_family
def test_alphabeta_equals_minimax(name):
    for position in all_kinds_of_positions(name, few(40, 3)):
        for depth in range(1, deepest(name, position, 6, few(20_000, 100)) + 1):
            plain = agent("minimax", name).choose(position, Limit(depth=depth))
            pruned = agent("alphabeta", name).choose(position, Limit(depth=depth))
            assert (pruned.move, pruned.value) == (plain.move, plain.value)
            assert pruned.exact or pruned.depth == depth


@every_family
def test_table_size_does_not_change_values(name):
    sizes = [agent("alphabeta", name, table_bits=bits) for bits in (1, 6, 18)]
    for position in all_kinds_of_positions(name, few(16, 2)):
        depth = deepest(name, position, 6, few(50_000, 100))
        choices = [each.choose(position, Limit(depth=depth)) for each in sizes]
        assert len({(choice.move, choice.value) for choice in choices}) == 1


@every_game
def test_earlier_searches_do_not_change_values(name):
    fresh, used = (build(AgentSpec("alphabeta", depth=1), game(name)) for _ in range(2))
    for place, position in enumerate(spread(name, few(12, 2))):
        used.choose(position, Limit(depth=1 + place % 3))
        choice = used.choose(position, Limit(depth=4))
        fresh.start(0)
        assert choice == fresh.choose(position, Limit(depth=4))


@every_game
def test_random_ties_have_equal_values(name):
    drawing = agent("alphabeta", name, random_ties=True, weights={})
    for position in spread(name, few(12, 2)):
        best = agent("minimax", name, weights={}).choose(position, Limit(depth=3))
        for seed in range(3):
            drawing.start(seed)
            choice = drawing.choose(position, Limit(depth=3))
            assert choice.value == best.value
            assert value_of(name, position, choice.move, 3) == best.value


def value_of(name: str, position, move: int, depth: int) -> float:
    of = game(name)
    child = of.play(position, move)
    if of.over(child):
        return search.choice_value(search.final_score(of, child)) * sign(of, position, child)
    looked = agent("minimax", name, weights={}).choose(child, Limit(depth=depth - 1))
    return looked.value * sign(of, position, child)


def sign(of, before, after) -> int:
    return 1 if of.mover(before) == of.mover(after) else -1


def one_for_each_extra_turn() -> list:
    """Return a preset for each extra-turn rule; the others are slow."""
    first: dict[str, str] = {}
    for name in SOWING:
        first.setdefault(game(name).rules.extra_turn, name)
    cases = zip(SOWING, slow_if_wide(SOWING), strict=True)
    return [
        case if name in first.values() else pytest.param(name, marks=pytest.mark.slow)
        for name, case in cases
    ]


@every_game
def test_searches_match_naive_minimax(name):
    of = game(name)
    evaluate = naive_score(of, weights_for(of))
    leaves = few(30 if "othello" in name else 400, 20)
    for position in all_kinds_of_positions(name, few(6, 2)):
        for depth in range(1, deepest(name, position, 4, leaves) + 1):
            move, score = search.best_by_plies(of, position, depth, evaluate)
            for kind in ("minimax", "alphabeta"):
                choice = agent(kind, name).choose(position, Limit(depth=depth))
                assert (choice.move, choice.value) == (move, search.choice_value(score))


@pytest.mark.parametrize("name", one_for_each_extra_turn())
def test_whole_turns_match_naive_turns(name):
    of = game(name)
    weights = weights_for(of)
    for given in ({"pot": (2.0,), "in_play": (1.0,)}, weights):
        evaluate = naive_score(of, given)
        turns = agent("minimax", name, collapse_turns=True, weights=given)
        for position in all_kinds_of_positions(name, few(7, 2)):
            for depth in range(1, deepest(name, position, 3, few(150, 20)) + 1):
                move, score = search.best_by_turns(of, position, depth, evaluate)
                choice = turns.choose(position, Limit(depth=depth))
                assert (choice.move, choice.value) == (move, search.choice_value(score))


def test_whole_turns_after_swap():
    name = "kalah(4,2,swap=yes)"
    of = game(name)
    weights = {"pot": (1.0,)}
    evaluate = naive_score(of, weights)
    turns = agent("minimax", name, collapse_turns=True, weights=weights)
    for position in (of.start(), of.play(of.start(), 3)):
        for depth in range(1, 5):
            move, score = search.best_by_turns(of, position, depth, evaluate)
            choice = turns.choose(position, Limit(depth=depth))
            assert (choice.move, choice.value) == (move, search.choice_value(score))


@pytest.mark.parametrize("name", slow_if_wide(["owari", "othello", "othello(10)"]))
def test_whole_turns_equal_plies_without_extra_turns(name):
    for position in spread(name, few(12, 2)):
        by_turns = agent("minimax", name, collapse_turns=True).choose(position, Limit(depth=3))
        by_plies = agent("minimax", name).choose(position, Limit(depth=3))
        assert (by_turns.move, by_turns.value) == (by_plies.move, by_plies.value)


@every_game
def test_weights_by_phase_match_naive_score(name):
    of = game(name)
    weights = with_phases(weights_for(of))
    evaluate = naive_score(of, weights)
    weighing = agent("alphabeta", name, weights=weights)
    for position in spread(name, few(20, 3)):
        move, score = search.best_by_plies(of, position, 1, evaluate)
        choice = weighing.choose(position, Limit(depth=1))
        assert (choice.move, choice.value) == (move, search.choice_value(score))


@every_game
def test_line_leads_to_value(name):
    of = game(name)
    evaluate = naive_score(of, weights_for(of))
    for position in spread(name, few(12, 2)):
        depth = deepest(name, position, 4, few(2000, 50))
        choice = agent("minimax", name).choose(position, Limit(depth=depth))
        last = position
        for move in choice.line:
            last = of.play(last, move)
        value = search.final_score(of, last) if of.over(last) else evaluate(last)
        assert search.choice_value(value) * sign(of, position, last) == choice.value


@every_game
def test_exact_values_match_deeper_search(name):
    of = game(name)
    nothing = naive_score(of, weights_for(of))
    for position in near_the_end(name, few(12, 3)):
        choice = agent("alphabeta", name).choose(position, Limit(nodes=20_000))
        if choice.exact and choice.depth <= few(5, 3):
            score = search.ply_value(of, position, choice.depth + 2, nothing)
            assert choice.value == search.choice_value(score)
