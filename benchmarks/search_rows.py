"""Alpha-beta: against C, against open_spiel's Python, a user's own evaluation against ours."""

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
from benchmarks.table import Row, per_second, skipped
from benchmarks.timing import best_of, timed_job
from games import Game, Position, game

REPEATS = 20
PLIES = (0, 4, 8, 12)  # from the start to where open_spiel is searched too
EVALUATIONS = Path(__file__).with_name("evaluations")

# The classroom's: twice the beans banked and once those in play; every Othello term once.
LINEAR: Mapping[str, Weights] = {
    "kalah(6,4)": {"pot": (2.0,), "in_play": (1.0,)},
    "othello": dict.fromkeys(game("othello").all_features, (1.0,)),
}


class SearchOutcome(NamedTuple):
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


def search_outcome(agent: CompiledAgent, position: Position | None = None) -> SearchOutcome:
    """The search from a position, the start of the game if none is given."""
    begun = position or agent.game.start()
    slot = agent.kernels.choose(agent.context, begun.state, begun.side)
    return SearchOutcome(int(agent.context[NODES]), int(agent.context[VALUE]), int(slot))


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
    both = [position_after_random_plies(agent.game, loaded, plies) for plies in PLIES]

    def ours() -> list[int]:
        return [search_outcome(agent, position).value for position, _ in both]

    def search(state: Any) -> int:
        asked = {"value_function": value, "maximum_depth": depth}
        asked |= {"maximizing_player_id": 0}  # else each state's mover, and the value is his
        return round(1000 * float(minimax.alpha_beta_search(loaded, state, **asked)[0]))

    def against() -> list[int]:
        return [search(state) for _, state in both]

    signs = [1 if position.mover == 0 else -1 for position, _ in both]
    check_equal(name, [sign * each for sign, each in zip(signs, ours(), strict=True)], against())
    seconds = best_of(rounds, timed_job(ours, REPEATS), timed_job(against))
    times = f"{1e6 * seconds[0]:.0f} us", f"{1e6 * seconds[1]:.0f} us"
    return Row(what, *times, seconds[1] / seconds[0], target)


def position_after_random_plies(of: Game, loaded: Any, plies: int) -> tuple[Position, Any]:
    """The position after random plies, here and in open_spiel, whose squares are ours."""
    rng, position, state = random.Random(plies), of.start(), loaded.new_initial_state()
    for _ in range(plies):
        move = rng.choice(of.legal(position))
        rows = (1, 8) if loaded.get_type().short_name == "mancala" else (0, 0)
        state.apply_action(move + rows[position.mover])
        position = of.play(position, move)
    return position, state


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
    nodes = search_outcome(own).nodes
    check_equal(name, search_outcome(own), search_outcome(built_in))
    ours, against = best_of(
        rounds,
        timed_job(lambda: search_outcome(own), REPEATS),
        timed_job(lambda: search_outcome(built_in), REPEATS),
    )
    what = f"alpha-beta {depth}, {name}, nodes, a user's own evaluation: built-in"
    return Row(what, per_second(nodes / ours), per_second(nodes / against), against / ours, 0.85)
