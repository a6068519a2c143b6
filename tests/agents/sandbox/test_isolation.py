"""Levels of isolation on machines that refuse parts of them."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agents.sandbox import isolation, syscalls
from agents.sandbox.isolation import find_level

ROOT = Path(__file__).parents[3]
# What Docker's default profile answers: EPERM to namespaces, ENOSYS to clone3.
REFUSING = """
import errno, sys
from agents.sandbox import restrictions as r
def refuse(number, error):
    return [(r.EQUAL, 0, 1, number), (r.RETURN, 0, 0, r.REFUSE | error)]
r.install_filter([
    (r.LOAD, 0, 0, r.NUMBER),
    *refuse(r.CLONE3, errno.ENOSYS), *refuse(272, errno.EPERM), *refuse({more}, errno.EPERM),
    *r._unless(r.CLONE, 0, [(r.ANY_BIT, 1, 0, r.ANY_NAMESPACE)]),
    (r.RETURN, 0, 0, r.ALLOW),
])
from agents.sandbox.sandbox import Sandbox
sandbox = Sandbox()
print(sandbox.level.name, sorted(sandbox.level.problems))
sandbox.close()
"""
LANDLOCK_CREATE, NOTHING = 444, 1 << 20


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not syscalls.is_supported(), reason="needs seccomp")
@pytest.mark.parametrize(("more", "level"), [(NOTHING, "landlock"), (LANDLOCK_CREATE, "limits")])
def test_a_kernel_that_refuses_namespaces_leaves_the_next_level(more, level):
    said = run_python(REFUSING.format(more=more))
    assert said.split()[0] == level
    assert "namespaces" in said


def test_a_measure_whose_trial_never_ends_does_not_work(tmp_path, monkeypatch):
    monkeypatch.setattr(isolation, "TRIAL_SECONDS", 0.1)
    monkeypatch.setattr(isolation, "_attempt", lambda *_: threading.Event().wait() or 1)
    level = find_level(tmp_path)
    assert level.name == "none"
    late = [problem for problem in level.problems.values() if "did not end within 0.1 s" in problem]
    assert len(late) >= 3  # a test process with threads is not cloned


def test_a_process_with_threads_is_not_cloned(tmp_path):
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        with pytest.raises(OSError, match="threads"):
            syscalls.fork(1)
    finally:
        over.set()
        thread.join()
