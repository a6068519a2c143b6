"""Systems that lack what only Linux has, as far as that can be tried here.

What macOS itself does cannot be tried on this machine: these tests take away what it lacks.
"""

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
    monkeypatch.setattr(owner, "SERVE", LACKS + owner.SERVE)
    for name in ("pipe2", "memfd_create"):
        monkeypatch.delattr(owner.os, name)
    monkeypatch.delattr(owner.socket, "SOCK_SEQPACKET")
    with own_spawners():
        made = Sandbox()
        made.open()
    yield made
    made.close()


def test_bots_play_where_there_is_nothing_of_linux(sandbox, tmp_path):
    assert sandbox.level.name == "limits"
    agent = make_bot(sandbox, tmp_path, "")
    agent.start(1)
    assert agent.choose(OF.start()).move == 0
    agent.close()
    agent.start(2)  # and again
    assert agent.choose(OF.start()).move == 0
    agent.close()
