"""Systems without the calls of Linux: these tests remove everything that macOS lacks."""

import pytest

from agents.sandbox import sandbox as owner
from agents.sandbox.sandbox import Sandbox
from tests.agents.sandbox.levels import OF, make_bot
from tests.lent_spawners import own_spawners

# Before anything of ours is loaded.
LACKS = """
import os, socket
del os.pipe2, os.memfd_create, os.sched_setaffinity, socket.SOCK_SEQPACKET
import sys
sys.path[:0] = [{root!r}]
from agents.sandbox import syscalls
syscalls.LINUX = False
"""


@pytest.fixture
def sandbox(monkeypatch):
    monkeypatch.setattr(owner, "SPAWNER_PROGRAM", LACKS + owner.SPAWNER_PROGRAM)
    for name in ("pipe2", "memfd_create"):
        monkeypatch.delattr(owner.os, name)
    monkeypatch.delattr(owner.socket, "SOCK_SEQPACKET")
    with own_spawners():
        made = Sandbox()
        made.open()
    yield made
    made.close()


def test_bots_play_without_the_calls_of_linux(sandbox, tmp_path):
    assert sandbox.level.name == "limits"
    agent = make_bot(sandbox, tmp_path, "")
    agent.start(1)
    assert agent.choose(OF.start()).move == 0
    agent.close()
    agent.start(2)  # and again
    assert agent.choose(OF.start()).move == 0
    agent.close()
