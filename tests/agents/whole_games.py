"""Whole games between two compiled agents, many in one compiled call."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.search.compiled_agent import CompiledAgent
from agents.search.game_loop import LENGTH, MARGIN, NO_MOVE, NODES_SPENT, RESULTS
from games import Game

SHORTEST_ROOM = 64
NOT_BEGUN = -2

Openings = Sequence[Sequence[int]]
Seeds = Sequence[tuple[int, int]]


class PlayedGame(NamedTuple):
    """The moves with those of the opening, and what came of them, first player first."""

    moves: tuple[int, ...]
    margin: int
    nodes: tuple[int, int]


def play_games(
    of: Game, first: CompiledAgent, second: CompiledAgent, openings: Openings, seeds: Seeds
) -> list[PlayedGame]:
    """One game from each opening, with the seeds of both players; forced passes are not asked for.

    An opening that is not legal raises IllegalMove; an own evaluation that raises, AgentFailure.
    """
    if first is second:
        raise ValueError("a game needs two agents: build the second one from the same spec")
    rows = _rows(of, openings)
    words = np.array(seeds, np.uint64).reshape(len(openings), 2)
    played: list[PlayedGame] = []
    room = max(SHORTEST_ROOM, 2 * rows.shape[1])
    while len(played) < len(openings):
        at = len(played)
        slots, results = _played(of, first, second, rows[at:], words[at:], room)
        played += [_game(of, slots[i], results[i]) for i in range(len(results))]
        room *= 2  # if any are left, the next one did not fit
    return played


def _rows(of: Game, openings: Openings) -> NDArray[np.int16]:
    """The openings as slots, shorter ones filled up; each is checked once."""
    known = {opening: _slots(of, opening) for opening in set(map(tuple, openings))}
    longest = max(map(len, known.values()), default=0)
    rows = np.full((len(openings), longest), NO_MOVE, np.int16)
    for row, opening in zip(rows, openings, strict=True):
        row[: len(opening)] = known[tuple(opening)]
    return rows


def _slots(of: Game, opening: Sequence[int]) -> NDArray[np.int16]:
    position = of.start()
    for move in opening:
        position = of.play(position, move)
    return of.slots_of(opening)


def _played(
    of: Game,
    first: CompiledAgent,
    second: CompiledAgent,
    openings: NDArray[np.int16],
    seeds: NDArray[np.uint64],
    room: int,
) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Moves and results of the games up to the first that does not fit into `room`."""
    slots = np.full((len(openings), room), NO_MOVE, np.int16)
    results = np.full((len(openings), RESULTS), NOT_BEGUN, np.int64)
    try:
        played = first.kernels.play_games(
            first.context, second.context, of.start().state, openings, seeds, slots, results
        )
    except Exception as error:
        begun = int((results[:, LENGTH] != NOT_BEGUN).sum())
        _blame(of, (first, second), slots[begun - 1], error)
        raise
    return slots[:played], results[:played]


def _blame(
    of: Game,
    agents: tuple[CompiledAgent, CompiledAgent],
    slots: NDArray[np.int16],
    error: Exception,
) -> None:
    """Raise the failure of the agent that was to move when its own evaluation raised."""
    position = of.start()
    for slot in slots[slots != NO_MOVE].tolist():
        position = of.play(position, of.moves_of(slot))
    own = agents[of.mover(position)].own
    if own is not None:
        raise own.failure(position, error) from None


def _game(of: Game, slots: NDArray[np.int16], results: NDArray[np.int64]) -> PlayedGame:
    moves = tuple(of.moves_of(slots[: results[LENGTH]]).tolist())
    nodes = results[NODES_SPENT : NODES_SPENT + 2]
    return PlayedGame(moves, int(results[MARGIN]), (int(nodes[0]), int(nodes[1])))
