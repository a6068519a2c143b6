"""What bots can reach outside of their own files and processes: nothing."""

import os
import socket
from pathlib import Path

import pytest

from agents.core import AgentFailure
from agents.sandbox import restrictions
from tests.agents.sandbox.levels import OF, make_bot, sandbox

__all__ = ["sandbox"]

REPORT = """
reached = []
def attempt(name, work):
    try:
        work()
        reached.append(name)
    except (OSError, AttributeError, ImportError):
        pass
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*arguments) == -1:
        raise OSError(ctypes.get_errno(), "call")
"""


def reached_by(sandbox, directory: Path, attempts: str) -> set[str]:
    """The names of the attempts of a bot that succeeded."""
    code = REPORT + attempts + "\nraise ValueError('reached:' + ' '.join(['', *reached, 'end']))"
    agent = make_bot(sandbox, directory, code)
    try:
        agent.start(1)
        with pytest.raises(AgentFailure) as failed:
            agent.choose(OF.start())
    finally:
        agent.close()
    assert "reached: " in failed.value.trace, failed.value
    return set(failed.value.trace.rpartition("reached: ")[2].rpartition("end")[0].split())


def needs_separation(sandbox) -> None:
    if sandbox.level.name == "limits":
        pytest.skip("the level limits holds none of this back")


def test_a_bot_cannot_change_modes_times_or_owners_outside(sandbox, tmp_path):
    needs_separation(sandbox)
    own, null = tmp_path / "own", os.stat("/dev/null")
    own.write_text("keep me")
    os.utime(own, (1, 1))
    attempts = f"""
for path in ({str(own)!r}, "/dev/null", "/dev/zero", "/usr", "/usr/bin/env", "mine.py", __file__):
    attempt("chmod:" + path, lambda: os.chmod(path, 0o666))
    attempt("utime:" + path, lambda: os.utime(path, (5, 5)))
    attempt("chown:" + path, lambda: os.chown(path, os.getuid(), os.getgid()))
    attempt("xattr:" + path, lambda: os.setxattr(path, "user.mine", b"x"))
    attempt("truncate:" + path, lambda: os.truncate(path, 0) if path != "/dev/null" else os.open("/no", 0))
    attempt("trunc:" + path, lambda: os.open(path, os.O_RDONLY | os.O_TRUNC) if path[1:4] != "dev" else os.open("/no", 0))
    try:
        place = os.open(path, os.O_RDONLY)
    except OSError:
        pass
    else:
        attempt("fchmod:" + path, lambda: os.fchmod(place, 0o666))
        attempt("futime:" + path, lambda: os.utime(place))
"""  # fmt: skip  # noqa: E501
    try:
        assert reached_by(sandbox, tmp_path, attempts) == set()
    finally:
        os.chmod("/dev/null", null.st_mode & 0o777) if os.getuid() == 0 else None
    after = os.stat("/dev/null")
    assert (after.st_mode, after.st_mtime) == (null.st_mode, null.st_mtime)
    assert own.read_text() == "keep me"
    assert own.stat().st_mtime == 1


def test_a_bot_cannot_talk_to_sockets_of_the_machine(sandbox, tmp_path):
    needs_separation(sandbox)
    with (
        socket.socket(socket.AF_UNIX) as stream,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
    ):
        for each, name in ((stream, "s"), (datagrams, "d")):
            each.bind(str(tmp_path / name))
            os.chmod(tmp_path / name, 0o777)
        stream.listen()
        attempts = f"""
import importlib
where = {str(tmp_path)!r}
attempt("stream", lambda: socket.socket(socket.AF_UNIX).connect(where + "/s"))
attempt("datagram", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", where + "/d"))
def pair():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"x", where + "/d")
attempt("pair", pair)
one, other = socket.socketpair()
one.sendall(b"works")
assert other.recv(9) == b"works"
"""  # noqa: E501
        assert reached_by(sandbox, tmp_path, attempts) == set()


def test_a_bot_cannot_slow_or_signal_processes_of_its_user(sandbox, tmp_path):
    needs_separation(sandbox)
    attempts = f"""
owner = {os.getpid()}
attempt("user", lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_PROCESS, 0)))
attempt("group", lambda: os.setpriority(os.PRIO_PGRP, 0, 0))
attempt("process", lambda: os.setpriority(os.PRIO_PROCESS, owner, 0))
attempt("signal", lambda: os.kill(owner, 0))
attempt("parent", lambda: os.kill(os.getppid() or owner, 0) if os.getppid() != 1 else os.kill(owner, 0))
attempt("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(owner), 0))
os.setpriority(os.PRIO_PROCESS, 0, 19)
os.kill(os.getpid(), 0)
"""  # noqa: E501
    assert reached_by(sandbox, tmp_path, attempts) == set()


OLD = ("namespaces", "limits")


@pytest.mark.parametrize("version", [1, 2, 4])
def test_filters_of_an_old_landlock_hold_back_what_it_does_not(version, tmp_path):
    """The kernel here has a newer one: its rights are left out, and the filter is all there is."""
    victim = os.fork()
    if victim == 0:
        signal_pause()
    path = tmp_path / "file"
    path.write_text("keep me")
    tests = os.fork()
    if tests == 0:
        code = 1
        try:
            restrictions.install_filter(restrictions.filter_program(False, False, version))
            code = attempts_after_an_old_landlock(victim, path, version)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(tests, 0)[1])
    assert os.waitpid(victim, os.WNOHANG) == (0, 0)
    os.kill(victim, 9)
    os.waitpid(victim, 0)
    assert code == 0
    assert path.read_text() == "keep me"


def signal_pause() -> None:
    import time  # noqa: PLC0415

    time.sleep(60)
    os._exit(0)


def attempts_after_an_old_landlock(victim: int, path: Path, version: int) -> int:
    import fcntl  # noqa: PLC0415
    import signal  # noqa: PLC0415

    work = [
        lambda: os.kill(victim, signal.SIGKILL),
        lambda: os.kill(0, signal.SIGCONT),
        lambda: os.killpg(os.getpgrp(), signal.SIGCONT),
        lambda: signal.pidfd_send_signal(os.pidfd_open(victim), signal.SIGKILL),
        lambda: fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, victim),
    ]
    if version < 3:
        work += [
            lambda: os.truncate(path, 0),
            lambda: os.open(path, os.O_RDONLY | os.O_TRUNC),
        ]
    for at, each in enumerate(work):
        try:
            each()
        except OSError:
            continue
        return 10 + at
    os.kill(os.getpid(), 0)
    with open(path.parent / "own", "w") as own:  # a file may still be written anew
        own.write("x")
    return 0
