"""The weights of an agent before tuning, with the names that weights may have."""

from collections.abc import Sequence

from agents import AGENTS, AgentSpec, kind_of
from agents.core import Weights
from agents.evaluations.declared_weights import declared_weights
from agents.kinds import settings
from games import Game


def has_weights(spec: AgentSpec) -> bool:
    """Whether the kind of the agent plays by weights."""
    return spec.kind in AGENTS and kind_of(spec).option("weights") is not None


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
