"""Control groups (cgroup v2): found where they are delegated, and used for bots."""

import os
import shutil
from pathlib import Path

import pytest

from agents.core import AgentFailure
from agents.sandbox import sandbox as owner
from agents.sandbox import syscalls, usage
from agents.sandbox.messages import BotLimits
from agents.sandbox.sandbox import Sandbox
from agents.sandbox.usage import ControlGroup, GroupParent
from tests.agents.sandbox.levels import MB, OF, make_bot
from tests.agents.sandbox.test_turns import BURN, wait_until_stopped, wait_until_watched
from tests.lent_spawners import own_spawners

LIMITS = BotLimits(memory=300 * MB, processes=8)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Directories in the place of control groups: our own, /user/run, and those above."""
    mount = tmp_path / "cgroup"
    (mount / "user" / "run").mkdir(parents=True)
    for each in (mount, mount / "user", mount / "user" / "run"):
        (each / "cgroup.subtree_control").write_text("")
        (each / "cgroup.procs").write_text("")
    mounts, own = tmp_path / "mountinfo", tmp_path / "own"
    mounts.write_text(f"30 23 0:26 / {mount} rw,nosuid - cgroup2 cgroup2 rw\n"
                      f"31 23 0:27 / {tmp_path} rw - tmpfs none rw\n")  # fmt: skip
    own.write_text("4:memory:/other\n0::/user/run\n")
    monkeypatch.setattr(usage, "MOUNTS", str(mounts))
    monkeypatch.setattr(usage, "OWN_GROUP", str(own))
    return mount


def refuse_writes(monkeypatch, *refused: Path) -> None:
    """Have these files refuse what is written, as those of groups that are not ours."""
    write = syscalls.write_text

    def attempt(path, text):
        if Path(path) in refused:
            raise OSError(16, f"{path} is busy")
        write(path, text)

    monkeypatch.setattr(syscalls, "write_text", attempt)


def test_a_group_gets_the_limits_of_its_bot(tree):
    parent = GroupParent()
    group = parent.make("1-1", LIMITS)
    own = tree / "user" / "run"
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert group.path.parent.parent == own
    limits = {each.name: each.read_text() for each in group.path.iterdir()}
    assert limits == {"memory.max": str(300 * MB), "memory.swap.max": "0",
                      "memory.oom.group": "1", "pids.max": "264"}  # fmt: skip
    group.freeze(True)
    group.kill()
    assert [(group.path / f"cgroup.{name}").read_text() for name in ("freeze", "kill")] == ["1"] * 2
    assert not group.ran_out_of_memory()
    (group.path / "memory.events").write_text("low 0\nmax 40\noom 1\noom_kill 3\n")
    assert group.ran_out_of_memory()
    os.close(group.descriptor)


def test_a_group_with_processes_is_passed_over_for_one_above(tree, monkeypatch):
    own = tree / "user" / "run"
    refuse_writes(monkeypatch, own / "cgroup.subtree_control")
    (tree / "user" / "cgroup.subtree_control").write_text("cpu memory pids")
    group = GroupParent().make("1-1", LIMITS)
    assert group.path.parent.parent == tree / "user"
    assert (tree / "user" / "cgroup.subtree_control").read_text() == "cpu memory pids"
    os.close(group.descriptor)


def test_the_processes_of_a_delegated_group_move_into_one_below(tree, monkeypatch):
    own, writes = tree / "user" / "run", []
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n")
    busy = {own / "cgroup.subtree_control"}
    write = syscalls.write_text

    def attempt(path, text):
        writes.append((Path(path).relative_to(tree), text))
        if Path(path) == own / "pitflip" / "cgroup.procs":
            busy.clear()
        if Path(path) in busy or not Path(path).is_relative_to(own):
            raise OSError(16, f"{path} is busy")
        write(path, text)

    monkeypatch.setattr(syscalls, "write_text", attempt)
    group = GroupParent().make("1-1", LIMITS)
    assert group.path.parent.parent == own
    assert (Path("user/run/pitflip/cgroup.procs"), str(os.getpid())) in writes
    os.close(group.descriptor)
    # Those of other people stay where they are.
    (own / "cgroup.procs").write_text(f"1\n{os.getpid()}\n999999\n")
    busy.add(own / "cgroup.subtree_control")
    with pytest.raises(OSError, match="no control group is delegated"):
        GroupParent().make("1-2", LIMITS)


def test_without_a_group_the_reason_is_known(tree, monkeypatch):
    (Path(usage.MOUNTS)).write_text("31 23 0:27 / /x rw - tmpfs none rw\n")
    with pytest.raises(OSError, match="cgroup v2 is not mounted"):
        GroupParent().make("1-1", LIMITS)


def test_groups_of_a_killed_spawner_are_removed(tree, monkeypatch):
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    left = tree / "user" / "run" / "pitflip-sandbox-999999999-groups"
    (left / "1-1").mkdir(parents=True)
    GroupParent().make("1-1", LIMITS).close()
    assert not left.exists()


# The kernel's own groups, without controllers: machines that run with cgroup v1 have no others.
REAL = "usage.CONTROLLERS = ()\nguard = "


@pytest.fixture(params=["namespaces", "landlock", "limits"])
def sandbox(request, monkeypatch):
    monkeypatch.setenv("PITFLIP_SANDBOX", request.param)
    program = owner.SPAWNER_PROGRAM.replace("guard = ", REAL)
    monkeypatch.setattr(owner, "SPAWNER_PROGRAM", program)
    with own_spawners():
        made = Sandbox()
        made.open()
    if "cgroup" not in made.level.measures:
        made.close()
        pytest.skip(f"cgroup: {made.level.problems.get('cgroup')}")
    yield made
    made.close()


DAEMON = """
if os.fork() == 0:
    try:
        os.setsid()
    except OSError:
        pass
    if os.fork() == 0:
        burn(30)
    os._exit(0)
