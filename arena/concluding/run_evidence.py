"""The evidence of a run that was just played, with what lies around it."""

from collections.abc import Callable
from pathlib import Path

from agents.wall.wall import Wall
from arena.concluding.earlier_looks import EarlierLooks
from arena.concluding.evidence import Evidence, evidence_of
from arena.planning.drawing import DrawnPlan
from arena.planning.records import Games
from arena.playing.one_pairing import replayer


def evidence_of_run(
    drawn: DrawnPlan,
    games: Games,
    directory: Path,
    wall: Wall,
    progress: Callable[[str], None],
) -> Evidence:
    """The games of a run, its census, its agents without chance and its earlier looks."""
    census = drawn.census if len(games) == 2 * drawn.pairings.total else []
    return evidence_of(
        drawn.plan,
        games,
        census,
        lambda: drawn.starts,
        replayer(drawn, games, wall),
        wall,
        progress,
        drawn.without_chance,
        EarlierLooks(directory).count,
    )
