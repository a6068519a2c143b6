"""Time: a bot that keeps the machine busy itself is late, and waits while others think."""

import os
import signal
import time
from pathlib import Path

import pytest

from agents.core import AgentFailure, AgentSpec
from agents.registry import build
from agents.sandbox import transports, usage
from agents.sandbox.sandboxed_agent import SandboxedAgent
from tests.agents.sandbox.levels import OF, failure_of, machine_is_idle, make_bot, sandbox

__all__ = ["sandbox"]
BURN = """
def burn(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass
def burners(count, seconds):
    for _ in range(count):
        if os.fork() == 0:
            burn(seconds)
            os._exit(0)
"""
SILENT = BURN + "burners(40, 20)\ntime.sleep(20)"
SLOW = BURN + "burners(9, 20)\nburn(20)"
SHORT_LIVED = (
    BURN
    + """
for _ in range(40):
    if os.fork() == 0:
        while True:
            if os.fork() == 0:
                burn(.02)
                os._exit(0)
            os.wait()
burn(20)
"""
)
DAEMONS = BURN + "if not kept:\n    kept.append(1)\n    burners({count}, 30)\n"


@pytest.mark.parametrize("choose", [SILENT, SLOW, SHORT_LIVED], ids=["silent", "slow", "short"])
def test_a_bot_that_keeps_the_cores_busy_is_late(sandbox, tmp_path, choose):
    agent = make_bot(sandbox, tmp_path, choose, 0.5)
    agent.start(1)
    idle, begun = machine_is_idle(), time.monotonic()
    # Where nothing else counts them, its many processes may be seen before the time is over.
    assert failure_of(agent).kind in {"timeout", "flooded"}
    # It had up to ten seconds, and the run ended. Others may delay it for as long.
    assert not idle or time.monotonic() - begun < 5.0


def test_a_bot_with_busy_children_gets_no_more_than_its_time(sandbox, tmp_path):
    own = "until = time.process_time() + 1.5\nwhile time.process_time() < until:\n    pass"
    agent = make_bot(sandbox, tmp_path, f"{BURN}burners(9, 20)\n{own}", 0.5)
    with pytest.raises(AgentFailure, match="did not answer"):
        agent.start(1)
        agent.choose(OF.start())


def states(root: int) -> list[str]:
    """The states of all processes below one."""
    found = []
    for process in usage.descendants(root)[1:]:
        with_name = Path(f"/proc/{process}/stat").read_text()
        found.append(with_name.rpartition(")")[2].split()[0])
    return found


def wait_until_watched(agent: SandboxedAgent) -> None:
    """Usually a quarter of a second."""
    deadline = time.monotonic() + 10
    while not agent.bot.needs_pauses and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)


def wait_until_stopped(root: int) -> None:
    """Wait until no process runs any more: other work may hold the cores before that."""
    deadline, ran = time.monotonic() + 20, -1
    while ran != (ran := usage.tree_time(usage.descendants(root))):
        assert time.monotonic() < deadline, states(root)
        time.sleep(0.3)


def test_what_runs_out_of_turn_is_stopped_until_its_next_turn(sandbox, tmp_path):
    agent = make_bot(sandbox, tmp_path, DAEMONS.format(count=5), 5.0)
    agent.start(1)
    assert agent.choose(OF.start()).move == 0
    root = agent.bot.spawner.find_process(agent.bot.number)
    wait_until_watched(agent)
    wait_until_stopped(root)
    assert states(root).count("T") >= 5
    assert "R" not in states(root)
    for _ in range(3):
        assert agent.choose(OF.start()).move == 0  # and it goes on in its turn
    wait_until_stopped(root)
    assert "R" not in states(root)
    agent.close()


def test_a_quiet_bot_is_not_stopped(sandbox, tmp_path):
    agent = make_bot(sandbox, tmp_path, BURN + "burn(.15)")
    agent.start(1)
    for _ in range(4):
        agent.choose(OF.start())
        time.sleep(0.2)
    assert not agent.bot.needs_pauses
    agent.close()


def test_daemons_take_nothing_from_an_agent_of_another_pair(sandbox, tmp_path):
    searcher = build(AgentSpec("alphabeta", seconds=0.3), OF)
    searcher.start(0)
    searcher.choose(OF.start())  # compiled
    agent = make_bot(sandbox, tmp_path, DAEMONS.format(count=8), 5.0)
    try:
        agent.start(1)
        agent.choose(OF.start())
        wait_until_watched(agent)
        root = agent.bot.spawner.find_process(agent.bot.number)
        wait_until_stopped(root)
        before = usage.tree_time(usage.descendants(root))
        searcher.choose(OF.start())
        assert usage.tree_time(usage.descendants(root)) == before
    finally:
        agent.close()


def test_a_delay_is_no_more_than_the_time_that_its_bot_did_not_run(monkeypatch):
    now = [0, 0, 0]  # passed, delayed, ran
    watch = transports.DelayMeter(lambda: 1)
    monkeypatch.setattr(transports.usage, "longest_run_delay", lambda _: now[1])
    monkeypatch.setattr(transports.usage, "tree_time", lambda _: now[2])
    monkeypatch.setattr(transports.time, "monotonic_ns", lambda: now[0])
    watch.take_first_sample(0)
    second = transports.BILLION
    for passed, delayed, ran, expected in [
        (2, 1, 1, 1), (2, 2, 1, 1), (2, 2, 3, 0), (2, 0, 0, 0), (9, 8, 1, 8)
    ]:  # fmt: skip
        now[:] = [int(each * second) for each in (passed, delayed, ran)]
        assert watch.delay() == expected * second
    assert watch.later_deadline(2.0, 0) == 10 * second
    assert watch.later_deadline(1.0, 0) is None
    # What was seen at the last question tells of the time before a first look that comes late.
    now[:] = [20 * second, 13 * second, 3 * second]
    watch.take_first_sample(14 * second)
    assert watch.delay() == 4 * second  # of six seconds it ran two


@pytest.mark.parametrize(("per_core", "is_void"), [(1, True), (2, True), (10, False)])
def test_a_bot_that_keeps_the_cores_busy_unseen_is_late(monkeypatch, per_core, is_void):
    """The time of children for which no process waits is not counted anywhere."""
    count = per_core * (os.cpu_count() or 1)
    watch = transports.DelayMeter(lambda: 1)
    monkeypatch.setattr(watch, "delay", lambda: 99 * transports.BILLION)
    monkeypatch.setattr(transports.usage, "runnable_count", lambda _: count)
    since = time.monotonic_ns() - 16 * transports.BILLION
    if is_void:
        with pytest.raises(transports.VoidGame):
            watch.later_deadline(1.0, since)
    else:
        assert watch.later_deadline(1.0, since) is None


def test_threads_that_run_are_counted():
    child = os.fork()
    if child == 0:
        while True:
            pass
    try:
        assert usage.runnable_count([child]) == 1
        os.kill(child, signal.SIGSTOP)
        os.waitpid(child, os.WUNTRACED)
        assert usage.runnable_count([child]) == 0
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
