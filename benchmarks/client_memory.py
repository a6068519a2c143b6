"""The client of a cluster alone: plays random games there, and prints its peak memory in bytes."""

import resource
import sys
import tempfile
from pathlib import Path

from agents import AgentSpec
from arena.keeping.journal import Journal
from arena.planning.drawing import draw
from arena.planning.openings_spec import OpeningsSpec
from arena.planning.plan import Plan
from arena.playing.cluster.connection import Cluster
from arena.playing.interrupts import Interrupts
from arena.playing.tournament import play
from arena.playing.workers import PlayOptions

UNIT = 1 if sys.platform == "darwin" else 1024  # of what the system says


def peak(address: str, pairs: int) -> int:
    """The peak while so many pairings are played and kept; tables come later."""
    plan = Plan(
        game="kalah(6,4)",
        agents={"a": AgentSpec("random"), "b": AgentSpec("random")},
        matches=((0, 1),),
        openings=OpeningsSpec("none", {}, repeat=True),
        pairs=pairs,
        keep_moves=False,
    )
    drawn = draw(plan)
    with (
        tempfile.TemporaryDirectory() as directory,
        Journal(Path(directory), "digest") as journal,
        Cluster(address) as cluster,
    ):
        play(drawn, journal, PlayOptions(1, Interrupts(), cluster=cluster), lambda _: None)
        assert journal.finished() == pairs
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


if __name__ == "__main__":
    print(peak(sys.argv[1], int(sys.argv[2])))
