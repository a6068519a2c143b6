"""Heuristic functions: naive twins, numbers of both sides, compiled and interpreted."""

import random
import re

import pytest

from agents.core import AgentFailure, AgentSpec
from agents.evaluation.user_evaluation import plain_score
from agents.evaluation.user_names import plain_copy, plain_names
from agents.features import othello as othello_names
from agents.features import sowing as sowing_names
from agents.registry import build
from agents.view import View, heuristic_names
from games import NAMES, game
from games.kernels.jit import INTERPRETED
from games.parts import heuristic_function_names
from tests.agents.helpers import OF_EVERY_FAMILY, ROOT, few, positions, spread
from tests.agents.naive import heuristic_functions as naive
from tests.docs.pages import blocks
from tests.games.naive import othello, sowing
from tests.games.table import one_of_each

SOWING = (
    "kalah(6,4)",
    "owari(6,3)",
    "kalah(1,3)",
    "kalah(3,9,skip_start=yes)",
    "kalah(4,9,opponent_pot=yes,capture=none)",
    "kalah(2,8,opponent_pot=yes,skip_start=yes,capture=opposite)",
    "kalah-manchester(7,7)",
    "kalah(9,5)",
)
OTHELLO = ("othello", "othello(6)", "othello-adjacent(4)", "othello(10)", "othello(16)")
FIELDS = set(sowing.Rules._fields) & set(game("kalah").rules.__slots__)
compiled = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


def plain_rules(of):
    words = {name: getattr(of.rules, name) for name in FIELDS}
    for name in ("capture_needs_nonempty", "majority_ends", "swap", "opponent_pot", "skip_start"):
        words[name] = words[name] == "yes"
    return sowing.Rules(**words)


@pytest.mark.parametrize("name", SOWING)
def test_sowing_functions_match_naive_twin(name):
    of = game(name)
    for position in spread(name, few(25, 5)):
        view, rows = View(of, position), of.plain(position)
        sides = (rows.own, rows.own_pot), (rows.other, rows.other_pot)
        south, north = sides if position.side == 0 else sides[::-1]
        state = sowing.given(
            plain_rules(of), south[0], north[0], (south[1], north[1]), position.side
        )
        printed = [int(of.move_text(position, hole)) for hole in range(of.rules.holes)]
        assert view.holes() == of.rules.holes
        for hole, number in enumerate(printed):
            for word, value in naive.sowing_words(state, hole).items():
                argument = hole + 1 if word == "near_pot" else number
                expected = value
                if word == "last_lands_in" and value >= 0:
                    expected = printed[value]
                assert getattr(view, word)(argument) == expected, (str(view), word, number)


@pytest.mark.parametrize("name", OTHELLO)
def test_othello_functions_match_naive_twin(name):
    of = game(name)
    rules = othello.PRESETS[name.partition("(")[0]]._replace(size=of.rules.size)
    for position in spread(name, few(3, 1)):
        view, size = View(of, position), of.rules.size
        colours = of.notation.colours(position)
        board = tuple(
            0 if square in colours[0] else 1 if square in colours[1] else othello.EMPTY
            for square in range(size * size)
        )
        state = othello.given(rules, board, position.side)
        safe = naive.stable(state)
        assert (view.stable(), view.frontier()) == (len(safe), naive.frontier(state))
        assert (view.size(), view.empties()) == (size, board.count(othello.EMPTY))
        for square in random.Random(name).sample(range(size * size), 12):
            assert view.square(square % size + 1, square // size + 1) == square
            assert view.is_stable(square) == (square in safe)
            for word, value in naive.othello_words(state, square).items():
                assert getattr(view, word)(square) == value, (str(view), word, square)


def test_stable_disc_is_never_flipped():
    of = game("othello(4)")
    for seed in range(2):
        safe = [set(), set()]
        for position in positions("othello(4)", seed)[:-1]:
            view = View(of, position)
            for side, seen in ((position.side, view), (1 - position.side, view.turned())):
                now = {square for square in range(16) if seen.is_stable(square)}
                assert safe[side] <= now
                safe[side] = now


def test_both_sides_see_board_numbers():
    of = game("kalah(6,4)")
    north = View(of, of.parse("S 1 2 3 4 5 6, N 6 5 4 3 2 1, pots 0-0, North to move"))
    assert [north.hole(n) for n in north.legal] == [1, 2, 3, 4, 5, 6]
    assert (north.hole(1), north.distance(1), north.near_pot(1)) == (6, 1, 6)
    assert (north.last_lands_in(6), north.facing(6)) == (5, 6)
    assert (north.turned().hole(1), north.turned().pot()) == (1, 0)
    ring = View(game("owari"), game("owari").parse(of.text(north.position)))
    assert [ring.hole(n) for n in ring.legal] == [1, 2, 3, 4, 5, 6]
    assert ring.last_lands_in(7) == 8


@pytest.mark.parametrize("call", ["hole(7)", "hole(0)", "near_pot(7)", "near_pot(0)", "hole(-1)"])
def test_missing_hole_is_an_error(call):
    view = View(game("kalah(6,4)"), game("kalah(6,4)").start())
    word, number = re.findall(r"[-\w]+", call)
    with pytest.raises(IndexError):
        getattr(view, word)(int(number))


def test_unknown_name_of_view_suggests_nearest():
    with pytest.raises(AttributeError, match=r'has no beans; did you mean "hole"\?'):
        _ = View(game("kalah(6,4)")).beans


ALL_SOWING = """from agents.features.sowing import *

def evaluate(rules, position):
    total = 7 * near_pot(rules, position, 1)
    for n in range(FIRST, holes(rules, position) + FIRST):
        total += 3 * hole(rules, position, n) + 5 * facing(rules, position, n)
        total += 11 * empty(rules, position, n) + 13 * distance(rules, position, n)
        total += 17 * last_lands_in(rules, position, n) + 19 * ends_in_pot(rules, position, n)
        total += 23 * captures(rules, position, n) + 29 * gives_away(rules, position, n)
    return total
"""
ALL_OTHELLO = """from agents.features.othello import *

def evaluate(rules, position):
    total = 3 * stable(rules, position) + 5 * frontier(rules, position)
    total += 31 * empties(rules, position) + disc_at(rules, position, square(rules, position, D, 3))
    for n in range(size(rules, position) * size(rules, position)):
        total += 7 * disc_at(rules, position, n) * n + 11 * flipped(rules, position, n)
        total += 13 * neighbours(rules, position, n) + 17 * empty_neighbours(rules, position, n)
        total += 19 * edge_distance(rules, position, n) + 23 * n * is_stable(rules, position, n)
    return total
"""


# Compiling them takes seconds: one family of each pack, the rest is slow.
ONE_OF_A_PACK = one_of_each("pack", "(6)")


@compiled
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n not in ONE_OF_A_PACK)) for n in OF_EVERY_FAMILY],
)
def test_compiled_and_interpreted_values_agree(name, tmp_path):
    of, path = game(name), tmp_path / "mine.py"
    first = "0" if of.rules and getattr(of.rules, "pits", "") == "ring" else "1"
    path.write_text((ALL_SOWING if of.pack == "sowing" else ALL_OTHELLO).replace("FIRST", first))
    agent = build(AgentSpec("minimax", depth=1, evaluate=f"{path}:evaluate"), of)
    interpreted = plain_copy(
        agent.user_evaluation.function, plain_names(of.family_name, of.family.from_words)
    )
    values = []
    for position in spread(name, 3):
        values.append(agent.kernels.position_value(agent.context, position.state))
        restored = of.family.from_words(position.state)
        assert values[-1] == plain_score(interpreted(agent.context, restored))
    assert len(set(values)) == 3


