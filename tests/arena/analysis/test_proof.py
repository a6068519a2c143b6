"""Proofs against a naive search, with lines that replay, and their refusals."""

from functools import cache
from inspect import signature

import pytest

from agents.core import AgentSpec
from agents.registry import build, randomness_reason
from arena.analysis.checks.always import NoProof, ProgressReporter, prove
from games import game

SMALL = ["kalah(2,2)", "kalah(3,2)", "kalah(3,3)", "owari(3,2)", "othello(4)"]


def shortest_not_won(of, agent, player, opening):
    """Plies of the shortest game not won, by recursion over positions; None if all are won."""

    @cache
    def below(position):
        legal = of.legal(position)
        if not legal:
            margin = of.margin(position)
            return None if (margin if player == 0 else -margin) > 0 else 0
        if of.mover(position) == player:
            agent.start(5)
            legal = (agent.choose(position).move,)
        found = [below(of.play(position, move)) for move in legal]
        return min((1 + plies for plies in found if plies is not None), default=None)

    position = of.start()
    for move in opening:
        position = of.play(position, move)
    plies = below(position)
    return None if plies is None else plies + len(opening)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("kind", ["smart", "greedy", "first", "minimax"])
@pytest.mark.parametrize("name", SMALL)
def test_a_proof_agrees_with_a_walk_over_all_games(name, kind, player):
    of = game(name)
    agent = build(AgentSpec(kind), of)
    proof = prove(of, agent, player)
    plies = shortest_not_won(of, agent, player, ())
    assert proof.holds == (plies is None)
    assert (proof.counterexample is None) == proof.holds
    if proof.counterexample is not None:
        assert len(proof.counterexample) == plies


@pytest.mark.parametrize("name", ["kalah(3,2)", "kalah(4,3)", "othello(4)"])
def test_a_counterexample_is_a_game_that_the_agent_plays_and_does_not_win(name):
    of = game(name)
    agent = build(AgentSpec("smart"), of)
    lost = [p for p in (prove(of, agent, seat) for seat in (0, 1)) if p.counterexample]
    assert len(lost) == 1
    seat = 0 if prove(of, agent, 0).counterexample else 1
    position = of.start()
    for move in lost[0].counterexample:
        if of.mover(position) == seat:
            agent.start(1)
            assert agent.choose(position).move == move
        position = of.play(position, move)
    assert of.over(position)
    assert (of.margin(position) if seat == 0 else -of.margin(position)) <= 0


def test_smart_is_proved_to_win_kalah_4_3_from_the_first_seat():
    of = game("kalah(4,3)")
    proof = prove(of, build(AgentSpec("smart"), of), 0)
    assert proof.holds
    assert proof.positions > 100


def test_a_proof_covers_every_opening_and_prints_it_with_the_line():
    of = game("kalah(3,2)")
    agent = build(AgentSpec("first"), of)
    openings = [(0,), (1,), (2, 1)]
    plies = [shortest_not_won(of, agent, 0, opening) for opening in openings]
    proof = prove(of, agent, 0, openings)
    assert len(proof.counterexample) == min(p for p in plies if p is not None)
    begun = [opening for opening in openings if proof.counterexample[: len(opening)] == [*opening]]
    assert len(begun) == 1


def test_openings_that_meet_later_are_walked_by_the_shorter_one():
    of = game("kalah(3,2)")
    agent = build(AgentSpec("first"), of)
    alone = prove(of, agent, 0, [()])
    assert prove(of, agent, 0, [tuple(alone.counterexample[:3]), ()]) == alone


@pytest.mark.parametrize(
    "spec",
    [
        AgentSpec("random"),
        AgentSpec("greedy", epsilon=0.01),
        AgentSpec("fewest", random_ties=True),
        AgentSpec("smart", seconds=0.1),
        AgentSpec("python", file="bots/mine.py"),
    ],
)
def test_nothing_is_proved_about_agents_that_vary(spec):
    assert randomness_reason(spec)


def test_a_refusal_says_what_is_in_the_way():
    of = game("kalah(3,2)")
    with pytest.raises(NoProof, match=r"epsilon = 0\.01 .* at random"):
        prove(of, build(AgentSpec("greedy", epsilon=0.01), of), 0)


def test_a_board_too_large_to_walk_is_said_with_its_limit():
    of = game("kalah(6,4)")
    agent = build(AgentSpec("smart", nodes=100), of)
    with pytest.raises(NoProof, match=r"kalah\(6,4\) has more than 200 positions"):
        prove(of, agent, 0, max_positions=200)


def test_a_proof_gives_up_after_a_million_positions_unless_it_is_told_otherwise():
    assert signature(prove).parameters["max_positions"].default == 1_000_000


def test_a_long_proof_says_how_far_it_has_come(monkeypatch):
    monkeypatch.setattr("arena.analysis.checks.always.FIRST_SECONDS", -1.0)
    monkeypatch.setattr("arena.analysis.checks.always.PULSE_SECONDS", 0.0)
    told = list[str]()
    pulse = ProgressReporter(told.append)
    for positions in range(1, 130):
        pulse.count(positions)
    assert told == ["proving: 64 positions searched", "proving: 128 positions searched"]
    # Without a receiver, progress is not reported.
    ProgressReporter(None).count(64)
    of, told = game("kalah(3,3)"), list[str]()
    proof = prove(of, build(AgentSpec("first"), of), 0, tell=told.append)
    assert len(told) == proof.positions // 64
