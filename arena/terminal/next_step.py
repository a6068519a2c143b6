"""The next command for a user, printed at the end of a run."""

import shlex
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.protocols import answers_any_position
from agents.registry import user_code_reason
from arena.planning.games import GameParts, Termination
from arena.planning.openings.openings import opening_moves
from arena.planning.schedule import Schedule
from games.base.cli import shell_command

MOST_GAMES = 10_000  # that are searched for a turn of a user's bot


class Turn(NamedTuple):
    """A turn in a run: the row of the game, and the moves before the turn."""

    row: int
    ply: int


def next_step(drawn: Schedule, directory: Path, parts: GameParts) -> str:
    """Return the command that explains a move of the user's bot, or creates a bot."""
    turn = first_bot_turn(drawn, parts) if drawn.plan.keep_moves else None
    if turn is None:
        return f"next, a bot of your own: {shell_command('pitflip new bot')}"
    place = f"{directory}#{turn.row}@{turn.ply}"
    command = shlex.join(["pitflip", "game", place, "explain"])
    return f"next, why it played a move: {shell_command(command)}"


def first_bot_turn(drawn: Schedule, parts: GameParts) -> Turn | None:
    """Return the first turn after an opening at which a user's bot had a choice.

    The bot must not have forfeited the game, and must need only the position.
    """
    own = [
        place
        for place, spec in enumerate(drawn.specs)
        if user_code_reason(spec) and answers_any_position(spec)
    ]
    before = 0
    for games in parts() if own else ():
        there = np.isin(games.first, own) | np.isin(games.second, own)
        for row in np.flatnonzero(there & (games.termination == Termination.NORMAL)).tolist():
            opening = opening_moves(drawn.game, drawn.openings.slots[games.opening[row]])
            position = drawn.game.start()
            for move in opening:
                position = drawn.game.play(position, move)
            mover = (games.first, games.second)[position.mover][row]
            if mover in own and len(drawn.game.legal(position)) > 1:
                return Turn(before + row, len(opening))
        before += len(games)
        if before >= MOST_GAMES:
            break
    return None
