"""Benchmarks of alpha-beta against C, open_spiel's Python, and a user's own evaluation."""

import importlib
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agents.core import AgentSpec, Weights
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent
from agents.search.context import NODES, VALUE, WEIGHTS
from benchmarks.c_program import compiled_program, compiler, search_in_c
from benchmarks.perft_rows import check_equal
from benchmarks.table import Row, per_second, skipped_row
from benchmarks.timing import best_of, timed_job
from games import Game, Position, game

REPEATS = 20
PLIES = (0, 4, 8, 12)  # from the start to the positions that both sides search
EVALUATIONS = Path(__file__).with_name("evaluations")

# The classroom weights: twice the banked beans plus those in play; every Othello term once.
LINEAR: Mapping[str, Weights] = {
    "kalah(6,4)": {"pot": (2.0,), "in_play": (1.0,)},
    "othello": dict.fromkeys(game("othello").all_features, (1.0,)),
}


class SearchOutcome(NamedTuple):
    """The result of a search; the value in thousandths."""

    nodes: int
    value: int
    slot: int


def searcher(name: str, depth: int, weights: Weights, evaluate: str | None = None) -> CompiledAgent:
    """Return the alpha-beta agent of a row."""
    spec = AgentSpec("alphabeta", depth=depth, weights=weights, evaluate=evaluate)
    agent = build(spec, game(name))
    assert isinstance(agent, CompiledAgent)
    return agent


def search_outcome(agent: CompiledAgent, position: Position | None = None) -> SearchOutcome:
    """Search a position, by default the start of the game."""
    begun = position or agent.game.start()
    slot = agent.kernels.choose(agent.context, begun.state, begun.side)
    return SearchOutcome(int(agent.context[NODES]), int(agent.context[VALUE]), int(slot))


def search_kalah(rounds: int) -> Row:
    """Compare kalah(6,4) to depth 12 with C."""
    return search_row("kalah(6,4)", "search_kalah.c", 12, rounds)


def search_othello(rounds: int) -> Row:
    """Compare Othello to depth 8 with C."""
    return search_row("othello", "search_othello.c", 8, rounds)


def search_row(name: str, source: str, depth: int, rounds: int) -> Row:
    """Compare our nodes per second with those of the C `source`, after checking the trees."""
    what, target = f"alpha-beta {depth}, {name}, nodes: C", 0.8
    if compiler() is None:
        return skipped_row(what, "no cc", target)
    agent = searcher(name, depth, LINEAR[name])
    features = len(agent.game.all_features)
    weights = [int(weight) for weight in agent.context[WEIGHTS : WEIGHTS + features]]
    ours = search_outcome(agent)
    with compiled_program(source) as program:
        check_equal(name, ours, SearchOutcome(*search_in_c(program, depth, 1, weights).found))
        seconds, against = best_of(
            rounds,
            timed_job(lambda: search_outcome(agent), REPEATS),
            lambda: search_in_c(program, depth, REPEATS, weights).seconds,
        )
    rates = per_second(ours.nodes / seconds), per_second(ours.nodes / against)
    return Row(what, *rates, against / seconds, target)


def depth_kalah(rounds: int) -> Row:
    """Compare kalah(6,4) to depth 8, pot difference, with open_spiel."""
    return open_spiel_row("kalah(6,4)", "mancala", 8, {"pot": (1.0,)}, pots, 100, rounds)


def depth_othello(rounds: int) -> Row:
    """Compare Othello to depth 6, ratio of discs, with open_spiel."""
    return open_spiel_row("othello", "othello", 6, {"disc": (1.0,)}, discs, 300, rounds)


def pots(state: Any) -> float:
    """Return the first player's pot difference in open_spiel's mancala."""
    cells = state.observation_tensor(0)
    return float(cells[7] - cells[0])


def discs(state: Any) -> float:
    """Return 100 (a - b) / (a + b) for the first player in open_spiel's Othello."""
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
    """Compare the seconds to equal depth and evaluation, after checking that values agree."""
    what = f"alpha-beta {depth}, {name}, to equal depth: open_spiel's Python"
    try:
        loaded = importlib.import_module("pyspiel").load_game(theirs)
        minimax = importlib.import_module("open_spiel.python.algorithms.minimax")
    except ImportError:
        return skipped_row(what, "no open_spiel", target)
    agent = searcher(name, depth, weights)
    both = [position_after_random_plies(agent.game, loaded, plies) for plies in PLIES]

    def ours() -> list[int]:
        return [search_outcome(agent, position).value for position, _ in both]

    def search(state: Any) -> int:
        options = {"value_function": value, "maximum_depth": depth}
        options |= {
            "maximizing_player_id": 0
        }  # the default is the mover of each state, which changes the sign
        return round(1000 * float(minimax.alpha_beta_search(loaded, state, **options)[0]))

    def against() -> list[int]:
        return [search(state) for _, state in both]

    signs = [1 if position.mover == 0 else -1 for position, _ in both]
    check_equal(name, [sign * each for sign, each in zip(signs, ours(), strict=True)], against())
    seconds = best_of(rounds, timed_job(ours, REPEATS), timed_job(against))
    times = f"{1e6 * seconds[0]:.0f} us", f"{1e6 * seconds[1]:.0f} us"
    return Row(what, *times, seconds[1] / seconds[0], target)


def position_after_random_plies(of: Game, loaded: Any, plies: int) -> tuple[Position, Any]:
    """Return a position after random plies, here and in open_spiel; squares have equal numbers."""
    rng, position, state = random.Random(plies), of.start(), loaded.new_initial_state()
    for _ in range(plies):
        move = rng.choice(of.legal(position))
        rows = (1, 8) if loaded.get_type().short_name == "mancala" else (0, 0)
        state.apply_action(move + rows[position.mover])
        position = of.play(position, move)
    return position, state


def own_kalah(rounds: int) -> Row:
    """Measure a user's file with the formula of the Kalah row."""
    return own_row("kalah(6,4)", "kalah.py", 12, rounds)


def own_othello(rounds: int) -> Row:
    """Measure a user's file with the formula of the Othello row."""
    return own_row("othello", "othello.py", 8, rounds)


def own_row(name: str, file: str, depth: int, rounds: int) -> Row:
    """Compare nodes per second of a user's evaluation with the built-in one of equal formula."""
    own = searcher(name, depth, {}, f"{EVALUATIONS / file}:evaluate")
    built_in = searcher(name, depth, LINEAR[name])
    nodes = search_outcome(own).nodes
    check_equal(name, search_outcome(own), search_outcome(built_in))
    ours, against = best_of(
        rounds,
        timed_job(lambda: search_outcome(own), REPEATS),
        timed_job(lambda: search_outcome(built_in), REPEATS),
    )
    what = f"alpha-beta {depth}, {name}, nodes, a user's own evaluation: built-in"
    return Row(what, per_second(nodes / ours), per_second(nodes / against), against / ours, 0.85)
