"""Every sowing ruleset and size against the naive twin, position by position."""

import random
from typing import NamedTuple

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import GameError, IllegalMove, game
from games.perft import perft
from tests.games.naive import sowing
from tests.games.naive.sowing import Rules, State

PACKED_HOLES = 7
MOST_BEANS = {"packed": 255, "wide": 65535}  # what a position can hold
USUAL_BEANS = {"packed": 255, "wide": 3000}  # the twin drops them one at a time
WALK_PLIES = 40  # enough for every rule; whole games are played from small boards

VALUES = {
    "extra_turn": ["yes", "no", "not-first"],
    "capture": ["both", "opposite", "none"],
    "capture_needs_nonempty": [False, True],
    "end_when": ["either", "mover"],
    "majority_ends": [False, True],
    "swap": [False, True],
    "opponent_pot": [False, True],
    "skip_start": [False, True],
    "sweep": ["owner", "ender", "nobody"],
}
PARAMETERS = {key: st.sampled_from(values) for key, values in VALUES.items()}


class Case(NamedTuple):
    """A game by name, the twin's position to begin from, and a seed for the moves."""

    name: str
    state: State
    seed: int


# -------------------------------------------------------------- what to test


def name_of(preset: str, rules: Rules) -> str:
    """The name of a ruleset: the preset, the sizes, and what differs from the preset."""
    words = {True: "yes", False: "no"}
    changed = [
        f"{key}={words.get(getattr(rules, key), getattr(rules, key))}"
        for key in PARAMETERS
        if getattr(rules, key) != getattr(sowing.PRESETS[preset], key)
    ]
    return f"{preset}({','.join([str(rules.holes), str(rules.beans), *changed])})"


@st.composite
def rulesets(draw, most_holes: int = 16) -> tuple[str, Rules]:
    """A preset with up to all of its parameters changed; small boards often."""
    preset = draw(st.sampled_from(sorted(sowing.PRESETS)))
    holes = draw(st.one_of(st.integers(1, 3), st.integers(1, 7), st.integers(1, 16)))
    beans = draw(st.one_of(st.integers(0, 4), st.integers(0, 16)))
    changes = draw(st.fixed_dictionaries({}, optional=PARAMETERS))
    sizes = {"holes": min(holes, most_holes), "beans": beans}
    rules = sowing.PRESETS[preset]._replace(**sizes, **changes)
    return name_of(preset, rules), rules


@st.composite
def openings(draw) -> Case:
    """A ruleset at its start position."""
    name, rules = draw(rulesets())
    return Case(name, sowing.start(rules), draw(st.integers(0, 2**32)))


@st.composite
def set_up_by_hand(draw, most_holes: int = 16) -> Case:
    """A ruleset at an arbitrary position, up to a board full of beans."""
    name, rules = draw(rulesets(most_holes))
    most = USUAL_BEANS[state_of(rules)]
    beans = st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 40), st.integers(0, most))
    cells = draw(st.lists(beans, min_size=2 * rules.holes + 2, max_size=2 * rules.holes + 2))
    left = most
    for index in draw(st.permutations(range(len(cells)))):
        cells[index] = min(cells[index], left)
        left -= cells[index]
    south, north, pots = cells[: rules.holes], cells[rules.holes : -2], cells[-2:]
    side, phase = draw(st.sampled_from(list(phases(rules))))
    state = sowing.given(rules, tuple(south), tuple(north), tuple(pots), side, **phase)
    return Case(name, state, draw(st.integers(0, 2**32)))


