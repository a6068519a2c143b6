"""Kill -9 of the spawner, its guard or its server of forks while a bot thinks."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from agents.sandbox import usage
from agents.sandbox.sandbox import Sandbox, SpawnerLost
from tests.agents.sandbox.levels import OF, make_bot
from tests.lent_spawners import own_spawners

# It undoes what ends it with its parent, leaves a daemon, and holds its pipes open.
STAYS = """
if view.seconds > 30:
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            pass
        if os.fork() == 0:
            time.sleep(99)
        os._exit(0)
    time.sleep(99)
"""
SURVIVAL_SECONDS = 10.0


@pytest.fixture(params=["namespaces", "landlock", "limits"])
def sandbox(request, monkeypatch) -> Iterator[Sandbox]:
    monkeypatch.setenv("PITFLIP_SANDBOX", request.param)
    with own_spawners():
        made = Sandbox()
        made.open()
        if made.level.name != request.param:
            made.close()
            pytest.skip(f"the level here is {made.level.name}")
        yield made
        made.close()


@pytest.mark.parametrize("victim", ["spawner", "guard", "server"])
def test_a_killed_spawner_is_replaced_and_leaves_no_process(sandbox, tmp_path, victim):
    agent = make_bot(sandbox, tmp_path, STAYS, 60.0)
    agent.start(1)
    guard = sandbox.open().process.pid
    spawner, server = usage.descendants(guard)[1:3]
    assert spawner == sandbox.spawner_id
    number = {"spawner": spawner, "guard": guard, "server": server}[victim]
    seen: list[int] = []

    def kill():
        seen.extend(usage.descendants(guard))
        os.kill(number, signal.SIGKILL)

    timer = Timer(1.0, kill)
    timer.start()
    begun = time.monotonic()
    with pytest.raises(SpawnerLost):
        agent.choose(OF.start())
    assert time.monotonic() - begun < 1.0 + SURVIVAL_SECONDS
    timer.join()
    assert len(seen) >= 5  # these three, the bot and its daemon
    deadline = time.monotonic() + SURVIVAL_SECONDS
    while left := [each for each in seen if is_alive(each) and each != guard]:
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    assert sandbox.replace_lost_spawner()
    assert not sandbox.replace_lost_spawner()
    agent.seconds = 20.0
    agent.start(2)
    assert agent.choose(OF.start()).move == 0
    agent.close()


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
