"""Optuna's part in tuning: its TPE sampler, and its own database for dashboards."""

import contextlib
import json
import logging
from pathlib import Path
from typing import Any

import optuna
from sqlalchemy import event

from arena.planning.pairing_seeds import digest_word
from arena.tuning.space import Axis, Point, Space
from arena.tuning.trials import Trial

optuna.logging.set_verbosity(optuna.logging.WARNING)

DATABASE = "study.db"
log = logging.getLogger(__name__)


def distribution(axis: Axis) -> Any:
    """The range of a weight in Optuna's words."""
    if axis.integer:
        return optuna.distributions.IntDistribution(int(axis.low), int(axis.high), log=axis.log)
    return optuna.distributions.FloatDistribution(axis.low, axis.high, log=axis.log)


def distributions(space: Space) -> dict[str, Any]:
    """The ranges of all tuned weights."""
    return {axis.name: distribution(axis) for axis in space.axes}


def parameters(space: Space, point: Point) -> dict[str, Any]:
    """The weights at a point, whole numbers where Optuna wants them."""
    values = space.values(point)
    return {a.name: int(values[a.name]) if a.integer else values[a.name] for a in space.axes}


class TpeProposer:
    """Optuna's TPE by ask and tell; the sampler is seeded anew for every slot.

    The study lives in memory: our journal is the truth, and a restart rebuilds the study
    from it, so that the same points follow as without the interruption.
    """

    def __init__(self, space: Space, seed_point: Point, seed: int, startup: int) -> None:
        """`startup` trials are random; the seed's point comes first."""
        self.space, self.seed_point = space, seed_point
        self.seed, self.startup = seed, startup
        self.study = optuna.create_study(direction="maximize")

    def propose(self, slot: int) -> Point:
        """The seed's point first; then what TPE asks for."""
        if slot == 0:
            point = self.space.snapped(self.seed_point)
            self.known(slot, point)
            return point
        # The same seed would repeat the same samples after a restart.
        self.study.sampler = optuna.samplers.TPESampler(
            seed=int(digest_word("tpe", self.seed, slot)) % 2**32, n_startup_trials=self.startup
        )
        asked = self.study.ask(distributions(self.space))
        assert asked.number == slot
        return self.space.snapped(self.space.point(asked.params))

    def known(self, slot: int, point: Point) -> None:
        """A running trial at the point, without asking the sampler."""
        trial = optuna.trial.create_trial(
            state=optuna.trial.TrialState.RUNNING,
            params=parameters(self.space, point),
            distributions=distributions(self.space),
        )
        self.study.add_trial(trial)

    def tell(self, slot: int, score: float, noise: float) -> None:
        """The trial of this slot is complete."""
        self.study.tell(slot, score)

    @property
    def final(self) -> Point | None:
        """The posterior decides."""
        return None


class Mirror:
    """The finished trials in Optuna's own SQLite storage, in the order of their slots.

    It is derived from our journal: a database that does not agree is written anew.
    """

    def __init__(self, directory: Path, name: str, space: Space) -> None:
        """Open or begin the database."""
        self.path, self.name, self.space = directory / DATABASE, name, space
        self.study: Any = None
        try:
            self._open()
        except Exception:  # whatever is wrong with it: nothing is lost with it
            log.warning("%s could not be continued and is written anew", self.path, exc_info=True)
            self._renew()

    def _open(self) -> None:
        self.storage = optuna.storages.RDBStorage(f"sqlite:///{self.path.absolute()}")
        event.listen(self.storage.engine, "connect", _quickly)
        self.storage.engine.dispose()  # so that the next connection is a quick one
        self.study = optuna.create_study(
            storage=self.storage, study_name=self.name, direction="maximize", load_if_exists=True
        )

    def _renew(self) -> None:
        self.close()
        for path in self.path.parent.glob(f"{DATABASE}*"):
            path.unlink()
        self._open()

    def agree(self, finished: list[Trial]) -> int:
        """How many trials are there; anew from none unless they are the first ones."""
        there = self.study.get_trials(deepcopy=False)
        same = len(there) <= len(finished) and all(
            kept.value == trial.score and kept.params == parameters(self.space, trial.point)
            for kept, trial in zip(there, finished, strict=False)
        )
        if not same:
            self._renew()
        return len(there) if same else 0

    def add(self, trials: list[Trial]) -> None:
        """Write further trials."""
        kinds = distributions(self.space)
        for trial in trials:
            told: dict[str, float] = {"games": trial.games, "low": trial.low, "high": trial.high}
            told |= {"distinct_games": trial.distinct_games, "seconds": round(trial.seconds, 3)}
            self.study.add_trial(
                optuna.trial.create_trial(
                    params=parameters(self.space, trial.point),
                    distributions=kinds,
                    value=trial.score,
                    user_attrs={"trial": json.dumps(told)},
                )
            )

    def close(self) -> None:
        """Close all connections."""
        with contextlib.suppress(AttributeError):  # it was never opened
            self.storage.remove_session()
            self.storage.engine.dispose()


def _quickly(connection: Any, _record: Any) -> None:
    # The database can be derived again, so it need not survive a power cut.
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=off")
