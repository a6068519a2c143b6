"""What all samplers share."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from arena.planning.seeds import hash64
from arena.tuning.space import Point, Space

# Text, so that a sampler's library is loaded only where the sampler is used.
SAMPLERS: Mapping[str, str] = {
    "tpe": "arena.tuning.samplers.tpe",
    "cmaes": "arena.tuning.samplers.cmaes",
    "spsa": "arena.tuning.samplers.spsa",
}


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The search of a sampler: `trials` trials of `pairs` pairs of games each."""

    space: Space
    seed_point: Point  # where the search begins: the weights before tuning
    seed: int
    trials: int
    pairs: int


class Sampler(Protocol):
    """Proposes points slot by slot; its answers depend on these calls only."""

    def propose(self, slot: int) -> Point:
        """The point for a slot, snapped to the space; called once a slot, in order."""

    def tell(self, slot: int, point: Point, score: float, noise: float) -> None:
        """The score of a slot's point and the variance of that score; called in order."""


@runtime_checkable
class Resuming(Protocol):
    """A sampler that need not repeat the proposals from before an interruption."""

    def resume(self, slot: int, point: Point) -> None:
        """Instead of `propose`: this was its answer for the slot."""


@runtime_checkable
class Walking(Protocol):
    """A sampler that arrives somewhere; for the others the posterior decides."""

    @property
    def final(self) -> Point:
        """Where it has arrived."""


@runtime_checkable
class Clipping(Protocol):
    """A sampler that knows when an edge of a range held it back."""

    @property
    def clipped(self) -> tuple[bool, ...]:
        """Which weights were held back lately."""


@runtime_checkable
class Widening(Protocol):
    """A sampler that takes wider steps while the trials of a step play the same games."""

    def step_played(self, slot: int, differs: bool) -> None:
        """The step that ends with this slot is played; called after the slot's `tell`."""

    @property
    def widened(self) -> float:
        """How many times as wide its steps are now as they were planned."""


def sampler(name: str, plan: SearchPlan) -> Sampler:
    """The sampler of this name, ready for its first slot."""
    built: Sampler = importlib.import_module(SAMPLERS[name]).build(plan)
    return built


def trials_per_step(name: str) -> int:
    """How many trials after the first one make a step and share openings: one, if unsaid."""
    found: int = getattr(importlib.import_module(SAMPLERS[name]), "SHARING", 1)
    return found


def fixed_pairs(name: str) -> int | None:
    """The pairings of a trial, where the method has a number of its own; else the file's."""
    found: int | None = getattr(importlib.import_module(SAMPLERS[name]), "PAIRS", None)
    return found


def resume(of: Sampler, slot: int, point: Point) -> None:
    """Bring a sampler past a slot whose point is known."""
    if isinstance(of, Resuming):
        of.resume(slot, point)
    else:
        of.propose(slot)


def final_point(of: Sampler) -> Point | None:
    """Where a sampler that walks has arrived; None if the posterior decides."""
    return of.final if isinstance(of, Walking) else None


def step_played(of: Sampler, slot: int, differs: bool) -> None:
    """Say whether the trials of the step that ends with this slot played any game differently."""
    if isinstance(of, Widening):
        of.step_played(slot, differs)


def widened(of: Sampler) -> float:
    """How many times as wide the steps became; 1 where the sampler takes no wider ones."""
    return of.widened if isinstance(of, Widening) else 1.0


def clipped_weights(of: Sampler) -> tuple[bool, ...]:
    """Which weights an edge held back lately; empty where the sampler does not walk."""
    return of.clipped if isinstance(of, Clipping) else ()


def trial_rng(seed: int, slot: int) -> np.random.Generator:
    """The random numbers of a slot, the same after a restart."""
    return np.random.default_rng(int(hash64("tuning", seed, slot)))
