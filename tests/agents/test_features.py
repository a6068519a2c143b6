"""Features: golden values, reference positions, symmetries, naive twins on all boards."""

import json
from collections.abc import Callable
from functools import cache

import pytest

from agents.core import AgentSpec
from agents.registry import build
from agents.search import alphabeta, choose, minimax
from agents.search import game_loop as loop
from agents.search import move_ordering as stubs
from agents.search.bind import bind_features, search_kernels
from games import Game, Position, game
from games.core import family_drivers
from games.kernels.context import PASS
from games.kernels.family import turned
from games.kernels.jit import specialise
from games.othello.features import corner, danger, disc, edge, potential_mobility
from games.othello.features import mobility as moves_of
from games.sowing.features import capture, extra_turn, far, given_away, in_play, mobility, pot
from tests.agents.helpers import OF_EVERY_FAMILY, ROOT, few, spread
from tests.agents.naive import features
from tests.agents.naive_scores import naive_othello

SOWING = (
    "kalah(6,4)",
    "kalah(3,2)",
    "kalah(1,3)",
    "owari",
    "kalah-manchester",
    "kalah(9,3)",
    "kalah(16,2)",
    "kalah-manchester(9,3)",
    "kalah(7,16)",
)
OTHELLO = (
    "othello",
    "othello(4)",
    "othello(6)",
    "othello-adjacent(6)",
    "othello-adjacent(8,adjacency=4)",
    "othello(10)",
    "othello(16)",
    "othello-adjacent(12)",
)
GOLDEN = ROOT / "tests" / "golden" / "othello" / "seed002_features.jsonl"


def sowing_counts(ctx, s):
    return (
        pot(ctx, s),
        in_play(ctx, s),
        extra_turn(ctx, s),
        capture(ctx, s),
        mobility(ctx, s),
        far(ctx, s),
        given_away(ctx, s),
    )


def othello_counts(ctx, s):
    return (
        disc(ctx, s),
        moves_of(ctx, s),
        potential_mobility(ctx, s),
        corner(ctx, s),
        edge(ctx, s),
        danger(ctx, s),
    )


def others_counts(ctx, s):
    return counts(ctx, turned(s))


def counts(ctx, s):
    raise NotImplementedError


@cache
def counting(family_name: str) -> tuple[Callable, Callable]:
    """Return compiled functions that count for the mover and for the other side."""
    bound = bind_features(family_name) | {"moves_of": bind_features(family_name)["mobility"]}
    mine = sowing_counts if "sowing" in family_name else othello_counts
    first = specialise(family_name, (mine,), **bound)
    bound["counts"] = getattr(first, mine.__name__)
    other = specialise(f"{family_name}_other", (others_counts,), **bound)
    return bound["counts"], other.others_counts


def pairs(of: Game, position: Position) -> dict[str, tuple[int, int]]:
    own, other = (count(of.context, position.state) for count in counting(of.family_name))
    return {name: (int(a), int(b)) for name, a, b in zip(of.all_features, own, other, strict=True)}


def score(of: Game, position: Position, weights: dict) -> int:
    agent = build(AgentSpec("alphabeta", depth=1, weights=weights), of)
    kernel = search_kernels(of.family_name).feature_sum
    return int(kernel(agent.context, position.state))


UNIT = dict.fromkeys(features.OTHELLO, (1.0,))


@cache
def golden() -> tuple[dict, ...]:
    return tuple(map(json.loads, GOLDEN.read_text().splitlines()))


@pytest.mark.parametrize("place", range(few(100, 10)))
def test_terms_match_golden_file(place):
    of, expected = game("othello"), golden()[place]
    position = of.parse(f"{expected['board']} {expected['stm']}")
    ours = pairs(of, position)
    for name, other_name in zip(features.OTHELLO, GOLDEN_NAMES, strict=True):
        assert ours[name] == tuple(expected[other_name])
    assert score(of, position, UNIT) == pytest.approx(1000 * expected["corrected_total"], abs=0.51)


GOLDEN_NAMES = ("disc", "mobility", "potential", "corner", "edge", "danger")

# The two worked positions of the reference: rows, the mover, pairs of counts, the value.
WORKED = {
    "A": (
        "XXX----- XO------ O-XO---- --OXO--- ---OX--- ----XO-- -----OX- --O----- X",
        [(9, 9), (12, 7), (25, 18), (1, 0), (3, -2), (-2, 0)],
        142.5949,
    ),
    "B": (
        "-XOOOO-- -XXXXO-- --XXOO-O --XOXO-O --OXXXXO ---XXX-O ----X-XO -----XXO O",
        [(16, 20), (12, 7), (14, 10), (1, 0), (1, -5), (0, -2)],
        331.8713,
    ),
}


