"""What Othello knows of its endgames, against naive twins; that no short cut changes a value."""

import random
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest

from agents import AgentSpec, build
from agents.kernels.bind import family_names
from agents.kernels.knowledge_names import (
    late_urgency,
    most_margin,
    promising,
    refused,
    settled,
    settled_margin,
    tries,
)
from games import Game, Position, game
from games.kernels.bits import U
from games.kernels.family import count, except_highest, highest, none, play
from games.kernels.jit import specialise
from games.othello.knowledge import ANSWERS_FROM
from tests.agents.given import few, slow_if_wide
from tests.agents.naive import othello_endgames as naive
from tests.agents.scores import naive_othello
from tests.games.naive import othello as naive_rules

BOARDS = ("othello", "othello(4)", "othello(6)", "othello-adjacent(6)", "othello(10)")


def known_late(ctx, s, slots):
    """Bound, whether settled and how, tried, promising, and the slots of the legal ones."""
    mask, legal = tries(ctx, s), 0
    tried = count(mask)
    first = count(promising(ctx, s, mask))
    while not none(mask):
        slot = highest(mask)
        mask = except_highest(mask)
        if not refused(ctx, s, play(ctx, s, slot)[0]):
            slots[legal] = np.int64(slot)
            legal += 1
    margin = np.int64(0)
    if settled(ctx, s):
        margin = settled_margin(ctx, s)
    return most_margin(ctx, s), settled(ctx, s), margin, tried, first, legal


def urgency_of(ctx, s, slot):
    """How early to search the move."""
    child, same = play(ctx, s, U(slot))
    return late_urgency(ctx, s, child, same)


@cache
def kernels(family_name: str) -> tuple[Callable, Callable]:
    """Both, compiled for a family."""
    found = specialise(f"{family_name}_late", (known_late, urgency_of), **family_names(family_name))
    return found.known_late, found.urgency_of


def late(name: str, number: int, most: int) -> Iterator[Position]:
    """Unfinished positions of random games with so many empty squares at most."""
    of, dice = game(name), random.Random(name)
    for _ in range(number):
        position, left = of.start(), dice.randrange(most + 1)
        while not of.over(position) and of.rules.cells - sum(of.raw_score(position)) > left:
            position = of.play(position, dice.choice(of.legal(position)))
        if not of.over(position):
            yield position


def counted(of: Game, position: Position) -> tuple[tuple[int, ...], list[int]]:
    """What the kernel knows, and the moves that it tries and does not refuse."""
    slots = np.zeros(256, np.int64)
    *found, legal = kernels(of.family_name)[0](of.context, position.state, slots)
    return tuple(map(int, found)), sorted(of.moves_of(slots[: int(legal)]).tolist())


@pytest.mark.parametrize("name", slow_if_wide(BOARDS))
def test_late_knowledge_is_the_naive_one(name):
    of = game(name)
    for position in late(name, few(20, 6), 14):
        state = naive_othello(of, position)
        (most, known, margin, tried, first), legal = counted(of, position)
        placements = naive_rules.placements(state, state.side)
        empties = state.board.count(naive_rules.EMPTY)
        assert most == naive.most_margin(state)
        assert legal == placements
        assert tried == (empties if empties <= 4 and not state.rules.adjacent else len(placements))
        if tried == len(placements):
            assert first == len(set(placements) & naive.odd_squares(state))
        assert known == (empties <= 1)
        assert not known or margin == naive.value(state)


@pytest.mark.parametrize("name", slow_if_wide(BOARDS))
def test_moves_are_sorted_as_by_the_naive_twin(name):
    of = game(name)
    for position in late(name, few(5, 2), ANSWERS_FROM + 4):
        state = naive_othello(of, position)
        for move in naive_rules.placements(state, state.side):
            slot = int(of.slots_of(np.array([move]))[0])
            found = int(kernels(of.family_name)[1](of.context, position.state, slot))
            assert found == naive.late_urgency(state, move, ANSWERS_FROM)


@pytest.mark.parametrize("name", slow_if_wide(BOARDS))
def test_no_short_cut_changes_a_value(name):
    of = game(name)
    agent = build(AgentSpec("alphabeta", depth=1, endgame=64, table_bits=10), of)
    for position in late(name, few(15, 3), few(5, 4)):
        choice, state = agent.choose(position), naive_othello(of, position)
        assert choice.exact
        assert choice.value == naive.value(state)
        if choice.move != of.pass_move:
            best = [
                m
                for m in of.legal(position)
                if -naive.value(naive_rules.play(state, m)) == choice.value
            ]
            assert choice.move == best[0]


def test_a_win_is_bounded_by_discs_that_nothing_turns():
    of = game("othello(4)")
    bounded = [naive.most_margin(naive_othello(of, p)) for p in late("othello(4)", 60, 5)]
    truth = [naive.value(naive_othello(of, p)) for p in late("othello(4)", 60, 5)]
    assert all(value <= most for value, most in zip(truth, bounded, strict=True))
    assert min(bounded) < 0