@st.composite
def full_to_the_last_bean(draw) -> Case:
    """A ruleset at a position of as many beans as the state can hold, most of them in few holes."""
    name, rules = draw(rulesets())
    most, holes = MOST_BEANS[state_of(rules)], rules.holes
    dice = random.Random(draw(st.integers(0, 2**32)))
    cells = [dice.choice([0, 0, 1, 2]) for _ in range(2 * holes + 2)]
    heavy = dice.sample(range(2 * holes), k=min(2 * holes, dice.choice([1, 1, 2, 3])))
    for index in heavy:
        cells[index] += (most - sum(cells)) // 2
    cells[heavy[0]] += most - sum(cells)
    south, north, pots = tuple(cells[:holes]), tuple(cells[holes:-2]), (cells[-2], cells[-1])
    return Case(name, sowing.given(rules, south, north, pots, heavy[0] // holes), dice.random())


def state_of(rules: Rules) -> str:
    """Which of our two states the game is played on."""
    return "packed" if rules.holes <= PACKED_HOLES else "wide"


def phases(rules: Rules):
    """The side to move with what the first turn still allows; settled is the commonest."""
    settled = {"swapped": False}
    yield from [(0, settled), (1, settled), (0, settled), (1, settled)]
    if rules.swap:
        yield 0, {"first_ply": True, "swap_offered": True}
        yield 0, {"swap_offered": True}
        yield 1, {"swap_offered": True}
        yield from [(0, {"swapped": True}), (1, {"swapped": True})]
    elif rules.extra_turn == "not-first":
        yield 0, {"first_ply": True}


# ----------------------------------------------------------------- comparing


def one_line(state: State) -> str:
    """A twin's position as our one-line text; rows in display order."""
    south, north = state.rows
    words = [
        f"S {' '.join(map(str, south))}",
        f"N {' '.join(map(str, reversed(north)))}",
        f"pots {state.pots[0]}-{state.pots[1]}",
        f"{('South', 'North')[state.side]} to move",
        *first_turn_words(state),
    ]
    return ", ".join([*words, "sides swapped"] if state.swapped else words)


def first_turn_words(state: State) -> list[str]:
    """What rulesets whose first turn is special say about it."""
    if sowing.over(state):
        return []
    if state.first_ply and (state.rules.swap or state.rules.extra_turn == "not-first"):
        return ["first ply"]
    if sowing.may_swap(state):
        return ["swap open"]
    return ["first turn"] if state.rules.swap and state.swap_offered else []


def assert_same(ours, position, state: State) -> None:
    """Everything the public surface tells about a position is what the twin says."""
    assert ours.text(position) == one_line(state)
    assert ours.legal(position) == tuple(sowing.legal(state))
    assert ours.over(position) == sowing.over(state)
    assert ours.margin(position) == sowing.margin(state)
    assert ours.score(position) == sowing.score(state)
    if not sowing.over(state):
        assert ours.mover(position) == sowing.mover(state)


def walk(case: Case, plies: int = WALK_PLIES):
    """The twin's random game: each move with the position it leads to."""
    chooser = random.Random(case.seed)
    state = case.state
    for _ in range(plies):
        if sowing.over(state):
            return
        move = chooser.choice(sowing.legal(state))
        state = sowing.play(state, move)
        yield move, state


def assert_same_game(ours, position, case: Case, plies: int = WALK_PLIES) -> None:
    """Both play the twin's random game and agree on every position, also when read back."""
    assert_same(ours, position, case.state)
    for move, state in walk(case, plies):
        position = ours.play(position, move)
        assert_same(ours, position, state)
        assert_same(ours, ours.parse(ours.text(position)), state)


@given(openings())
def test_games_from_the_start_agree(case):
    ours = game(case.name)
    assert_same_game(ours, ours.start(), case)


@given(set_up_by_hand())
def test_games_from_positions_set_up_by_hand_agree(case):
    ours = game(case.name)
    assert_same_game(ours, ours.parse(one_line(case.state)), case)


@given(full_to_the_last_bean())
def test_games_from_the_fullest_positions_agree(case):
    ours = game(case.name)
    assert_same_game(ours, ours.parse(one_line(case.state)), case, plies=4)


@given(full_to_the_last_bean())
@hypothesis.settings(max_examples=10)
def test_one_bean_more_than_the_state_holds_is_refused(case):
    first, second = case.state.pots
    crowded = case.state._replace(pots=(first, second + 1), over=False)
    with pytest.raises(GameError, match=str(MOST_BEANS[state_of(case.state.rules)])):
        game(case.name).parse(one_line(crowded))


@pytest.mark.parametrize("preset", sowing.PRESETS)
@given(seed=st.integers(0, 2**32))
@hypothesis.settings(max_examples=5)
def test_presets_agree_at_their_own_size(preset, seed):
    ours = game(preset)
    assert_same_game(ours, ours.start(), Case(preset, sowing.start(sowing.PRESETS[preset]), seed))


@pytest.mark.parametrize("holes", [2, 8])
@pytest.mark.parametrize(("key", "value"), [(key, each) for key in VALUES for each in VALUES[key]])
def test_every_value_of_every_parameter_agrees_on_both_states(key, value, holes):
    rules = Rules(holes=holes, beans=2)._replace(**{key: value})
    ours = game(name_of("kalah", rules))
    for seed in range(2):
        assert_same_game(ours, ours.start(), Case(ours.name, sowing.start(rules), seed), plies=99)


@given(set_up_by_hand(most_holes=4))
def test_all_other_moves_are_refused(case):
    ours = game(case.name)
    position = ours.parse(one_line(case.state))
    for move in set(range(-1, case.state.rules.holes + 3)) - set(sowing.legal(case.state)):
        with pytest.raises(IllegalMove):
            ours.play(position, move)


@given(set_up_by_hand())
def test_perft_agrees(case):
    ours = game(case.name)
    position = ours.parse(one_line(case.state))
    depth = 4 if case.state.rules.holes <= 3 else 2
    assert list(perft(ours, position, depth)) == sowing.perft(case.state, depth)


@given(openings())
@hypothesis.settings(max_examples=30)
def test_a_written_game_is_read_back(case):
    ours = game(case.name)
    moves, states = [], [case.state]
    for move, state in walk(case):
        moves.append(move)
        states.append(state)
    positions = ours.replay(ours.write(moves))
    assert len(positions) == len(states)
    for position, state in zip(positions, states, strict=True):
        assert_same(ours, position, state)


# ------------------------------------------- that the cases reach every rule


def captures(before: State, move: int, after: State) -> bool:
    """The mover's pot gained more than sowing gives: one bean a lap."""
    side, holes = before.side, before.rules.holes
    laps = before.rows[side][move] // (2 * holes) + 1 if move < holes else 0
    return not after.over and after.pots[side] - before.pots[side] > laps


SEARCH = hypothesis.settings(max_examples=500, phases=[hypothesis.Phase.generate])
REACHED = {
    "a lap": lambda b, move, a: b.rows[b.side][move] > 2 * b.rules.holes,
    "two laps": lambda b, move, a: b.rows[b.side][move] > 4 * b.rules.holes + 2,
    "a capture": captures,
    "an extra turn": lambda b, move, a: a.side == b.side and not a.over,
    "an empty row that does not end the game": lambda b, move, a: (
        not a.over and not sum(a.rows[1 - a.side])
    ),
    "a swept row": lambda b, move, a: a.over and sum(a.pots) - sum(b.pots) > 2,
    "an end by majority": lambda b, move, a: (
        a.over and a.rules.majority_ends and all(map(sum, b.rows)) and 2 * max(b.pots) > 9
    ),
    "a tie": lambda b, move, a: a.over and sowing.margin(a) == 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("what", REACHED)
def test_the_cases_contain(what):
    def reached(case: Case) -> bool:
        before = case.state
        for move, after in walk(case):
            if move < before.rules.holes and REACHED[what](before, move, after):
                return True
            before = after
        return False

    hypothesis.find(
        st.one_of(openings(), set_up_by_hand()),
        reached,
        settings=SEARCH,
    )


@pytest.mark.slow
def test_the_cases_contain_a_swap():
    found = hypothesis.find(
        openings(), lambda case: any(state.swapped for _, state in walk(case)), settings=SEARCH
    )
    assert found.state.rules.swap
