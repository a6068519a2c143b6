"""A study in Optuna: trials in memory while it runs, and its database at the end."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import optuna
from optuna.trial import FrozenTrial, create_trial

from arena.tuning.samplers.registry import FINGERPRINT, SearchPlan, Walk, build_sampler
from arena.tuning.samplers.spsa import SpsaSampler
from arena.tuning.space import Params, Point, Space
from arena.tuning.trials import Trial
from games.base.files import atomic_write

DATABASE = "study.db"
RECOMMENDED = "recommended"  # marks the last trial, which holds the recommendation and its claim
REHEARSED = 12  # trials; samplers of Optuna draw up to ten at random before they use a model

optuna.logging.set_verbosity(optuna.logging.ERROR)


class OptunaSearch:
    """An Optuna study in memory whose first trial plays the seed weights.

    The same calls in the same order give the same parameters, so a search that was interrupted is
    repeated from the journal.
    """

    def __init__(self, method: str, plan: SearchPlan) -> None:
        self.plan, self.space = plan, plan.space
        self.distributions = plan.space.distributions()
        sampler = build_sampler(method, plan)
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.next_number = 0
        self.running: dict[int, optuna.Trial] = {}

    def ask(self, stored: Params | None = None) -> Params:
        """Begin the next trial and return its parameters: `stored` ones if it was played before.

        The sampler draws for stored trials too: its random numbers and its notes about each trial
        are then those of a search without an interruption.
        """
        fixed = stored if self.next_number else self.plan.space.params(self.plan.seed_point)
        if fixed is not None:
            self.study.enqueue_trial(fixed)
        trial = self.study.ask()
        drawn = trial.relative_params  # before any parameter is set, as without stored parameters
        for name, distribution in self.distributions.items():
            if fixed is not None and name not in drawn:
                frozen = self.study.get_trials(deepcopy=False)[trial.number]
                self.study.sampler.sample_independent(self.study, frozen, name, distribution)
            suggest(trial, name, distribution)
        self.running[trial.number] = trial
        self.next_number += 1
        return trial.params

    def tell(self, number: int, score: float, fingerprint: int) -> None:
        """Finish a trial."""
        trial = self.running.pop(number)
        trial.set_user_attr(FINGERPRINT, fingerprint)
        self.study.tell(trial, score)

    @property
    def walk(self) -> Walk | None:
        """The result of a sampler that walks."""
        sampler = self.study.sampler
        return sampler.walk if isinstance(sampler, SpsaSampler) else None


def suggest(trial: optuna.Trial, name: str, of: optuna.distributions.BaseDistribution) -> None:
    """Set a parameter of a trial."""
    if isinstance(of, optuna.distributions.FloatDistribution):
        trial.suggest_float(name, of.low, of.high, log=of.log)
    elif isinstance(of, optuna.distributions.IntDistribution):
        trial.suggest_int(name, of.low, of.high, log=of.log)
    elif isinstance(of, optuna.distributions.CategoricalDistribution):
        trial.suggest_categorical(name, of.choices)


def rehearsal_problem(method: str, plan: SearchPlan) -> str:
    """Return why a sampler of Optuna cannot search a space; empty if it can."""
    name = method.rpartition(":")[2]
    try:
        search = OptunaSearch(method, plan)
        for number in range(REHEARSED):
            search.ask()
            search.tell(number, 0.5 + 0.01 * (number % 3), number)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        return f"{name} needs the package {package}, which is not installed: pip install {package}"
    except Exception as error:  # samplers raise what they like
        return f"{name} cannot search these ranges: {' '.join(str(error).split())}"
    return ""


class StudyEnd(NamedTuple):
    """The conclusions of a study."""

    attributes: Mapping[str, object]  # of the study
    point: Point | None = None  # the recommendation; None if there is no claim
    score: float = 0.0  # of the claim
    games: int = 0


def write_study(
    directory: Path, name: str, space: Space, trials: Sequence[Trial], end: StudyEnd
) -> None:
    """Write the trials and the conclusions as Optuna's SQLite storage."""
    memory = optuna.storages.InMemoryStorage()
    study = optuna.create_study(storage=memory, study_name=name, direction="maximize")
    study.add_trials(list(optuna_trials(space, trials, end)))
    for key, value in end.attributes.items():
        study.set_user_attr(key, value)
    # A database in memory is written once, and atomically.
    database = optuna.storages.RDBStorage("sqlite://")
    optuna.copy_study(from_study_name=name, from_storage=memory, to_storage=database)
    with closing(database.engine.raw_connection()) as connection:
        assert connection.driver_connection is not None
        content = connection.driver_connection.serialize()
    database.remove_session()
    database.engine.dispose()
    with atomic_write(directory / DATABASE) as file:
        file.write(content)


def optuna_trials(space: Space, trials: Sequence[Trial], end: StudyEnd) -> Iterator[FrozenTrial]:
    """Yield all trials in their order, then the recommendation with the score of its claim."""
    distributions = space.distributions()
    for each in trials:
        trial = create_trial(
            params=space.params_to_play(each.point),
            distributions=distributions,
            value=each.score,
            user_attrs={
                "games": each.games,
                "low": each.low,
                "high": each.high,
                "distinct_games": each.distinct_games,
                "seconds": round(each.seconds, 3),
            },
        )
        # Optuna stores local times without a zone.
        trial.datetime_start = datetime.fromtimestamp(each.start_time)
        trial.datetime_complete = datetime.fromtimestamp(each.end_time)
        yield trial
    if end.point is not None:
        yield create_trial(
            params=space.params_to_play(end.point),
            distributions=distributions,
            value=end.score,
            user_attrs={RECOMMENDED: True, "games": end.games},
        )