def test_names_are_importable_and_unique():
    for pack, names in (("sowing", sowing_names), ("othello", othello_names)):
        words = heuristic_function_names(f"games.{pack}")
        assert len(words) >= 10
        assert all(callable(getattr(names, word)) for word in words)
    for name in NAMES:
        assert len(set(heuristic_names(game(name)))) == len(heuristic_names(game(name)))


def heuristics(of):
    """The examples of the page about evaluations for one game: their names and their text."""
    page, name = ROOT / "docs/how-to/write-an-evaluation.md", f"bots/{of.partition('(')[0]}.py"
    (file,) = [each for each in blocks(page) if each.file == name]
    return re.findall(r"^def (\w+)", file.text, re.M), file.text


@pytest.mark.parametrize("of", ["kalah(6,4)", "othello"])
def test_heuristics_in_docs_distinguish_positions(of):
    names, text = heuristics(of)
    scope, values = {"__name__": "heuristics"}, {}
    exec(text, scope)
    words = plain_names(game(of).family_name, game(of).family.from_words)
    for name in names:
        evaluate = plain_copy(scope[name], words)
        values[name] = {evaluate(game(of).context, p.state) for p in spread(of, few(12, 4))}
    assert len(values) == 5
    assert all(len(each) > 1 for each in values.values()), values


@pytest.mark.slow  # five compilations
@compiled
@pytest.mark.parametrize("of", ["kalah(6,4)", "othello"])
def test_heuristics_in_docs_compile_and_play(of, tmp_path):
    names, text = heuristics(of)
    path, values = tmp_path / "mine.py", {}
    path.write_text(text)
    for name in names:
        agent = build(AgentSpec("minimax", depth=1, evaluate=f"{path}:{name}"), game(of))
        values[name] = [agent.choose(position).value for position in spread(of, 4)]
    assert all(len(set(each)) > 1 for each in values.values()), values


@pytest.mark.parametrize("of", ["kalah", "othello"])
def test_reference_lists_all_functions(of):
    text = (ROOT / "docs" / "reference" / "heuristic-functions.md").read_text()
    assert [word for word in heuristic_names(game(of)) if f"| `{word}(" not in text] == []


def test_reference_lists_the_whole_view():
    text = (ROOT / "docs" / "reference" / "python-bots.md").read_text()
    public = [name for name in vars(View) if not name.startswith("_")]
    internal = {"game", "position", "of_board", "noted"}
    assert [name for name in public if name not in internal and f"`view.{name}" not in text] == []


@compiled
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("return position.own[4]", "position.own is one number and has no index"),
        ("return position.opposite(2)", "a position has no 'opposite'"),
        ("return rules.last_lands(position, 2)", "rules has no 'last_lands'"),
    ],
)
def test_compile_error_lists_functions(tmp_path, line, reason):
    path = tmp_path / "mine.py"
    path.write_text(f"def evaluate(rules, position):\n    {line}\n")
    with pytest.raises(AgentFailure) as failed:
        build(AgentSpec("alphabeta", depth=1, evaluate=str(path)), game("kalah(6,4)"))
    assert f"line 2: {reason}" in str(failed.value)
    assert f"in: {line}" in str(failed.value)
    assert "functions that read a position: holes, hole, empty" in str(failed.value)


def test_undefined_function_suggests_import(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def evaluate(rules, position):\n    return beans(rules, position, 6)\n")
    with pytest.raises(AgentFailure) as failed:
        build(AgentSpec("alphabeta", depth=1, evaluate=str(path)), game("kalah(6,4)"))
    assert "write from agents.features.sowing import hole" in str(failed.value)
