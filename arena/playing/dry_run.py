"""Building a user's agent once in a process of its own, which is killed if it hangs."""

import contextlib
import os
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from agents import AgentFailure, AgentSpec, Limit, SpecError, build, users_files
from agents.compiled import CompiledAgent
from arena.playing.backends.processes import begin_child
from games import Game
from games.kernels.compile_cache import on_compilation

# Loading may take longer than a move: libraries are imported. Compiling takes minutes on a slow
# machine, so the time starts again with every function that is compiled.
LOAD_SECONDS = 30.0
ALIVE = "alive"


def try_out(spec: AgentSpec, of: Game, move_seconds: float) -> None:
    """Build an agent and start a game; AgentFailure or SpecError if that fails."""
    context, seconds = get_context("fork"), max(move_seconds, LOAD_SECONDS)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_build, args=(os.getpid(), sender, spec, of), daemon=True)
    child.start()
    sender.close()
    try:
        outcome: Any = ALIVE
        while outcome == ALIVE:
            if not receiver.poll(seconds):
                raise _unloadable(spec, f"was still loading after {seconds:g} s")
            outcome = receiver.recv()
    except EOFError:
        child.join(seconds)
        raise _unloadable(spec, f"ended its process (exit code {child.exitcode})") from None
    finally:
        child.kill()
        child.join()
        receiver.close()
    if outcome is not None:
        raise outcome


def _unloadable(spec: AgentSpec, reason: str) -> AgentFailure:
    files = ", ".join(map(str, users_files(spec)))
    return AgentFailure("unloadable", files, "", f"cannot be used: {reason}")


def _build(parent: int, sender: Connection, spec: AgentSpec, of: Game) -> None:
    """Run in the child: send the failure, or None if there was none."""
    begin_child(parent)
    try:
        on_compilation(lambda: sender.send(ALIVE))
        agent = build(spec, of)
        agent.start(0)
        if isinstance(agent, CompiledAgent):
            with contextlib.suppress(AgentFailure):  # in a game this is a forfeit
                agent.choose(of.start(), Limit(depth=1))
        sender.send(None)
    except (AgentFailure, SpecError) as error:
        sender.send(error)
