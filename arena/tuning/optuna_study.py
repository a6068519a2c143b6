"""The finished study as Optuna's database, for optuna.load_study and optuna-dashboard."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arena.tuning.space import Axis, Point, Space, Value
from arena.tuning.trials import Trial
from games.base.files import atomic_write

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

DATABASE = "study.db"
RECOMMENDED = "recommended"  # marks the one trial that is a recommendation


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


def trial_params(space: Space, point: Point) -> dict[str, Value]:
    """The weights at a point, whole numbers where Optuna wants them."""
    values = space.values(point)
    return {a.name: int(values[a.name]) if a.integer else values[a.name] for a in space.axes}


class StudyEnd(NamedTuple):
    """The conclusions of a finished study."""

    point: Point  # that is recommended
    score: float | None  # of the claim; None where there is none
    words: Mapping[str, object]  # attributes of the study


def write_study(
    directory: Path, name: str, space: Space, trials: Sequence[Trial], end: StudyEnd
) -> None:
    """Write the trials and the conclusions as Optuna's own SQLite storage.

    It is built in memory, so that the file is written atomically.
    """
    import optuna  # noqa: PLC0415  # late: it loads for half a second

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = optuna.storages.RDBStorage("sqlite://")
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize")
    study.add_trials(list(optuna_trials(space, trials, end)))
    for key, value in end.words.items():
        study.set_user_attr(key, value)
    with closing(storage.engine.raw_connection()) as connection:
        assert connection.driver_connection is not None  # it is open
        content = connection.driver_connection.serialize()
    storage.remove_session()
    storage.engine.dispose()
    with atomic_write(directory / DATABASE) as file:
        file.write(content)


def optuna_trials(space: Space, trials: Sequence[Trial], end: StudyEnd) -> "Iterator[FrozenTrial]":
    """All trials in their order, then the recommendation with the score of its claim."""
    from optuna.trial import create_trial  # noqa: PLC0415  # late

    ranges = distributions(space)
    for each in trials:
        shown: dict[str, object] = {"games": each.games, "low": each.low, "high": each.high}
        shown |= {"distinct_games": each.distinct_games, "seconds": round(each.seconds, 3)}
        trial = create_trial(
            params=trial_params(space, each.point),
            distributions=ranges,
            value=each.score,
            user_attrs=shown,
        )
        trial.datetime_start = datetime.fromtimestamp(each.begun)  # without a zone, as Optuna's own
        trial.datetime_complete = datetime.fromtimestamp(each.ended)
        yield trial
    if end.score is not None:
        yield create_trial(
            params=trial_params(space, end.point),
            distributions=ranges,
            value=end.score,
            user_attrs={RECOMMENDED: True, "games": end.words["claim_games"]},
        )
