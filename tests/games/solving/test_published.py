"""Published values, slow: the table of the paper, larger starts, golden positions, FFO endgames."""

import csv
import json
import random
from pathlib import Path

import pytest

from agents.core import AgentSpec
from agents.registry import build
from games import Position, game
from games.solving import Bounds, SolverSettings, solver_of
from games.solving.solver import OUTCOMES, sign
from tests.games.solving.test_solver import PRESET_OF, SIGN

GOLDEN = Path(__file__).parents[2] / "golden"
# Beans of the starts that are solved in a minute or so of one processor.
MOST = {"kalah-paper": 50, "kalah": 50, "kalah-2022": 40}
SIGN_OF = {word: letter for letter, word in SIGN.items()}


def rows() -> list[dict[str, str]]:
    """The sizes of the golden table that are solved here."""
    stored = csv.DictReader((GOLDEN / "kalah/solved.csv").read_text().splitlines())
    return [
        row
        for row in stored
        if row["ruleset"] in PRESET_OF
        and 2 * int(row["m"]) * int(row["n"]) <= MOST[PRESET_OF[row["ruleset"]]]
    ]


def name_of(row: dict[str, str]) -> str:
    return f"{PRESET_OF[row['ruleset']]}({row['m']},{row['n']})"


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=name_of)
def test_a_start_has_its_published_value(row):
    of = game(name_of(row))
    bounds = solver_of(of, SolverSettings(table_bits=22)).margin(of.start())
    assert bounds.outcome == SIGN[row["wdl"]]
    if row["first_player_margin"]:
        assert bounds.exact
        assert bounds.low == int(row["first_player_margin"])
    if row["ruleset"] == "paper":  # the table of the paper stands beside each ruleset
        assert row["paper_table10"] == SIGN_OF[bounds.outcome]
        assert row["paper_table9_margin"] in ("", str(bounds.low))


def golden_positions() -> list[dict]:
    """Positions whose values two methods found, six rulesets, some set up by hand."""
    lines = (GOLDEN / "kalah/exact_positions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def agrees(each: dict, solver) -> None:
    """The margin of the position and of every move."""
    of = solver.game
    position = of.parse(each["position"])
    bounds = solver.margin(position)
    assert bounds == Bounds(*2 * [each["margin"]]), each
    assert bounds.outcome == each["outcome"] == OUTCOMES[sign(each["margin"])]
    moves = {of.move_text(position, m): b.low for m, b in solver.moves(position).items()}
    assert moves == each["moves"], each


@pytest.mark.parametrize(
    "most", [20, pytest.param(100, marks=pytest.mark.slow)], ids=["few-beans", "all"]
)
def test_golden_positions_have_their_values_and_so_have_their_moves(most):
    solvers = {}
    chosen = [each for each in golden_positions() if each["beans"] <= most]
    for each in chosen[:: 1 if most > 20 else 6]:
        name = each["game"]
        if name not in solvers:
            beans = 6 if most <= 20 else None
            solvers[name] = solver_of(game(name), SolverSettings(14 if most <= 20 else 20, beans))
        agrees(each, solvers[name])


def ffo(low: int, high: int) -> list[dict]:
    """Entries of the FFO suites by number."""
    files = [GOLDEN / "othello" / name for name in ("ffo1_39.json", "ffo40_59.json")]
    entries = [entry for file in files for entry in json.loads(file.read_text())]
    return [entry for entry in entries if low <= entry["ffo"] <= high]


@pytest.mark.parametrize(
    "entry",
    [
        *ffo(1, 2),
        *(pytest.param(entry, marks=pytest.mark.slow) for entry in ffo(3, 44)),
    ],
    ids=lambda entry: f"FFO-{entry['ffo']}",
)
def test_an_ffo_endgame_is_exact(entry):
    of = game("othello")
    bounds = solver_of(of, SolverSettings(table_bits=19)).margin(
        of.parse(f"{entry['board']} {entry['stm']}")
    )
    assert bounds == Bounds(entry["score"], entry["score"])


def after_14_plies() -> list[Position]:
    """Positions of 6x6 after 14 plies of random games."""
    of, chance, found = game("othello(6)"), random.Random(6), []
    while len(found) < 3:
        position = of.start()
        for _ in range(14):
            legal = of.legal(position)
            if not legal:
                break
            position = of.play(position, chance.choice(legal))
        if of.legal(position):
            found.append(position)
    return found


@pytest.mark.slow
def test_6x6_is_exact_from_14_plies_in():
    of = game("othello(6)")
    special = solver_of(of, SolverSettings(table_bits=20))
    plain = build(AgentSpec("alphabeta", endgame=64, table_bits=20), of)
    for position in after_14_plies():
        bounds = special.margin(position)
        assert bounds.exact
        assert plain.choose(position).value == bounds.low
