"""When Optuna's database is written: in a thread behind the games, at a small share of the time."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from arena.tuning.trials import Trial
from arena.tuning.tune_table import Tuning

MIRROR_SECONDS, MIRROR_SHARE = 5.0, 0.02
LEAST_SECONDS = 0.05


class OptunaCopy:
    """Optuna's database of the study; nobody waits for it before the end."""

    def __init__(self, directory: Path, tuning: Tuning) -> None:
        """The database is opened when it is first written."""
        self.directory, self.tuning = directory, tuning
        self.trials: Sequence[Trial] = ()
        self.hurry = threading.Event()
        self.thread: threading.Thread | None = None
        self.failed: Exception | None = None

    def keep_up(self, trials: Sequence[Trial]) -> None:
        """Write these in a while, and what is appended to them."""
        self.trials = trials
        if self.thread is None:
            self.thread = threading.Thread(target=self._write, name="mirror", daemon=True)
            self.thread.start()

    def finish(self, trials: Sequence[Trial]) -> None:
        """Write all that is left and close the database; what went wrong is raised here."""
        self.keep_up(trials)
        self.hurry.set()
        assert self.thread is not None
        self.thread.join()
        if self.failed is not None:
            raise self.failed

    def _write(self) -> None:
        try:
            self.hurry.wait(MIRROR_SECONDS)
            self._one_by_one()
        except Exception as error:  # it is raised again where somebody can act on it
            self.failed = error

    def _one_by_one(self) -> None:
        from arena.tuning.optuna_study import Mirror  # noqa: PLC0415  # optuna is loaded late

        mirror = Mirror(self.directory, self.tuning.experiment.name, self.tuning.space)
        written = mirror.agree(list(self.trials))
        while not (self.hurry.is_set() and written == len(self.trials)):
            begun, new = time.monotonic(), list(self.trials[written : written + 1])
            mirror.add(new)
            written += len(new)
            taken = time.monotonic() - begun
            self.hurry.wait(max(LEAST_SECONDS, taken / MIRROR_SHARE))
        mirror.close()
