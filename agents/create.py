"""Create an agent: here, or in the sandbox if it runs a user's code."""

from typing import TYPE_CHECKING

from agents.core import Agent, AgentSpec
from agents.options import bot_limits
from agents.registry import build, replace_files, require_kind, users_code, users_trees
from agents.user_files import missing_file_failure, split_reference
from games import Game

if TYPE_CHECKING:
    from agents.core import HostSettings

    pass


def create_agent(spec: AgentSpec, of: Game, terms: "HostSettings") -> Agent:
    """The agent that the spec describes; one that runs a user's code starts with its first game.

    Raise SpecError if the spec describes none, and SandboxUnavailable if the isolation here is
    less than required.
    """
    if users_code(spec) is None:
        return build(spec, of)
    behind = require_kind(spec, of).behind or create_sandboxed
    return behind(spec, of, terms)


def create_sandboxed(spec: AgentSpec, of: Game, terms: "HostSettings") -> Agent:
    """An agent of ours that is made of a user's Python, built in a process of its own."""
    from agents.sandbox.sandboxed_agent import SandboxedAgent  # noqa: PLC0415  # it loads the compiler

    trees = users_trees(spec)
    for tree in trees:
        if not tree.path.is_file():
            raise missing_file_failure(tree.path)
    # The process has another working directory.
    absolute = replace_files(spec, lambda file: ":".join(map(str, _parts(file))))
    places = tuple(place for tree in trees for place in tree.places)
    return SandboxedAgent(absolute, of, terms, places, bot_limits(spec.options))


def _parts(reference: str) -> list[object]:
    path, name = split_reference(reference, "")
    return [path, name] if name else [path]