@pytest.mark.parametrize("name", WORKED)
def test_reference_positions(name):
    text, counted, value = WORKED[name]
    of = game("othello")
    position = of.parse(text)
    assert list(pairs(of, position).values()) == counted
    assert score(of, position, UNIT) == pytest.approx(1000 * value, abs=0.6)


@pytest.mark.parametrize("name", OTHELLO)
def test_start_position_is_balanced(name):
    of = game(name)
    assert all(own == other for own, other in pairs(of, of.start()).values())


def symmetric(of: Game, position: Position) -> list[Position]:
    size = of.rules.size
    squares, mover = of.text(position).split()
    rows = [squares[row * size : (row + 1) * size] for row in range(size)]
    found = []
    for _ in range(4):
        rows = ["".join(column) for column in zip(*rows[::-1], strict=True)]
        found += [rows, [row[::-1] for row in rows]]
    return [of.parse(f"{''.join(each)} {mover}") for each in found]


@pytest.mark.parametrize("name", OTHELLO)
def test_symmetric_boards_have_equal_counts(name):
    of = game(name)
    for position in spread(name, few(12, 1)):
        assert all(pairs(of, each) == pairs(of, position) for each in symmetric(of, position))


@pytest.mark.parametrize("name", (*OTHELLO, *SOWING))
def test_other_side_sees_negative_score(name):
    of = game(name)
    weights = {name: (0.7 + place,) for place, name in enumerate(of.features)}
    for position in spread(name, few(15, 2)):
        raw, _ = family_drivers(of.family_name).step(of.context, position.state, PASS)
        state = of.family.from_words(raw)
        other = position._replace(state=state, mover=1 - position.mover)
        assert score(of, other, weights) == -score(of, position, weights)
        assert pairs(of, other) == {k: v[::-1] for k, v in pairs(of, position).items()}


@pytest.mark.parametrize("name", OTHELLO)
def test_othello_features_match_naive_twin(name):
    of = game(name)
    for position in spread(name, few(40, 4)):
        state = naive_othello(of, position)
        own, other = (features.othello_counts(state, side) for side in (state.side, 1 - state.side))
        assert pairs(of, position) == {name: (own[name], other[name]) for name in features.OTHELLO}


@pytest.mark.parametrize("name", SOWING)
def test_sowing_features_match_naive_twin(name):
    of = game(name)
    for position in spread(name, few(80, 5)):
        rows = of.plain(position)
        own = features.sowing_counts(rows.own, rows.own_pot, rows.other)
        other = features.sowing_counts(rows.other, rows.other_pot, rows.own)
        assert pairs(of, position) == {name: (own[name], other[name]) for name in features.SOWING}


def test_feature_names():
    assert game("kalah").features == features.SOWING
    assert game("othello(10)").features == features.OTHELLO
    assert "extra_turn" not in game("owari").features
    assert "capture" not in game("kalah(6,4,capture=none)").features


@pytest.mark.parametrize("name", ["kalah(6,4)", "kalah(9,3)", "othello", "othello(10)"])
def test_evaluation_stays_below_win_score(name):
    of = game(name)
    first = of.features[0]
    for factor in (100_000.0, -100_000.0):
        for position in spread(name, few(15, 2)):
            assert abs(score(of, position, {first: (factor,)})) < 1_000_000_000


def test_rounding_is_symmetric():
    of = game("othello(4)")
    position = of.parse("XO-- -XO- -OX- ---- X")
    weights = dict.fromkeys(features.OTHELLO, (0.0625,))
    mirrored = of.parse("OX-- -OX- -XO- ---- O")
    assert score(of, position, weights) == score(of, mirrored, weights)


@pytest.mark.parametrize("name", OF_EVERY_FAMILY)
def test_features_do_not_shadow_kernel_names(name):
    bound = bind_features(game(name).family_name)
    for part in (alphabeta, minimax, choose, loop):
        for word, value in vars(part).items():
            if word.startswith("_") or word not in bound or bound[word] is value:
                continue
            from_family = getattr(value, "__module__", "") == "games.kernels.family"
            assert from_family or hasattr(stubs, word), f"{word} would mean {bound[word]}"
