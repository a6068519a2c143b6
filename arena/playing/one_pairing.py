"""One pairing of a run played in this process: alone, or once more for its moves."""

from collections.abc import Callable
from dataclasses import replace

from agents.wall.wall import Wall
from arena.planning.drawing import DrawnPlan, draw
from arena.planning.records import Games, moves_of
from arena.planning.tasks import Task, Verdicts
from arena.playing.referee_loop import stored_verdicts
from arena.playing.worker import Worker


def played_here(drawn: DrawnPlan, pairing: int, verdicts: Verdicts, wall: Wall) -> Games:
    """Both games of the pairing with their moves."""
    blocks = drawn.pairings.carried(pairing, pairing + 1)
    drawn = draw(replace(drawn.plan, keep_moves=True), drawn.openings, drawn.pairings.fixed)
    task = Task(pairing, pairing + 1, verdicts, blocks)
    return wall.despite_losses(lambda: Worker(drawn, wall).play(task))


def replayer(drawn: DrawnPlan, wall: Wall) -> Callable[[int, Games], list[int]]:
    """A function that plays the game of a row again, for runs that kept no moves.

    It takes both games of the pairing, too.
    """

    def moves(row: int, games: Games) -> list[int]:
        pairing, leg = divmod(row, 2)
        verdicts = stored_verdicts(games, [pairing], first=pairing)
        return moves_of(played_here(drawn, pairing, verdicts, wall), leg)

    return moves
