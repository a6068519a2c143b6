"""Limits of memory, processes and files hold for all processes of a bot together."""

import pytest

from tests.agents.sandbox.levels import MB, failure_of, make_bot, sandbox

__all__ = ["sandbox"]
TAKE = """
def take(megabytes, shared=False):
    flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
    for _ in range(megabytes // 20):
        each = mmap.mmap(-1, 20 << 20, flags)
        for at in range(0, 20 << 20, 4096):
            each[at] = 1
        kept.append(each)
        time.sleep(.005)
"""
SHARED = TAKE + "take(1500, shared=True)\ntime.sleep(25)"
EIGHT = """
for _ in range(8):
    if os.fork() == 0:
        take(240)
        time.sleep(25)
time.sleep(25)
"""
DAEMON = """
def daemon(work):
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            pass
        if os.fork() == 0:
            work()
            time.sleep(60)
        os._exit(0)
    os.wait()
"""
DAEMONS = DAEMON + "for _ in range(50):\n    daemon(lambda: 0)\ntime.sleep(25)"
DAEMON_MEMORY = TAKE + DAEMON + "daemon(lambda: take(1500, shared=True))\ntime.sleep(25)"
FILES_TOO = """
with open('file', 'wb') as file:
    for _ in range(200):
        file.write(bytes(1 << 20))
take(200, shared=True)
time.sleep(25)
"""
UNNAMED = """
for name in range(9):
    kept.append(open('file', 'wb', buffering=0))
    os.unlink('file')
    for _ in range(100):
        kept[-1].write(bytes(1 << 20))
    time.sleep(.1)
time.sleep(25)
"""
DIRECTORIES = "for at in range(9999):\n    os.mkdir(str(at))\ntime.sleep(25)"
NESTED = """
for at in range(9999):
    os.mkdir('in')
    os.chdir('in')
time.sleep(25)
"""
HIDDEN = "os.mkdir('in')\nos.chdir('in')\nos.chmod('.', 0o300)\n" + DIRECTORIES
UNREADABLE = "prctl = ctypes.CDLL(None).prctl\nprctl(4, 0, 0, 0, 0)\n" + SHARED


@pytest.mark.parametrize(
    ("kind", "choose", "megabytes"),
    [
        pytest.param("memory", SHARED, 512, id="shared memory of one process"),
        pytest.param("memory", TAKE + EIGHT, 300, id="eight processes together"),
        pytest.param("memory", UNREADABLE, 512, id="a process that hides what it uses"),
        pytest.param("memory", TAKE + FILES_TOO, 300, id="memory and files together"),
        pytest.param("flooded", UNNAMED, 300, id="files without a name"),
        pytest.param("flooded", DIRECTORIES, 512, id="directories"),
        pytest.param("flooded", NESTED, 512, id="nested directories"),
        pytest.param("flooded", HIDDEN, 512, id="directories that nobody may list"),
    ],
)
def test_what_all_processes_use_together_has_a_limit(sandbox, tmp_path, kind, choose, megabytes):
    agent = make_bot(sandbox, tmp_path, choose, memory=megabytes * MB, processes=16)
    error = failure_of(agent)
    if kind == "flooded" and sandbox.level.name == "namespaces":  # the kernel refuses more files
        assert error.kind in ("raised", "memory")
    elif choose is HIDDEN and sandbox.level.name == "landlock":  # no mode can be changed
        assert error.kind == "raised"
    else:
        assert error.kind in (kind, "memory")


@pytest.mark.parametrize(
    ("kind", "choose"), [("flooded", DAEMONS), ("memory", DAEMON_MEMORY)], ids=["50", "memory"]
)
def test_daemons_are_processes_of_their_bot(sandbox, tmp_path, kind, choose):
    assert failure_of(make_bot(sandbox, tmp_path, choose, processes=4)).kind == kind
