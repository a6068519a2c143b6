"""The weights of an agent before tuning, with the names that weights may have."""

from collections.abc import Sequence

from agents import AgentSpec, kind_of
from agents.core import Weights
from agents.evaluations.declared_weights import declared_weights
from agents.kinds import settings
from games import Game


def seed_of(name: str, seeds: Weights) -> float:
    """The weight before tuning; one that the agent does not have counts as 0."""
    return seeds.get(name, (0.0,))[0]


def by_tables(spec: AgentSpec, of: Game) -> bool:
    """Whether the agent plays by tables that were learned, not by weights of features."""
    if spec.options.get("evaluate"):
        return False
    return isinstance(settings(kind_of(spec).options, spec, of)["weights"], str)


def seed_weights(spec: AgentSpec, of: Game) -> tuple[Sequence[str] | None, Weights]:
    """The names that weights may have, None if any; the agent's weights before tuning."""
    if evaluate := spec.options.get("evaluate"):
        declared = declared_weights(evaluate) or {}
        return (tuple(declared) or None), {**declared, **spec.options.get("weights", {})}
    return of.features, settings(kind_of(spec).options, spec, of)["weights"]
