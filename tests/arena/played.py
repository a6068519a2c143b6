"""Small runs for tests: games written by hand, and games really played by a slow loop."""

import hashlib
from itertools import combinations
from pathlib import Path

import numpy as np

from agents.core import AgentSpec
from agents.registry import build
from arena.analysis.checks.registry import CHECKS, Check, check_kind
from arena.analysis.evidence import evidence_of
from arena.analysis.summary import summarise
from arena.config.experiment import Experiment
from arena.planning.games import COLUMNS, DRAW, LOSS, WIN, Games, Termination
from arena.planning.openings.openings import Openings, openings_from_lines
from arena.planning.plan import Plan
from games.base.schema import default_values

NUMBERS = {"W": WIN, "D": DRAW, "L": LOSS}


def experiment(agents, *checks, of="kalah(6,4)", **more):
    """An experiment; `agents` are names of random agents, or specs by name."""
    specs = agents if isinstance(agents, dict) else {name: AgentSpec("random") for name in agents}
    made = [check_of(check) for check in checks]
    matches = tuple(combinations(range(len(specs)), 2))
    plan = Plan(game_name=of, agents=specs, matches=matches, **more)
    return Experiment("demo", Path("demo.toml"), plan, tuple(made))


def check_of(table):
    """The check of a table that is known to be right."""
    (test,) = (name for name in CHECKS if name in table)
    values = {key: value for key, value in table.items() if key != "that"}
    return Check(table["that"], test, default_values(check_kind(test).keys) | values)


def columns(rows, moves=None, traces=None):
    """Games from one dictionary a row; columns that are not given are 0."""
    made = {
        name: np.array([row.get(name, 0) for row in rows]).astype(kind)
        for name, kind in COLUMNS.items()
    }
    flat = None if moves is None else np.array([m for game in moves for m in game], np.int16)
    return Games(made, flat, traces or {})


def games_by_hand(*matches, faults=None):
    """Games of matches `(a, b, pairings)`; a pairing is its opening, two letters and two ids.

    The letters are the results of `a`, first as first mover; without ids all games differ.
    `faults` are terminations by row.
    """
    rows = []
    for a, b, pairings in matches:
        for opening, letters, *ids in pairings:
            pair = len(rows) // 2
            one, other = ids or (1_000_000 + len(rows), 1_000_001 + len(rows))
            shared = {"pair": pair, "opening": opening, "seed": 7 * pair + 1, "plies": 30}
            points = NUMBERS[letters[0]], 2 - NUMBERS[letters[1]]
            rows.append(shared | leg(0, a, b, points[0], one))
            rows.append(shared | leg(1, b, a, points[1], other))
    for row, how in (faults or {}).items():
        rows[row]["termination"] = how
    return columns(rows)


def leg(number, first, second, result, game_id):
    costs = {"first_moves": 10, "second_moves": 10, "first_nodes": 50, "second_nodes": 20}
    clock = {"first_nanoseconds": 20_000_000, "second_nanoseconds": 10_000_000}
    seats = {"leg": number, "first": first, "second": second}
    margin = 8 * (result - 1)
    return seats | costs | clock | {"result": result, "game_id": game_id, "margin": margin}


def play_lines(asked, lines):
    """Every pair of agents on every line, both ways, with moves; the openings too."""
    of = asked.plan.game
    agents = [build(spec, of) for spec in asked.plan.agents.values()]
    rows, moves, pair = [], [], 0
    for a, b in asked.plan.matches:
        for opening, line in enumerate(lines):
            for number, seats in enumerate(((a, b), (b, a))):
                played, margin = one_game(of, [agents[seat] for seat in seats], line, pair)
                result = WIN if margin > 0 else DRAW if margin == 0 else LOSS
                word = hashlib.blake2b(bytes(m + 1 for m in played), digest_size=8).digest()
                row = leg(number, *seats, result, int.from_bytes(word, "little"))
                shared = {"pair": pair, "opening": opening, "margin": margin, "seed": pair + 1}
                rows.append(row | shared | {"plies": len(played)})
                moves.append(played)
            pair += 1
    return columns(rows, moves), openings_of(of, lines)


def one_game(of, agents, line, seed):
    """Moves and margin of one game between the first and the second agent."""
    for place, agent in enumerate(agents):
        agent.start(2 * seed + place)
    position, moves = of.start(), list(line)
    for move in line:
        position = of.play(position, move)
    while not of.over(position):
        moves.append(agents[position.mover].choose(position).move)
        position = of.play(position, moves[-1])
    return moves, of.margin(position)


def summarise_games(games, plan, *, census=(), **more):
    """The summary of games that were played by a plan."""
    return summarise(evidence_of(plan, lambda: [games], census=census), **more)


def openings_of(of, lines) -> Openings:
    return openings_from_lines(of, [tuple(line) for line in lines], finite=True)


FORFEIT = Termination.RAISED
