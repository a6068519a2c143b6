"""The compiled evaluation by learned tables against naive sums."""

import numpy as np
import pytest

from agents.core import AgentSpec
from agents.evaluation.learned_value import find_tables
from agents.evaluation.weights import LearnedWeights, write_learned_weights
from agents.registry import build
from games import game
from games.learned_block import phase_of
from tests.agents.naive.learned_sums import all_pairs_sum, hole_sum, pattern_sum

SCALE = 256


def random_positions(of, count, rng):
    position, found = of.start(), []
    while len(found) < count:
        if of.over(position):
            position = of.start()
        found.append(position)
        position = of.play(position, int(rng.choice(of.legal(position))))
    return found


def written(tmp_path, name, kind, phases=3, own=None, seed=1):
    """Write random weights; return the file and its parts."""
    of = game(name)
    layout = find_tables(of, kind).layout(of.rules, own)
    same = find_tables(of, kind).shared_entries(layout)
    weights = np.random.default_rng(seed).integers(-500, 500, (phases, len(np.unique(same))))
    groups = {each.name: each.description for each in layout.groups}
    path = tmp_path / f"{kind}.npz"
    write_learned_weights(
        path, LearnedWeights(name, kind, groups, weights.astype(np.int16), 10, 40)
    )
    return path, of, layout, same, weights


def evaluate(path, of, positions):
    """Return the scores of the positions in thousandths."""
    agent = build(AgentSpec("alphabeta", nodes=10, weights=str(path)), of)
    return [int(agent.kernels.position_value(agent.context, each.state)) for each in positions]


def expected_score(known, total):
    return 1000 * known + ((1000 * total + SCALE // 2) // SCALE)


def discs_of(of, position):
    size = of.rules.size
    own, other = of.family.unpack(position.state, size)
    board = {(at % size, at // size): 1 for at in own}
    return board | {(at % size, at // size): 2 for at in other}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        pytest.param("othello(8)", None, marks=pytest.mark.slow),  # it compiles 46 lookups
        ("othello-adjacent(6)", {"corner": "a1 b1 c1 a2 b2 a3", "diagonal": "f1 e2 d3"}),
    ],
)
def test_patterns_match_naive_sum(tmp_path, name, own):
    path, of, layout, same, weights = written(tmp_path, name, "patterns", own=own)
    firsts = list(np.unique(same))
    positions = random_positions(of, 80, np.random.default_rng(5))
    values = evaluate(path, of, positions)
    groups = {each.name: each.description for each in layout.groups}
    for position, value in zip(positions, values, strict=True):
        if of.over(position):
            continue
        board = discs_of(of, position)
        phase = int(phase_of(np.array(of.rules.cells - len(board)), 3, 10, 40))
        row = dict(zip(firsts, weights[phase].tolist(), strict=True))
        looked = Lookup(layout, same, row)
        assert value == expected_score(0, pattern_sum(board, of.rules.size, groups, looked))


class Lookup(dict):
    def __init__(self, layout, same, row):
        self.layout, self.same, self.row = layout, same, row

    def __missing__(self, key):
        name, entry = key
        return self.row[self.same[self.layout.starts[name] + entry]]


def assert_sums(of, path, weights, places, count, naive_sum):
    positions = random_positions(of, count, np.random.default_rng(2))
    for position, value in zip(positions, evaluate(path, of, positions), strict=True):
        if of.over(position):
            continue
        rows = of.family.unpack(position.state, of.rules.holes)
        left = sum(rows.own) + sum(rows.other)
        row = weights[int(phase_of(np.array(left), 3, 10, 40))].tolist()
        weight = {key: row[place] for key, place in places.items()}
        total = naive_sum(list(rows.own), list(rows.other), weight)
        assert value == expected_score(rows.own_pot - rows.other_pot, total)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kalah(6,4)", "holes"),
        ("owari", "pairs"),
        pytest.param("kalah(8,10)", "pairs", marks=pytest.mark.slow),
    ],
)
def test_holes_and_pairs_match_naive_sum(tmp_path, name, kind):
    path, of, layout, _, weights = written(tmp_path, game(name).name, kind)
    holes = of.rules.holes
    places = {}
    for side in range(2):
        for at in range(holes):
            for beans in range(16):
                places["hole", side, at, beans] = len(places)
    for side in range(2 if kind == "pairs" else 0):
        for at in range(holes - 1):
            for beans in range(16):
                for next_beans in range(16):
                    places["beside", side, at, beans, next_beans] = len(places)
    for at in range(holes if kind == "pairs" else 0):
        for beans in range(16):
            for facing in range(16):
                places["facing", at, beans, facing] = len(places)
    assert len(places) == layout.entries
    assert_sums(
        of, path, weights, places, 60,
        lambda own, other, weight: hole_sum(own, other, weight, kind == "pairs"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "name", ["kalah(2,4)", pytest.param("kalah(8,10)", marks=pytest.mark.slow)]
)
def test_all_pairs_match_naive_sum(tmp_path, name):
    path, of, layout, _, weights = written(tmp_path, name, "all_pairs")
    holes = of.rules.holes
    places = {(at, beans): 16 * at + beans for at in range(2 * holes) for beans in range(16)}
    together = [(a, b) for side in (0, holes) for a in range(side, side + holes)
                for b in range(a + 1, side + holes)]  # fmt: skip
    across = [(a, b) for a in range(holes) for b in range(holes, 2 * holes)]
    for first, second in together + across:
        for beans in range(16):
            for others in range(16):
                places[first, second, beans, others] = len(places)
    assert len(places) == layout.entries
    assert_sums(of, path, weights, places, 40, all_pairs_sum)
