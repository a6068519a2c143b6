"""Those who judge: portions of the lines of a run, each with a solver that begins anew."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from arena.planning.drawing import DrawnPlan
from arena.playing.backends import Backend
from arena.playing.cluster.parcel import Parcel, parcel
from arena.playing.interrupts import Interrupts
from arena.playing.workers import PlayOptions, nothing
from games import Game, MoveError
from games.solving import SolverSettings, solver_of
from games.solving.judged_lines import judge_of
from games.solving.judged_plies import PLY, JudgeLimits, LineJudge, Plies, Reached
from games.solving.solver import Solver
from games.terminal import say

NO_PLIES = np.empty(0, PLY)


class Portion(NamedTuple):
    """Lines `start` to `stop` - 1 of a run to be judged, and how far back each is known."""

    start: int
    stop: int
    limits: JudgeLimits
    lines: tuple[str | None, ...]  # None: nothing is left to find out
    reached: tuple[Reached | None, ...]


class JudgedPortion(NamedTuple):
    """What was found out: the plies of all lines, one after the other."""

    start: int
    stop: int
    plies: bytes
    fault: str = ""  # why the first line, which begins at `start`, is no game of these rules


class JudgeCrew:
    """Judges portions in processes; each begins with an empty table, so that none needs another."""

    def __init__(
        self,
        of: Game,
        settings: SolverSettings,
        options: PlayOptions,
        drawn: DrawnPlan | None,
        tell: Callable[[str], None] = say,
    ) -> None:
        """`drawn` is what a cluster learns the game from."""
        self.of, self.settings, self.options, self.drawn = of, settings, options, drawn
        self.tell = tell
        self.name = self.isolation = ""  # no bots judge
        self.homes: Mapping[str, str] = {}
        self.solver: Solver | None = None
        self.judge: LineJudge | None = None
        # Called while results are awaited, to show progress.
        self.on_wait: Callable[[], object] = nothing

    def get_ready(self) -> None:
        """Open or build the database, and compile, before processes are forked."""
        self.solver = solver_of(self.of, self.settings, self.tell)
        self.solver.prepare()
        self.judge = judge_of(self.solver)
        self.judge.judged("", JudgeLimits(0, 1), None)

    def judged(self, portion: Portion) -> JudgedPortion:
        """The plies of the portion."""
        assert self.solver is not None
        self.solver.forget()  # what is found out, and at which node it ends, depends on nobody
        plies: list[Plies] = []
        for line, reached in zip(portion.lines, portion.reached, strict=True):
            try:
                plies.append(self._judged(line, portion.limits, reached))
            except MoveError as error:
                at = portion.start + len(plies)
                return JudgedPortion(at, at, b"", str(error))
        return JudgedPortion(portion.start, portion.stop, packed(plies))

    def _judged(self, line: str | None, limits: JudgeLimits, reached: Reached | None) -> Plies:
        assert self.judge is not None
        return NO_PLIES if line is None else self.judge.judged(line, limits, reached)

    # What `in_order` needs of a crew.

    def begin(self, workers: int | None = None) -> Backend[Portion, JudgedPortion]:
        """A new backend whose workers judge as this one does."""
        return self.options.begin(lambda: self.judged, self.parcel, self.look, workers)

    def parcel(self) -> Parcel:
        """The game and the settings, to be judged by others."""
        assert self.drawn is not None
        return parcel("arena.judging.judge_crew:far_crew", (self.drawn,), self.settings)

    def look(self) -> None:
        """Raise if a signal arrived; show progress."""
        self.options.interrupts.look()
        self.on_wait()

    def split(self, portion: Portion) -> list[Portion]:
        """The portion line by line."""
        return [
            portion._replace(start=at, stop=at + 1, lines=(line,), reached=(reached,))
            for at, line, reached in zip(
                range(portion.start, portion.stop), portion.lines, portion.reached, strict=True
            )
        ]

    def excused(self, _: Portion) -> bool:
        """No failure is."""
        return False

    def mend(self) -> None:
        """Nothing is shared."""

    def whole(self, portion: Portion, parts: list[JudgedPortion]) -> JudgedPortion | None:
        """A portion from those of its lines; None while some are missing."""
        if parts[-1].fault:
            return parts[-1]
        if parts[-1].stop < portion.stop:
            return None
        joined = b"".join(zlib.decompress(part.plies) for part in parts)
        return JudgedPortion(portion.start, portion.stop, zlib.compress(joined))


def packed(plies: Sequence[Plies]) -> bytes:
    """The plies of several lines as bytes."""
    return zlib.compress(np.concatenate([NO_PLIES, *plies]).tobytes())


def unpacked(stored: bytes, lengths: Sequence[int]) -> list[Plies]:
    """The plies of lines of these lengths."""
    whole = np.frombuffer(zlib.decompress(stored), PLY)
    return np.split(whole, np.cumsum(lengths)[:-1])


def far_crew(plans: tuple[DrawnPlan, ...], settings: SolverSettings) -> JudgeCrew:
    """The crew on a machine of a cluster, where one portion is judged at a time."""
    return JudgeCrew(plans[0].of, settings, PlayOptions(1, Interrupts()), plans[0])
