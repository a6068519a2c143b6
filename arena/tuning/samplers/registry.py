"""The samplers of the tuner, and the samplers of Optuna that a file may name."""

import importlib
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arena.planning.seeds import hash64
from arena.tuning.space import Point, Space
from games.base.text import did_you_mean, quote

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

OPTUNA = "optuna.samplers"
FINGERPRINT = "fingerprint"  # attribute of a trial: equal ones played the same games
# TPE with a smaller share gets stuck in the wrong mode.
RANDOM_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The search of a sampler: `trials` trials of `pairs` pairs of games each."""

    space: Space
    seed_point: Point  # the weights before tuning
    seed: int
    trials: int
    pairs: int


class Walk(NamedTuple):
    """The result of a sampler that walks; other samplers leave the result to the surrogate."""

    point: Point
    clipped: tuple[bool, ...]  # the weights that an edge of their range held back
    widened: bool  # whether the steps became wider because no game changed


def seed_only(plan: SearchPlan, seed: int) -> dict[str, object]:
    """Return the arguments of a sampler that needs no more than a seed."""
    return {"seed": seed}


def tpe_arguments(plan: SearchPlan, seed: int) -> dict[str, object]:
    """Return the arguments of TPE, which draws its first trials at random."""
    return {"seed": seed, "n_startup_trials": math.ceil(RANDOM_SHARE * plan.trials)}


def plan_only(plan: SearchPlan, seed: int) -> dict[str, object]:
    """Return the arguments of a sampler that reads the whole plan."""
    return {"plan": plan}


@dataclass(frozen=True, slots=True)
class SamplerEntry:
    """A subclass of Optuna's BaseSampler, its arguments and its trials.

    The class is a text because importing Optuna takes half a second.
    """

    path: str  # "module:class"
    arguments: Callable[[SearchPlan, int], dict[str, object]] = seed_only
    step: int = 1  # this many consecutive trials, after the first trial, share openings
    pairs: int | None = None  # of a trial; None: as many as the file says


SAMPLERS: Mapping[str, SamplerEntry] = {
    "spsa": SamplerEntry("arena.tuning.samplers.spsa:SpsaSampler", plan_only, 2, 10),
    "tpe": SamplerEntry("optuna.samplers:TPESampler", tpe_arguments),
    "cmaes": SamplerEntry("optuna.samplers:CmaEsSampler"),
    "random": SamplerEntry("optuna.samplers:RandomSampler"),
}
AUTO = "auto"
METHODS = (
    ", ".join(map(quote, (AUTO, *SAMPLERS))) + f' or one of Optuna such as "{OPTUNA}:QMCSampler"'
)
# Samplers of Optuna that cannot run a study of a fixed number of trials.
UNSUITABLE = {
    "BruteForceSampler": "it ends as soon as it has tried all values",
    "GridSampler": "it needs a grid of values",
    "PartialFixedSampler": "it needs another sampler",
}
REMOVED = {
    "gp": f'"tpe", or "{OPTUNA}:GPSampler" with the packages scipy and torch',
    "fit": '"auto"; pitflip learn fits weights to games',
}


def sampler_entry(method: str) -> SamplerEntry:
    """Return the entry of a method that `method_problem` accepts."""
    return SAMPLERS.get(method) or SamplerEntry(method)


def build_sampler(method: str, plan: SearchPlan) -> "BaseSampler":
    """Return the sampler before its first trial."""
    entry = sampler_entry(method)
    module, _, name = entry.path.partition(":")
    seed = int(hash64("sampler", plan.seed)) % 2**32
    with warnings.catch_warnings(action="ignore"):  # some of Optuna's samplers are experimental
        built: BaseSampler = getattr(importlib.import_module(module), name)(
            **entry.arguments(plan, seed)
        )
    return built


def trial_rng(seed: int, number: int) -> np.random.Generator:
    """Return the random numbers of a trial or of a step."""
    return np.random.default_rng(int(hash64("tuning", seed, number)))


def method_problem(method: str) -> str:
    """Return why no sampler has this name; empty if one has."""
    if method in SAMPLERS:
        return ""
    if method in REMOVED:
        return f"method {quote(method)} was removed; take {REMOVED[method]}"
    module, _, name = method.rpartition(":")
    if module == OPTUNA and name in UNSUITABLE:
        return f"{name} does not suit a study: {UNSUITABLE[name]}"
    known = [*SAMPLERS, *(f"{OPTUNA}:{each}" for each in optuna_samplers())]
    if method in known:
        return ""
    likely = f"{OPTUNA}:{re.split('[.:]', method)[-1]}"
    near = did_you_mean(likely if likely in known else method, known)
    return f"method must be {METHODS}, got {quote(method)}{near}"


def optuna_samplers() -> list[str]:
    """Return the names of Optuna's samplers that can run a study."""
    module = importlib.import_module(OPTUNA)
    bases = ("BaseSampler", "BaseGASampler")
    return [
        name
        for name in module.__all__
        if name.endswith("Sampler") and name not in bases and name not in UNSUITABLE
    ]