"""


def test_bots_are_stopped_and_ended_by_their_groups(sandbox, tmp_path):
    agent = make_bot(sandbox, tmp_path, BURN + f"if not kept:\n    kept.append(1)\n"
                     f"    {DAEMON.strip().replace(chr(10), chr(10) + '    ')}", 5.0)  # fmt: skip
    agent.start(1)
    assert agent.choose(OF.start()).move == 0
    process = agent.bot.spawner.find_process(agent.bot.number)
    group = Path(f"/proc/{process}/cgroup").read_text().rpartition("0::")[2].strip()
    assert f"pitflip-sandbox-{sandbox.spawner_id}-groups" in group
    wait_until_watched(agent)
    wait_until_stopped(process)  # frozen, if no signal has stopped them
    tree = usage.descendants(process)
    assert agent.choose(OF.start()).move == 0
    agent.close()
    found = [each for each in usage.own_groups() if (each / group.lstrip("/")).exists()]
    assert not found
    assert not any(Path(f"/proc/{each}").exists() for each in tree)


def test_a_bot_in_a_group_has_the_limits_of_any_other(sandbox, tmp_path):
    forks = "while True:\n    if os.fork() == 0:\n        time.sleep(9)\n        os._exit(0)"
    agent = make_bot(sandbox, tmp_path, forks, processes=8)
    with pytest.raises(AgentFailure) as failed:
        agent.start(1)
        agent.choose(OF.start())
    assert failed.value.kind == "flooded"


def test_a_control_group_that_cannot_have_a_limit_is_removed(tmp_path, monkeypatch):
    refuse_writes(monkeypatch, tmp_path / "group" / "memory.max")
    with pytest.raises(OSError, match="busy"):
        ControlGroup(tmp_path / "group", LIMITS)
    assert not (tmp_path / "group").exists()
