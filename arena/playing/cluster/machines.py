"""The speed of a machine, from games that are the same on every machine."""

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from agents.core import AgentSpec
from arena.planning.openings_spec import OpeningsSpec
from arena.planning.plan import Plan
from arena.planning.schedule import make_schedule
from arena.planning.tasks import Task
from arena.storage import provenance

CALIBRATION_PLAN = Plan(
    game="kalah(6,4)",
    agents={"first": AgentSpec("alphabeta", depth=6), "second": AgentSpec("alphabeta", depth=6)},
    matches=((0, 1),),
    openings=OpeningsSpec("random", {"random_plies": 6}),
    pairs=10,
)
TURNS = 8
REQUIRED_PACKAGES = (
    "python",
    "pitflip",
    "numba",
    "numpy",
)  # what decides games, beside our sources


class Calibration(NamedTuple):
    """The processor seconds of the same games on any machine, and a digest of their moves."""

    seconds: float
    games: str

    def to_json(self) -> bytes:
        """The calibration in one line."""
        return json.dumps(self).encode() + b"\n"


def measure_speed() -> Calibration:
    """Play the games of `PLAN` several times; the best time, not counting compilation."""
    # They load the kernels, which a Dask worker and a client do without.
    from arena.playing.worker import Worker  # noqa: PLC0415

    drawn = make_schedule(CALIBRATION_PLAN)
    worker, task = Worker(drawn), Task(0, CALIBRATION_PLAN.pairs, {})
    worker.warm()
    games, seconds = worker.play(task), []
    for _ in range(TURNS):
        begun = time.process_time()
        worker.play(task)
        seconds.append(time.process_time() - begun)
    digest = hashlib.blake2b(games.game_id.tobytes(), digest_size=8)
    return Calibration(min(seconds), digest.hexdigest())


def version_difference(
    said: Mapping[str, Any], names: tuple[str, ...] = REQUIRED_PACKAGES
) -> str | None:
    """How another machine differs from this one, in words; None if it does not."""
    known = provenance.versions()
    for name in names:
        there = said["packages"].get(name)
        if name == "python":
            there = ".".join(said["host"]["python"].split(".")[:3])
        if there != known[name]:
            what = f"{name} {there}" if there else f"no {name}"
            return f"it has {what}, here it is {known[name]}"
    return None
