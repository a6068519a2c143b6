"""Create an agent: here, or in the sandbox if it runs a user's code."""

from typing import TYPE_CHECKING

from agents.core import Agent, AgentSpec
from agents.options import bot_limits
from agents.registry import build, replace_files, require_kind, user_code_reason, user_trees
from agents.user_files import missing_file_failure, split_reference
from games import Game

if TYPE_CHECKING:
    from agents.core import HostSettings


def create_agent(spec: AgentSpec, game: Game, host: "HostSettings") -> Agent:
    """Create the agent of a spec; one that runs a user's code starts with its first game.

    Raises SpecError if the spec describes no agent, and SandboxUnavailable if the required
    isolation is not available.
    """
    if user_code_reason(spec) is None:
        return build(spec, game)
    create = require_kind(spec, game).host_bot or create_in_sandbox
    return create(spec, game, host)


def create_in_sandbox(spec: AgentSpec, game: Game, host: "HostSettings") -> Agent:
    """Create an agent that runs a user's Python code in a sandboxed process."""
    from agents.sandbox.sandboxed_agent import SandboxedAgent  # noqa: PLC0415  # it loads the compiler

    trees = user_trees(spec)
    for tree in trees:
        if not tree.path.is_file():
            raise missing_file_failure(tree.path)
    # The process has another working directory.
    absolute = replace_files(spec, lambda file: ":".join(map(str, _path_and_name(file))))
    places = tuple(place for tree in trees for place in tree.top_level_paths)
    return SandboxedAgent(absolute, game, host, places, bot_limits(spec.options))


def _path_and_name(reference: str) -> list[object]:
    path, name = split_reference(reference, "")
    return [path, name] if name else [path]
