"""When Optuna's database is written: behind the games, at a small share of the time."""

import time
from pathlib import Path
from typing import Any

from arena.tuning.table import Tuning
from arena.tuning.trials import Trial

MIRROR_SECONDS, MIRROR_SHARE = 2.0, 0.02


class Mirrored:
    """Optuna's database of the study, written behind the games at a small share of the time."""

    def __init__(self, directory: Path, tuning: Tuning) -> None:
        """The database is opened when it is first written."""
        self.directory, self.tuning = directory, tuning
        self.mirror: Any = None
        self.written = 0
        self.begun = self.last = time.monotonic()
        self.spent = 0.0

    def keep_up(self, trials: list[Trial]) -> None:
        """Write what is new, if that costs little."""
        now = time.monotonic()
        if now - self.last > MIRROR_SECONDS and self.spent < MIRROR_SHARE * (now - self.begun):
            self._write(trials)
            self.last = time.monotonic()
            self.spent += self.last - now

    def finish(self, trials: list[Trial]) -> None:
        """Write all that is left and close the database."""
        self._write(trials)
        self.mirror.close()

    def _write(self, trials: list[Trial]) -> None:
        if self.mirror is None:
            from arena.tuning.study import Mirror  # noqa: PLC0415  # optuna is loaded late

            name, space = self.tuning.experiment.name, self.tuning.space
            self.mirror = Mirror(self.directory, name, space)
            self.written = self.mirror.agree(trials)
        self.mirror.add(trials[self.written :])
        self.written = len(trials)
