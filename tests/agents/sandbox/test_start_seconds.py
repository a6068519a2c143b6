"""A bot cannot extend its time to start without limit."""

import time

import pytest

from agents.core import AgentFailure
from agents.sandbox import bot_server, sandboxed_agent
from agents.sandbox.fork_server import ANSWERS
from tests.agents.sandbox.levels import make_bot, sandbox

__all__ = ["sandbox"]
MESSAGE = bytes([bot_server.ALIVE, 0])
# While it is imported: slowly, and as fast as it can.
ALIVE = "import os, time\nwhile True:\n    os.write({to}, {what!r})\n    time.sleep({pause})\n"


@pytest.mark.parametrize(("what", "pause"), [(MESSAGE, 0.05), (MESSAGE * 30_000, 0)])
def test_messages_that_a_bot_is_alive_extend_its_start_for_some_time(
    sandbox, tmp_path, what, pause, monkeypatch
):
    monkeypatch.setattr(sandboxed_agent, "MAX_START_FACTOR", 3)
    agent = make_bot(sandbox, tmp_path, "", start_seconds=1)
    agent.prepare()
    (tmp_path / "mine.py").write_text(ALIVE.format(to=ANSWERS, what=what, pause=pause))
    begun, used = time.monotonic(), time.process_time()
    with pytest.raises(AgentFailure, match="was not ready within") as failed:
        agent.start(1)
    assert failed.value.kind == "unloadable"
    passed = time.monotonic() - begun
    assert 2 < passed < 3 + 20  # a busy machine is not its fault
    assert time.process_time() - used < 2
