"""Optuna's TPE sampler, by ask and tell."""

import math

import optuna

from arena.planning.seeds import hash64
from arena.tuning.optuna_study import distributions, trial_params
from arena.tuning.samplers.registry import SearchPlan
from arena.tuning.space import Point

RANDOM_SHARE = 0.5  # of the trials are spread at random: with fewer it gets stuck in a wrong mode


class TpeSampler:
    """Optuna's sampler, with a seed of its own for every slot.

    The study lives in memory: our journal is the truth, and a restart rebuilds the study
    from it, so that the same points follow as without the interruption.
    """

    def __init__(self, plan: SearchPlan) -> None:
        """Nothing is known yet."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.plan = plan
        self.study = optuna.create_study(direction="maximize")
        self.numbers: list[int] = []  # in that study, by slot

    def propose(self, slot: int) -> Point:
        """The seed's point first; then the answer of TPE."""
        point = self._first() if slot == 0 else self._asked(slot)
        self.resume(slot, point)
        return point

    def resume(self, slot: int, point: Point) -> None:
        """Begin a trial at the point that is played: the one way into the study."""
        trial = optuna.trial.create_trial(
            state=optuna.trial.TrialState.RUNNING,
            params=trial_params(self.plan.space, point),
            distributions=distributions(self.plan.space),
        )
        self.numbers.append(len(self.study.get_trials(deepcopy=False)))
        self.study.add_trial(trial)

    def _first(self) -> Point:
        return self.plan.space.snapped(self.plan.seed_point)

    def _asked(self, slot: int) -> Point:
        """TPE's answer; what it sampled before the search rounded it counts as a failed trial.

        Nothing learns from those, so a restart need not know of them.
        """
        space = self.plan.space
        # The same seed would repeat the same samples after a restart.
        self.study.sampler = optuna.samplers.TPESampler(
            seed=int(hash64("tpe", self.plan.seed, slot)) % 2**32,
            n_startup_trials=math.ceil(RANDOM_SHARE * self.plan.trials),
        )
        asked = self.study.ask(distributions(space))
        self.study.tell(asked, state=optuna.trial.TrialState.FAIL)
        return space.snapped(space.point(asked.params))

    def tell(self, slot: int, point: Point, score: float, noise: float) -> None:
        """The trial of this slot is complete."""
        self.study.tell(self.numbers[slot], score)


def build(plan: SearchPlan) -> TpeSampler:
    """The sampler at its first slot."""
    return TpeSampler(plan)
