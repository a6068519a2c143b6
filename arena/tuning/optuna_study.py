"""Optuna's database of a study, for its dashboards, which a thread writes.

Optuna takes a while to load, so only that thread loads it.
"""

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.tuning.space import Axis, Point, Space, Value
from arena.tuning.trials import Trial
from games.base.errors import Unfinished, printable
from games.base.files import is_link

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

DATABASE = "study.db"
RECOMMENDED = "recommended"  # marks the one trial that is a recommendation
FIRST_SECONDS, SHARE = 5.0, 0.005  # when it begins, and how much of the time it may take
LEAST_SECONDS = 0.05
NOTE_PART = 2000  # optuna-dashboard reads a note in pieces of at most 2,045 letters
log = logging.getLogger(__name__)


def distribution(axis: Axis) -> "BaseDistribution":
    """The range of a weight as Optuna's distribution."""
    from optuna.distributions import (  # noqa: PLC0415  # late
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if axis.choices:
        return CategoricalDistribution(axis.choices)
    if axis.integer:
        return IntDistribution(int(axis.low), int(axis.high), log=axis.log)
    return FloatDistribution(axis.low, axis.high, log=axis.log)


def distributions(space: Space) -> "dict[str, BaseDistribution]":
    """The ranges of all tuned weights."""
    return {axis.name: distribution(axis) for axis in space.axes}


def parameters(space: Space, point: Point) -> dict[str, Value]:
    """The weights at a point, whole numbers where Optuna wants them."""
    values = space.values(point)
    return {a.name: int(values[a.name]) if a.integer else values[a.name] for a in space.axes}


class StudyEnd(NamedTuple):
    """What a finished study concludes, for whoever looks at it in a dashboard."""

    point: Point  # that is recommended
    score: float | None  # of the claim; None where there is none
    words: Mapping[str, object]  # attributes of the study


class OptunaCopy:
    """Fills the database in a thread; only the end of the study waits for it."""

    def __init__(self, directory: Path, name: str, space: Space) -> None:
        """The database is opened when it is first written."""
        self.directory, self.name, self.space = directory, name, space
        self.trials: Sequence[Trial] = ()
        self.hurry = threading.Event()
        self.thread: threading.Thread | None = None
        self.error: Exception | None = None
        self.end: StudyEnd | None = None

    def keep_up(self, trials: Sequence[Trial]) -> None:
        """Have these trials written, with those that are appended to them."""
        self.trials = trials
        if self.thread is None:
            load()
            self.thread = threading.Thread(target=self._write, name="optuna", daemon=True)
            self.thread.start()

    def finish(self, trials: Sequence[Trial], end: StudyEnd | None = None) -> None:
        """Write what is left and close the database; an error of the thread is raised here.

        Unfinished if the disk does not take it.
        """
        self.end = end
        self.keep_up(trials)
        self.hurry.set()
        assert self.thread is not None
        self.thread.join()
        if self.error is not None:
            raise in_words(self.error, self.directory / DATABASE) from self.error

    def _write(self) -> None:
        self.hurry.wait(FIRST_SECONDS)
        for again in (False, True):  # a damaged database is found where it is touched
            try:
                if again:
                    remove(self.directory)
                self._one_by_one()
            except Exception as error:  # `finish` raises it
                log.warning("%s cannot be written", DATABASE, exc_info=True)
                self.error = error
            else:
                self.error = None
                return

    def _one_by_one(self) -> None:
        database = OptunaDatabase(self.directory, self.name, self.space)
        count = database.agree(list(self.trials))
        while not (self.hurry.is_set() and count == len(self.trials)):
            begun, new = time.monotonic(), list(self.trials[count : count + 1])
            database.add(new)
            count += len(new)
            taken = time.monotonic() - begun
            self.hurry.wait(max(LEAST_SECONDS, taken / SHARE))
        if self.end is not None:
            database.mark(self.end)
        database.close()


@cache
def load() -> str:
    """Load all that the database needs; the tables of a new one, which take Optuna a while, as SQL.

    A module is never loaded for the first time in a thread: whoever stopped the program then
    would leave a lock behind, and wait for it.
    """
    import optuna  # noqa: PLC0415  # late
    from optuna.trial import create_trial  # noqa: F401, PLC0415  # as above

    storage = optuna.storages.RDBStorage("sqlite://")
    with contextlib.closing(storage.engine.raw_connection()) as connection:
        assert connection.driver_connection is not None  # it is open
        tables = "\n".join(connection.driver_connection.iterdump())
    storage.remove_session()
    storage.engine.dispose()
    return tables


def begin(path: Path) -> None:
    """Write a database without a study; half of one would be found out as damaged."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        _quickly(base, None)
        base.executescript(load())


def remove(directory: Path) -> None:
    """Remove the database of a study: the journal has all that is in it."""
    for path in directory.glob(f"{DATABASE}*"):
        path.unlink()


def in_words(error: Exception, path: Path) -> Exception:
    """The error that a command answers with: a line, if it is the disk's."""
    from optuna.exceptions import OptunaError  # noqa: PLC0415  # late
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415  # with optuna

    if not isinstance(error, OSError | OptunaError | SQLAlchemyError):
        return error
    why = printable(str(error).partition("\n")[0], 200)
    return Unfinished(
        f"{path}: cannot be written ({why}); what was finished is kept, the same command continues"
    )


class OptunaDatabase:
    """The finished trials in Optuna's own SQLite storage, in the order of their slots.

    It is derived from our journal: a database that differs is written again.
    """

    def __init__(self, directory: Path, name: str, space: Space) -> None:
        """Open or begin the database."""
        self.path, self.name, self.space = directory / DATABASE, name, space
        try:
            self._open()
        except Exception:  # whatever it is: the journal has all that is lost
            log.warning("%s could not be continued and is written again", self.path, exc_info=True)
            self._renew()

    def _open(self) -> None:
        import optuna  # noqa: PLC0415  # late
        from sqlalchemy import event  # noqa: PLC0415  # with optuna

        for path in self.path.parent.glob(f"{DATABASE}*"):
            if is_link(path):
                path.unlink()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        new = not self.path.exists()
        if new:
            begin(self.path)
        self.storage = optuna.storages.RDBStorage(
            f"sqlite:///{self.path.absolute()}",
            skip_compatibility_check=new,
            skip_table_creation=new,
        )
        event.listen(self.storage.engine, "connect", _quickly)
        self.storage.engine.dispose()  # so that the next connection is a quick one
        self.study = optuna.create_study(
            storage=self.storage, study_name=self.name, direction="maximize", load_if_exists=True
        )

    def _renew(self) -> None:
        self.close()
        remove(self.path.parent)
        self._open()

    def agree(self, finished: list[Trial]) -> int:
        """How many trials it has; it is emptied unless they are the first of these."""
        there = [trial for trial in self._trials() if RECOMMENDED not in trial.user_attrs]
        same = len(there) <= len(finished) and all(
            stored.value == trial.score and stored.params == parameters(self.space, trial.point)
            for stored, trial in zip(there, finished, strict=False)
        )
        if not same:
            self._renew()
        return len(there) if same else 0

    def _trials(self) -> "list[FrozenTrial]":
        return self.study.get_trials(deepcopy=False)

    def mark(self, end: StudyEnd) -> None:
        """Write what the study concludes, and the recommendation as a trial that is marked."""
        for name, value in end.words.items():
            self.study.set_user_attr(name, value)
        self._note([f"{name}: {value}" for name, value in end.words.items()])
        marked = [trial for trial in self._trials() if RECOMMENDED in trial.user_attrs]
        if end.score is not None and not marked:
            attributes = {RECOMMENDED: True, "games": end.words["claim_games"]}
            self._write(end.point, end.score, attributes, 0.0, 0.0)

    def _note(self, lines: Sequence[str]) -> None:
        """Write the note that optuna-dashboard shows above a study, as text and not as Markdown."""
        text = "".join(f"    {' '.join(line.split())}\n" for line in lines)
        study = self.storage.get_study_id_from_name(self.name)
        for place, at in enumerate(range(0, len(text), NOTE_PART)):
            part = text[at : at + NOTE_PART]
            self.storage.set_study_system_attr(study, f"dashboard:note_str:{place}", part)
        self.storage.set_study_system_attr(study, "dashboard:note_ver", 1)

    def _write(
        self, point: Point, score: float, attributes: dict[str, object], begun: float, ended: float
    ) -> None:
        from optuna.trial import create_trial  # noqa: PLC0415  # late

        trial = create_trial(
            params=parameters(self.space, point),
            distributions=distributions(self.space),
            value=score,
            user_attrs=attributes,
        )
        if ended:
            trial.datetime_start = datetime.fromtimestamp(begun)  # as Optuna's own
            trial.datetime_complete = datetime.fromtimestamp(ended)  # likewise
        self.study.add_trial(trial)

    def add(self, trials: list[Trial]) -> None:
        """Write further trials, with their own times."""
        for trial in trials:
            shown: dict[str, object] = {"games": trial.games, "low": trial.low, "high": trial.high}
            shown |= {"distinct_games": trial.distinct_games, "seconds": round(trial.seconds, 3)}
            self._write(trial.point, trial.score, shown, trial.begun, trial.ended)

    def close(self) -> None:
        """Close all connections."""
        with contextlib.suppress(AttributeError):  # it was never opened
            self.storage.remove_session()
            self.storage.engine.dispose()


def _quickly(connection: sqlite3.Connection, _record: object) -> None:
    # The database can be derived again, so it need not survive a power cut.
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma synchronous=off")
