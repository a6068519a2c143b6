"""What games of one sort are like: their length, choices, forced moves, draws, extra turns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from agents.core import AgentSpec
from agents.registry import build
from agents.search.compiled_agent import CompiledAgent, decided
from arena.stats.elo import elo_estimate
from arena.stats.estimate import Estimate
from arena.stats.intervals import score_estimate
from games import Game, Position
from games.base.errors import Mistake
from games.solving import Budget, SolverSettings, solver_of
from games.solving.extra_turns import ExtraTurns, extra_turns, moves_by_turn
from games.solving.solution import hopeless, still_open
from games.solving.solver import Bounds

OPENING_PLIES = 4  # random, so that players without chance do not repeat themselves
LONGEST = 2000
Line = Sequence[Position]


@dataclass(frozen=True, slots=True)
class GameCounts:
    """Sums over games from their openings on; a forced pass is a ply, and a forced one."""

    games: int
    plies: int
    choices: int  # legal moves, over all plies
    forced: int  # plies with one legal move
    extra: int  # plies with an extra turn and another move
    draws: int
    half_points: int  # of the first mover


def counts_of(of: Game, lines: Iterable[Line]) -> GameCounts:
    """The sums over games, each a line of positions of which the last is over."""
    sums = [0] * 7
    for line in lines:
        sums[0] += 1
        for position in line[:-1]:
            legal = len(of.legal(position))
            sums[1] += 1
            sums[2] += legal
            sums[3] += legal == 1
            sums[4] += all(moves_by_turn(of, position))
        margin = first_mover_margin(of, line)
        sums[5] += margin == 0
        sums[6] += 1 + (margin > 0) - (margin < 0)
    return GameCounts(*sums)


def first_mover_margin(of: Game, line: Line) -> int:
    """Return the final margin for the side to move where the line begins, after its opening."""
    return of.margin(line[-1]) * (1 - 2 * line[0].mover)


def openings(of: Game, number: int, seed: int) -> list[Line]:
    """As many lines of random moves, none of them over; each is another if there are enough."""
    chance = np.random.default_rng(seed)
    found: dict[Position, Line] = {}
    for _ in range(50 * number):
        line = [of.start()]
        while len(line) <= OPENING_PLIES and not of.over(line[-1]):
            line.append(of.play(line[-1], int(chance.choice(of.legal(line[-1])))))
        if not of.over(line[-1]):
            found.setdefault(line[-1], line)
        if len(found) == number:
            break
    return list(found.values()) or [[of.start()]]


def played(of: Game, players: Sequence[CompiledAgent], opening: Line, seed: int) -> Line:
    """The game of two players, that of side 0 first, from the end of an opening."""
    line = [opening[-1]]
    for place, player in enumerate(players):
        player.start(2 * seed + place)
    while not of.over(line[-1]) and len(line) < LONGEST:
        move = decided(players[line[-1].mover], line[-1]).move
        line.append(of.play(line[-1], move))
    if not of.over(line[-1]):
        raise Mistake(f"{of.name}: a game was not over after {LONGEST:,} moves")
    return line


def player(of: Game, nodes: int | None) -> CompiledAgent:
    """A player of a strength: so many positions a move, or random moves."""
    spec = AgentSpec("random") if nodes is None else strong(of, nodes)
    agent = build(spec, of)
    assert isinstance(agent, CompiledAgent)  # both kinds are
    return agent


def strong(of: Game, nodes: int) -> AgentSpec:
    """The shipped player, where the game has weights for it."""
    return AgentSpec("smart" if of.has("defaults") else "alphabeta", nodes=nodes)


def self_play(of: Game, nodes: int | None, number: int, seed: int) -> list[Line]:
    """Games of a player against its twin, one an opening."""
    twins = player(of, nodes), player(of, nodes)
    return [played(of, twins, line, place) for place, line in enumerate(openings(of, number, seed))]


def first_mover(of: Game, lines: Sequence[Line]) -> Estimate:
    """The first mover's score with its interval."""
    scores = [(1 + np.sign(first_mover_margin(of, line))) / 2 for line in lines]
    return score_estimate(np.arange(len(lines)), scores)


def doubling(of: Game, nodes: int, number: int, seed: int) -> Estimate:
    """Elo of twice as many nodes, from a pairing an opening."""
    more, less = player(of, 2 * nodes), player(of, nodes)
    scores = []
    for place, line in enumerate(openings(of, number, seed)):
        first, second = (
            np.sign(of.margin(played(of, seats, line, place)[-1]))
            for seats in ((more, less), (less, more))
        )
        scores.append((2 + first - second) / 4)
    return elo_estimate(score_estimate(np.arange(len(scores)), scores))


def exact_value(of: Game, seconds: float) -> Bounds | None:
    """The margin of the start for who moves first, as far as known; None if it is hopeless."""
    if hopeless(of, of.start()):
        return None
    solver = solver_of(of, SolverSettings(database_seconds=seconds))
    solver.prepare()
    return solver.margin(of.start(), Budget(seconds=seconds))


def near_the_end(of: Game, lines: Iterable[Line], beans: int) -> Iterator[Position]:
    """The positions of games with few beans in play, each once."""
    seen: set[Position] = set()
    for line in lines:
        for position in line[:-1]:
            if (still_open(of, position) or 0) <= beans and position not in seen:
                seen.add(position)
                yield position


def best_extra_turns(of: Game, lines: Iterable[Line], beans: int) -> ExtraTurns:
    """How often the best extra turn is not best, in positions near the end of games."""
    solver = solver_of(of, SolverSettings(database_seconds=5.0))
    solver.prepare()
    return extra_turns(solver, near_the_end(of, lines, beans))
