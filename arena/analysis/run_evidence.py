"""The evidence of a run that was just played, with what lies around it."""

from collections.abc import Callable
from pathlib import Path

from agents.sandbox.sandbox import Wall
from arena.analysis.earlier_looks import EarlierLooks
from arena.analysis.evidence import Evidence, evidence_of
from arena.planning.games import Parts
from arena.planning.schedule import DrawnPlan
from arena.playing.worker import replayer


def evidence_of_run(
    drawn: DrawnPlan,
    parts: Parts,
    played: int,
    directory: Path,
    wall: Wall,
    progress: Callable[[str], None],
) -> Evidence:
    """So many `played` pairings, their census, agents without chance and earlier looks."""
    census = drawn.census if played == drawn.pairings.total else []
    return evidence_of(
        drawn.plan,
        parts,
        census,
        lambda: drawn.starts,
        replayer(drawn, wall),
        wall,
        progress,
        drawn.without_chance,
        EarlierLooks(directory).count,
        drawn.openings.plies,
    )
