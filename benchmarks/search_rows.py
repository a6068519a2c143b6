"""Alpha-beta: against C, against open_spiel's Python, a user's own evaluation against ours."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agents import AgentSpec, build
from agents.compiled import CompiledAgent
from agents.core import Weights
from agents.features import all_features
from agents.kernels.layout import NODES, VALUE, WEIGHTS
from benchmarks.c_program import built, compiler, search_in_c
from benchmarks.perft_rows import check_equal
from benchmarks.table import Row, per_second, skipped
from benchmarks.timing import best_of, timed
from games import game

REPEATS = 20
EVALUATIONS = Path(__file__).with_name("evaluations")

# The classroom's: twice the beans banked and once those in play; every Othello term once.
LINEAR: Mapping[str, Weights] = {
    "kalah(6,4)": {"pot": (2.0,), "in_play": (1.0,)},
    "othello": dict.fromkeys(all_features(game("othello")), (1.0,)),
}


class Found(NamedTuple):
    """What a search ended with; the value in thousandths."""

    nodes: int
    value: int
    slot: int


def searcher(name: str, depth: int, weights: Weights, evaluate: str | None = None) -> CompiledAgent:
    """The alpha-beta agent of a row."""
    spec = AgentSpec("alphabeta", depth=depth, weights=weights, evaluate=evaluate)
    agent = build(spec, game(name))
    assert isinstance(agent, CompiledAgent)
    return agent


def found(agent: CompiledAgent) -> Found:
    """The search from the start of the game."""
    slot = agent.kernels.choose(agent.context, agent.game.start().state, 0)
    return Found(int(agent.context[NODES]), int(agent.context[VALUE]), int(slot))


def search_kalah(rounds: int) -> Row:
    """Kalah (6,4), depth 12."""
    return search_row("kalah(6,4)", "search_kalah.c", 12, rounds)


def search_othello(rounds: int) -> Row:
    """Othello, depth 8."""
    return search_row("othello", "search_othello.c", 8, rounds)


def search_row(name: str, source: str, depth: int, rounds: int) -> Row:
    """Nodes per second of ours and of the C `source`, once both have searched the same tree."""
    what, target = f"alpha-beta {depth}, {name}, nodes: C", 0.8
    if compiler() is None:
        return skipped(what, "no cc", target)
    agent = searcher(name, depth, LINEAR[name])
    features = len(all_features(agent.game))
    weights = [int(weight) for weight in agent.context[WEIGHTS : WEIGHTS + features]]
    ours = found(agent)
    with built(source) as program:
        check_equal(name, ours, Found(*search_in_c(program, depth, 1, weights).found))
        seconds, against = best_of(
            rounds,
            timed(lambda: found(agent), REPEATS),
            lambda: search_in_c(program, depth, REPEATS, weights).seconds,
        )
    rates = per_second(ours.nodes / seconds), per_second(ours.nodes / against)
    return Row(what, *rates, against / seconds, target)


def depth_kalah(rounds: int) -> Row:
    """Pot difference, Kalah (6,4) to depth 8."""
    return open_spiel_row("kalah(6,4)", "mancala", 8, {"pot": (1.0,)}, pots, 100, rounds)


def depth_othello(rounds: int) -> Row:
    """The ratio of discs, Othello to depth 6."""
    return open_spiel_row("othello", "othello", 6, {"disc": (1.0,)}, discs, 300, rounds)


def pots(state: Any) -> float:
    """Pot difference of open_spiel's mancala for the first player."""
    cells = state.observation_tensor(0)
    return float(cells[7] - cells[0])


def discs(state: Any) -> float:
    """100 (a - b) / (a + b) of open_spiel's Othello for the first player."""
    planes = state.observation_tensor(0)  # empty squares, own discs, the other's
    own, other = sum(planes[64:128]), sum(planes[128:192])
    return float(100.0 * (own - other) / (own + other))


def open_spiel_row(
    name: str,
    theirs: str,
    depth: int,
    weights: Weights,
    value: Callable[[Any], float],
    target: float,
    rounds: int,
) -> Row:
    """Seconds to the same depth with the same heuristic, once both have the same value."""
    what = f"alpha-beta {depth}, {name}, to equal depth: open_spiel's Python"
    try:
        loaded = importlib.import_module("pyspiel").load_game(theirs)
        minimax = importlib.import_module("open_spiel.python.algorithms.minimax")
    except ImportError:
        return skipped(what, "no open_spiel", target)
    agent = searcher(name, depth, weights)

    def search() -> float:
        asked = {"value_function": value, "maximum_depth": depth}
        best: float = minimax.alpha_beta_search(loaded, **asked)[0]
        return best

    check_equal(name, found(agent).value, round(1000 * search()))
    ours, against = best_of(rounds, timed(lambda: found(agent), REPEATS), timed(search))
    times = f"{1e6 * ours:.0f} us", f"{1e6 * against:.0f} us"
    return Row(what, *times, against / ours, target)


def own_kalah(rounds: int) -> Row:
    """A user's file with the formula of the Kalah row."""
    return own_row("kalah(6,4)", "kalah.py", 12, rounds)


def own_othello(rounds: int) -> Row:
    """A user's file with the formula of the Othello row."""
    return own_row("othello", "othello.py", 8, rounds)


def own_row(name: str, file: str, depth: int, rounds: int) -> Row:
    """Nodes per second with a user's evaluation and with ours of the same formula."""
    own = searcher(name, depth, {}, f"{EVALUATIONS / file}:evaluate")
    built_in = searcher(name, depth, LINEAR[name])
    nodes = found(own).nodes
    check_equal(name, found(own), found(built_in))
    ours, against = best_of(
        rounds, timed(lambda: found(own), REPEATS), timed(lambda: found(built_in), REPEATS)
    )
    what = f"alpha-beta {depth}, {name}, nodes, a user's own evaluation: built-in"
    return Row(what, per_second(nodes / ours), per_second(nodes / against), against / ours, 0.85)
