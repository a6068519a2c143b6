"""What to do next, said at the end of a run: a command that can be pasted."""

import shlex
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.protocols import answers_any_position
from agents.registry import users_code
from arena.planning.games import GameParts, Termination
from arena.planning.openings.openings import moves_of
from arena.planning.schedule import DrawnPlan
from games.base.cli import shell_command

MOST_GAMES = 10_000  # in which a turn of a user's agent is looked for


class Turn(NamedTuple):
    """A place in a run: the row of a game, and how many moves were made in it."""

    row: int
    ply: int


def next_step(drawn: DrawnPlan, directory: Path, parts: GameParts) -> str:
    """Return the command that explains a move of the user's agent, or begins a bot."""
    turn = first_own_turn(drawn, parts) if drawn.plan.keep_moves else None
    if turn is None:
        return f"next, a bot of your own: {shell_command('pitflip new bot')}"
    place = f"{directory}#{turn.row}@{turn.ply}"
    return f"next, what it thinks: {shell_command(shlex.join(['pitflip', 'explain', place]))}"


def first_own_turn(drawn: DrawnPlan, parts: GameParts) -> Turn | None:
    """Return the first turn after an opening at which a user's agent chose between moves.

    The agent must be one that can be asked again: it did not forfeit the game, and it needs no
    more than the position.
    """
    own = [
        place
        for place, spec in enumerate(drawn.specs)
        if users_code(spec) and answers_any_position(spec)
    ]
    before = 0
    for games in parts() if own else ():
        there = np.isin(games.first, own) | np.isin(games.second, own)
        for row in np.flatnonzero(there & (games.termination == Termination.NORMAL)).tolist():
            opening = moves_of(drawn.of, drawn.openings.slots[games.opening[row]])
            position = drawn.of.start()
            for move in opening:
                position = drawn.of.play(position, move)
            mover = (games.first, games.second)[position.mover][row]
            if mover in own and len(drawn.of.legal(position)) > 1:
                return Turn(before + row, len(opening))
        before += len(games)
        if before >= MOST_GAMES:
            break
    return None
