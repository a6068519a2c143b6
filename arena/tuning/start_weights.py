"""The weights of an agent before it is tuned, and which weights it may have."""

import ast
from collections.abc import Sequence

from agents import AgentSpec
from agents.core import Weights
from agents.evaluations.default_weights import classroom_weights, smart_weights
from agents.user_files import split_reference
from games import Game


def seed_of(name: str, seeds: Weights) -> float:
    """The weight before tuning; one that the agent does not have counts as 0."""
    return seeds.get(name, (0.0,))[0]


def seed_weights(spec: AgentSpec, of: Game) -> tuple[Sequence[str] | None, Weights]:
    """The names that weights may have, None if any; the agent's weights before tuning."""
    if spec.evaluate:
        declared = declared_values(spec.evaluate)
        return (tuple(declared) or None), {**declared, **spec.weights}
    defaults = smart_weights(of) if spec.kind == "smart" else classroom_weights(of)
    return of.features, dict(spec.weights) or dict(defaults)


def declared_values(evaluate: str) -> dict[str, tuple[float, ...]]:
    """The plain `WEIGHTS = {...}` of a user's file, read as text; empty if it is not plain."""
    path = split_reference(evaluate, "evaluate")[0]
    try:
        body = ast.parse(path.read_bytes()).body
        for node in body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "WEIGHTS":
                given = ast.literal_eval(node.value)
                return {str(name): (float(value),) for name, value in given.items()}
    except (OSError, SyntaxError, ValueError, TypeError, AttributeError):
        pass  # the agent's own failure, told when it is built
    return {}
