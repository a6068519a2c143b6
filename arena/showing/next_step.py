"""What to do next, said at the end of a run: a command that can be pasted."""

import shlex
from pathlib import Path

from agents import users_code
from arena.planning.drawing import DrawnPlan
from games.shell_commands import here


def next_step(drawn: DrawnPlan, directory: Path) -> str:
    """A look into the first game where a user's own agent played; else how to begin with one."""
    own = any(users_code(spec) for spec in drawn.specs)
    if not own or not drawn.plan.keep_moves:
        return f"next, a bot of your own: {here('python -m arena.new bot')}"
    place = f"{directory}#0@{len(drawn.starts[0])}"
    return f"next, what it thinks: {here(shlex.join(['python', '-m', 'arena.explain', place]))}"
