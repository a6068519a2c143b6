"""A sandbox of every level that this machine has, and Python bots in it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec, HostSettings
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.sandboxed_agent import SandboxedAgent
from games import game
from tests.lent_spawners import own_spawners

OF = game("kalah(4,3)")
MB = 1 << 20


@pytest.fixture(scope="module", params=["namespaces", "landlock", "limits"])
def sandbox(request) -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch, own_spawners():
        patch.setenv("PITFLIP_SANDBOX", request.param)
        made = Sandbox()
        made.open()
    if made.level.name != request.param:
        made.close()
        pytest.skip(f"the level here is {made.level.name}")
    yield made
    made.close()


def make_bot(
    sandbox: Sandbox,
    directory: Path,
    choose: str,
    seconds: float = 30.0,
    mode: int = 0o644,
    **limits: int,
) -> SandboxedAgent:
    """A bot whose function `choose` is these lines."""
    lines = "".join(f"    {line}\n" for line in choose.strip().splitlines())
    directory.mkdir(exist_ok=True)
    path = directory / "mine.py"
    path.write_text(f"{IMPORTS}\ndef choose(view, legal, rng):\n{lines}    return legal[0]\n")
    path.chmod(mode)
    own = BotLimits(**{"start_seconds": 60, **limits})  # type: ignore[arg-type]
    spec = AgentSpec("python", file=str(path))
    return SandboxedAgent(spec, OF, HostSettings(sandbox, seconds), (path,), own)


IMPORTS = "import ctypes, mmap, os, signal, socket, sys, threading, time\nkept = []\n"


def failure_of(agent: SandboxedAgent) -> AgentFailure:
    """How its first move fails."""
    try:
        with pytest.raises(AgentFailure) as failed:
            agent.start(1)
            agent.choose(OF.start())
        return failed.value
    finally:
        agent.close()


def assert_about(words: str, error: AgentFailure) -> None:
    assert re.search(words, str(error)), str(error)


def machine_is_idle() -> bool:
    """Whether no more processes run than there are cores: else limits of time are longer."""
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    return running <= (os.cpu_count() or 1)
