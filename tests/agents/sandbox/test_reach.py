"""What bots can reach outside of their own files and processes: nothing."""

import errno
import os
import socket
import subprocess
from pathlib import Path

import pytest

from agents.core import AgentFailure
from agents.sandbox import restrictions, syscalls, usage
from agents.sandbox.isolation import fork_child
from agents.sandbox.messages import Start
from agents.sandbox.restrictions import SCRATCH, UNUSED_ID
from tests.agents.sandbox.levels import OF, make_bot, sandbox

__all__ = ["sandbox"]
NO_NAMESPACES = 99

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
    own = tmp_path / "own"
    own.write_text("keep me")
    os.utime(own, (1, 1))
    # What is not ours gets the mode, times and owner that it has: a broken sandbox does no harm.
    attempts = f"""
own = {str(own)!r}
def attempt_all(path):
    is_own, now = path == own, os.stat(path)
    times = (5, 5) if is_own else (now.st_atime, now.st_mtime)
    mode = 0o666 if is_own else now.st_mode & 0o7777
    attempt("chmod:" + path, lambda: os.chmod(path, mode))
    attempt("utime:" + path, lambda: os.utime(path, times))
    attempt("chown:" + path, lambda: os.chown(path, now.st_uid, now.st_gid))
    if is_own:
        attempt("xattr:" + path, lambda: os.setxattr(path, "user.mine", b"x"))
        attempt("truncate:" + path, lambda: os.truncate(path, 0))
        attempt("trunc:" + path, lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))
    place = os.open(path, os.O_RDONLY)
    attempt("fchmod:" + path, lambda: os.fchmod(place, mode))
    attempt("futime:" + path, lambda: os.utime(place, times))
for path in (own, "/dev/null", "/dev/zero", "/usr", "/usr/bin/env", __file__):
    try:
        attempt_all(path)
    except OSError:
        pass
"""  # fmt: skip
    assert reached_by(sandbox, tmp_path, attempts) == set()
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
            (tmp_path / name).chmod(0o777)
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
    (path.parent / "own").write_text("x")  # a file may still be written anew
    return 0


def namespaces_only(work, readable=()) -> int:
    """The exit status of a process with a root of its own and nothing else."""
    confined = Start(0, (), readable=tuple(readable), measures=frozenset({"namespaces"}))
    null, code = os.open(os.devnull, os.O_RDWR), NO_NAMESPACES
    child = os.fork()  # which has one thread
    if child == 0:
        try:
            reads, writes = os.pipe()

            def load():
                os.read(reads, 1)  # until its user is mapped
                return confined, {0: null, 1: null, 2: 2}, work

            process = fork_child(load, own_root=True)
            restrictions.map_unused_user(process, confined.readable)
            os.write(writes, b"x")
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(null)
    if code == NO_NAMESPACES:
        pytest.skip("there are no namespaces here")
    return code


def refuses(work) -> bool:
    try:
        work()
    except OSError:
        return True
    return False


def test_the_settings_of_the_kernel_can_only_be_read():
    names = ("kernel/hostname", "kernel/core_pattern", "user/max_user_namespaces", "vm/swappiness")

    def work() -> int:
        return 0 if all(
            refuses(lambda name=name: os.open(f"/proc/sys/{name}", os.O_WRONLY)) for name in names
        ) else 1  # fmt: skip

    assert namespaces_only(work) == 0


@pytest.mark.parametrize("recursive", [True, False], ids=["mount_setattr", "an old kernel"])
def test_what_is_mounted_below_a_directory_can_only_be_read(tmp_path, recursive, monkeypatch):
    if os.getuid():
        pytest.skip("only root may mount")
    below = tmp_path / "with blank"
    below.mkdir()
    tmp_path.chmod(0o755)
    if not recursive:
        monkeypatch.setattr(syscalls, "system_call", without_mount_setattr(syscalls.system_call))
    try:
        syscalls.mount("tmpfs", str(below), "tmpfs", 0)
    except OSError as error:
        pytest.skip(f"nothing can be mounted: {error}")
    try:
        (below / "file").write_text("keep me")
        below.chmod(0o777)
        (below / "file").chmod(0o666)

        def work() -> int:
            own = str(below)
            attempts = [
                lambda: os.open(f"{own}/new", os.O_CREAT | os.O_WRONLY),
                lambda: os.open(f"{own}/file", os.O_WRONLY),
                lambda: (below / "file").chmod(0o600),
                lambda: os.utime(f"{own}/file"),
            ]
            assert (below / "file").read_text() == "keep me"
            return sum(not refuses(each) for each in attempts)

        assert namespaces_only(work, [str(tmp_path)]) == 0
    finally:
        subprocess.run(["umount", str(below)], check=True)


def without_mount_setattr(call):
    def old(name, *arguments):
        if name == "mount_setattr":
            raise OSError(errno.ENOSYS, name)
        return call(name, *arguments)

    return old


def test_a_bot_of_root_is_a_user_that_owns_nothing(sandbox, tmp_path):
    if os.getuid() or sandbox.level.name != "namespaces":
        pytest.skip("only root has other users to give, and only in namespaces")
    for mode, unused in ((0o644, True), (0o600, False)):
        agent = make_bot(sandbox, tmp_path / str(mode), "assert os.getuid() == 1000", mode=mode)
        agent.start(1)
        agent.choose(OF.start())
        process = usage.descendants(agent.bot.spawner.find_process(agent.bot.number))[-1]
        assert (Path(f"/proc/{process}").stat().st_uid >= UNUSED_ID) == unused
        agent.close()


def test_a_readable_directory_is_not_below_the_scratch_directory(tmp_path):
    """Landlock allows a bot to write below its scratch directory, whatever is mounted there."""
    assert not tmp_path.is_relative_to(SCRATCH)

    def work() -> int:
        os.chdir(SCRATCH)
        Path("own").mkdir()
        return 0 if [*tmp_path.iterdir()] == [] and str(Path.cwd()) == SCRATCH else 1

    tmp_path.chmod(0o755)
    assert namespaces_only(work, [str(tmp_path)]) == 0
