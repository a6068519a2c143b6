"""Othello, both rules and every size, against the naive twin, position by position."""

import random
from typing import NamedTuple

import hypothesis
import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import IllegalMove, game
from games.perft import perft
from tests.games.naive import othello
from tests.games.naive.othello import EMPTY, Rules, State

INTERPRETED = bool(numba.config.DISABLE_JIT)  # kernels are a hundred times slower: shorter tests
# Shares of X, O and empty squares: crowded, even, sparse, nearly one colour, one colour, empty.
MIXTURES = [
    (4, 4, 1),
    (1, 1, 1),
    (1, 1, 6),
    (9, 1, 2),
    (1, 9, 2),
    (20, 1, 4),
    (1, 20, 4),
    (3, 0, 1),
    (0, 0, 1),
]


class Case(NamedTuple):
    """A game by name, the twin's position to begin from, and a seed for the moves."""

    name: str
    state: State
    seed: int


# -------------------------------------------------------------- what to test


@st.composite
def rulesets(draw, most: int = 16) -> tuple[str, Rules]:
    """A rule and a size; small boards often."""
    half = draw(st.one_of(st.sampled_from([2, 3, 4]), st.integers(2, most // 2)))
    size = min(2 * half, most)
    if draw(st.booleans()):
        return f"othello({size})", Rules(size)
    adjacency = draw(st.sampled_from([4, 8]))
    return f"othello-adjacent({size},adjacency={adjacency})", Rules(size, True, adjacency)


@st.composite
def openings(draw) -> Case:
    """A ruleset at its start position."""
    name, rules = draw(rulesets())
    return Case(name, othello.start(rules), draw(st.integers(0, 2**32)))


@st.composite
def boards(draw, most: int = 16) -> Case:
    """A ruleset at an arbitrary board, reachable or not."""
    name, rules = draw(rulesets(most))
    shares = draw(st.sampled_from(MIXTURES))
    dice = random.Random(draw(st.integers(0, 2**32)))
    board = tuple(dice.choices([0, 1, EMPTY], shares, k=rules.size**2))
    state = othello.given(rules, board, draw(st.integers(0, 1)))
    return Case(name, state, draw(st.integers(0, 2**32)))


# ----------------------------------------------------------------- comparing


def squares(state: State) -> str:
    """A twin's board as n*n characters."""
    return "".join("XO-"[content] for content in state.board)


def one_line(state: State) -> str:
    """A twin's position as our one-line text."""
    return f"{squares(state)} {'XO'[state.side]}"


def assert_same(ours, position, state: State) -> None:
    """Everything the public surface tells about a position is what the twin says."""
    moves = othello.legal(state)
    assert ours.legal(position) == tuple(moves)
    assert ours.over(position) == (not moves)
    assert ours.margin(position) == othello.margin(state)
    assert ours.score(position) == othello.score(state)
    assert ours.raw_score(position) == othello.raw_score(state)
    if moves:
        assert ours.mover(position) == othello.mover(state)
        assert ours.text(position) == one_line(state)
    else:
        assert ours.text(position).split()[0] == squares(state)


def walk(case: Case, plies: int = 300):
    """The twin's random game: each move with the position it leads to."""
    chooser = random.Random(case.seed)
    state = case.state
    for _ in range(plies):
        moves = othello.legal(state)
        if not moves:
            return
        move = chooser.choice(moves)
        state = othello.play(state, move)
        yield move, state


def assert_same_game(ours, position, case: Case, plies: int = 300) -> None:
    """Both play the twin's random game and agree on every position, also when read back."""
    assert_same(ours, position, case.state)
    for move, state in walk(case, plies):
        position = ours.play(position, move)
        assert_same(ours, position, state)
        assert_same(ours, ours.parse(ours.text(position)), state)


# --------------------------------------------------------------------- tests


@pytest.mark.parametrize("name", ["othello", "othello-adjacent"])
@pytest.mark.parametrize(
    "size", [4, 6, 8, 10, *(pytest.param(size, marks=pytest.mark.slow) for size in (12, 14, 16))]
)
def test_a_whole_random_game_agrees_at_every_size(name, size):
    rules = othello.PRESETS[name]._replace(size=size)
    ours = game(f"{name}({size})")
    plies = 90 if INTERPRETED else 300  # whole games but on the largest boards
    assert_same_game(ours, ours.start(), Case(name, othello.start(rules), seed=size), plies)


@given(openings())
@hypothesis.settings(max_examples=10)
def test_games_from_the_start_agree(case):
    ours = game(case.name)
    assert_same_game(ours, ours.start(), case, plies=70)


@given(boards())
def test_games_from_arbitrary_boards_agree(case):
    ours = game(case.name)
    assert_same_game(ours, ours.parse(one_line(case.state)), case, plies=12)


@given(boards(most=8))
@hypothesis.settings(max_examples=10)
def test_all_other_moves_are_refused(case):
    ours = game(case.name)
    position = ours.parse(one_line(case.state))
    for move in set(range(-1, len(case.state.board) + 2)) - set(othello.legal(case.state)):
        with pytest.raises(IllegalMove):
            ours.play(position, move)


@given(boards(most=10))
@hypothesis.settings(max_examples=15)
def test_perft_agrees(case):
    ours = game(case.name)
    position = ours.parse(one_line(case.state))
    depth = 3 if case.state.rules.size <= 4 else 2
    assert list(perft(ours, position, depth)) == othello.perft(case.state, depth)


@given(openings())
@hypothesis.settings(max_examples=5)
def test_a_written_game_is_read_back(case):
    ours = game(case.name)
    steps = list(walk(case, plies=70))
    positions = ours.replay(ours.write([move for move, _ in steps]))
    for position, state in zip(
        positions, [case.state, *(state for _, state in steps)], strict=True
    ):
        assert_same(ours, position, state)


# ------------------------------------------- that the cases reach every rule

REACHED = {
    "a pass": lambda state: othello.legal(state) == [len(state.board)],
    "a wipe-out": lambda state: 0 in othello.raw_score(state),
    "an end with empty squares": lambda state: othello.over(state) and EMPTY in state.board,
    "a full board": lambda state: EMPTY not in state.board,
    "a tie": lambda state: othello.over(state) and othello.margin(state) == 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", REACHED)
def test_the_cases_contain(what):
    hypothesis.find(
        st.one_of(openings(), boards()),
        lambda case: any(REACHED[what](state) for _, state in walk(case)),
        settings=hypothesis.settings(max_examples=100, phases=[hypothesis.Phase.generate]),
    )
